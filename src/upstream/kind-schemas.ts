/** The JSON Schemas of the kinds of one cluster for one caller: from OpenAPI v3, or else from v2 and CustomResourceDefinitions. */
import { codeOf } from '../base/errors.ts';
import { runSliced } from '../base/steps.ts';
import { mayBeCustom } from '../catalog/groups/api-group.ts';
import { type ManifestSource, manifestSchema } from '../catalog/json-schema/manifest-schema.ts';
import { apiVersionOf, type Resource, resourceKey } from '../catalog/resources/resource.ts';
import { type OpenApiIndex, openApiIndex } from '../kube/discovery/openapi.ts';
import type { CallerClient } from './caller-clients.ts';
import type { OpenApiDefinitions, OpenApiDocuments } from './openapi-documents.ts';
import { readObject } from './read-object.ts';

const definitionsOfKinds = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  namespaced: false,
} as const;

type KindResource = Pick<Resource, 'group' | 'version' | 'plural' | 'kind'>;

const none: OpenApiDefinitions = { form: 'v3', definitions: new Map() };

export class KindSchemas {
  readonly #client: CallerClient;
  readonly #documents: OpenApiDocuments;
  readonly #signal: AbortSignal | undefined;
  #index: Promise<OpenApiIndex> | null = null;

  constructor(client: CallerClient, documents: OpenApiDocuments, signal: AbortSignal | undefined) {
    this.#client = client;
    this.#documents = documents;
    this.#signal = signal;
  }

  /**
   * The schema (src/catalog/json-schema/manifest-schema.ts).
   * @throws PortolanError FORBIDDEN or UNAUTHENTICATED if the caller may not read the OpenAPI, NOT_FOUND or UPSTREAM_UNAVAILABLE without
   * a schema.
   */
  async of(resource: KindResource): Promise<Readonly<Record<string, unknown>>> {
    this.#index ??= openApiIndex(this.#client, this.#signal);
    const index = await this.#index;
    const { form, definitions } =
      (await this.#documents.of(this.#client, index, apiVersionOf(resource), this.#signal)) ?? none;
    const isLacking = form === 'v2' && mayBeCustom(resource.group);
    const crd = isLacking ? await this.#definition(resource) : null;
    const source: ManifestSource = { resource, form, definitions, ...(crd === null ? {} : { crd }) };
    return runSliced(manifestSchema(source), this.#signal === undefined ? {} : { signal: this.#signal });
  }

  /** The kind's CustomResourceDefinition; null if it has none, or if the caller may not get it. */
  async #definition(resource: KindResource): Promise<unknown> {
    try {
      const name = { namespace: null, name: resourceKey(resource) };
      return await readObject(this.#client, definitionsOfKinds, name, this.#signal);
    } catch (error) {
      if (codeOf(error) === 'FORBIDDEN') return null;
      throw error;
    }
  }
}
