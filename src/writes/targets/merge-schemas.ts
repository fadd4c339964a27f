/**
 * How clusters merge the lists of kinds: by the schemas that they serve, asked as the caller.
 *
 * Owns: the schemas of one mutation, one for each kind of a cluster.
 */
import { PortolanError } from '../../base/errors.ts';
import { recordOr } from '../../base/json.ts';
import { type Resource, resourceKey } from '../../catalog/resources/resource.ts';
import type { CallerClient } from '../../upstream/caller-clients.ts';
import { KindSchemas } from '../../upstream/kind-schemas.ts';
import type { OpenApiDocuments } from '../../upstream/openapi-documents.ts';
import type { MergeSchema } from '../merge/merge-schema.ts';

type SchemaResource = Pick<Resource, 'group' | 'version' | 'plural' | 'kind'>;

export class MergeSchemas {
  readonly #client: (cluster: string) => Promise<CallerClient>;
  readonly #documents: OpenApiDocuments;
  readonly #signal: AbortSignal | undefined;
  readonly #schemas = new Map<string, Promise<MergeSchema | null>>();

  constructor(
    client: (cluster: string) => Promise<CallerClient>,
    documents: OpenApiDocuments,
    signal: AbortSignal | undefined,
  ) {
    this.#client = client;
    this.#documents = documents;
    this.#signal = signal;
  }

  /** Null if the cluster does not say, or not to the caller: then each list is one value. */
  ofResource(cluster: string, resource: SchemaResource): Promise<MergeSchema | null> {
    const key = `${cluster} ${resource.version} ${resourceKey(resource)}`;
    const read = this.#schemas.get(key) ?? this.#read(cluster, resource);
    this.#schemas.set(key, read);
    return read;
  }

  async #read(cluster: string, resource: SchemaResource): Promise<MergeSchema | null> {
    try {
      const kinds = new KindSchemas(await this.#client(cluster), this.#documents, this.#signal);
      const schema = await kinds.of(resource);
      return { schema, definitions: recordOr(schema['$defs']) };
    } catch (error) {
      if (error instanceof PortolanError && this.#signal?.aborted !== true) return null;
      throw error;
    }
  }
}
