/**
 * The JSON Schemas of kinds, from the OpenAPI of their API servers as the caller, when a query selects them.
 *
 *   of(cluster, resource) -> the client of the caller, once for each cluster -> the schema (src/upstream/kind-schemas.ts)
 *
 * Owns: the bounds of one operation. Never: sends a request with the gateway's own rights.
 */
import { Semaphore } from '../base/concurrency/semaphore.ts';
import { PortolanError } from '../base/errors.ts';
import { isAbstract } from '../catalog/groups/api-group.ts';
import type { Resource } from '../catalog/resources/resource.ts';
import { KindSchemas } from '../upstream/kind-schemas.ts';
import type { Operation } from './operation.ts';

const mostAtOnce = 4;
const mostSchemas = 150;

/**
 * The JSON Schema of the manifests of a kind; null for an abstract kind.
 * @throws PortolanError FORBIDDEN if the caller may not read the OpenAPI of the cluster, QUERY_TOO_COSTLY for too many schemas,
 * BAD_USER_INPUT in a subscription, NOT_FOUND or UPSTREAM_UNAVAILABLE without a schema.
 */
export async function manifestSchemaOf(
  operation: Operation,
  cluster: string,
  resource: Resource,
): Promise<Readonly<Record<string, unknown>> | null> {
  if (isAbstract({ resource })) return null;
  if (operation.isDetached || operation.isLive) {
    throw new PortolanError(
      'BAD_USER_INPUT',
      'A subscription or a live query does not have jsonSchema: query resources(kinds: …) { jsonSchema }.',
    );
  }
  return operation.sharedByRepeats('JSON Schemas', () => new ManifestSchemas(operation)).of(cluster, resource);
}

class ManifestSchemas {
  readonly #operation: Operation;
  readonly #clusters = new Map<string, Promise<KindSchemas>>();
  readonly #places = new Semaphore(mostAtOnce);
  #asked = 0;

  constructor(operation: Operation) {
    this.#operation = operation;
  }

  async of(cluster: string, resource: Resource): Promise<Readonly<Record<string, unknown>>> {
    this.#asked += 1;
    if (this.#asked > mostSchemas) {
      throw new PortolanError(
        'QUERY_TOO_COSTLY',
        `An operation has the jsonSchema of at most ${mostSchemas} resources: select fewer with resources(kinds: …).`,
      );
    }
    const leave = await this.#places.enter(this.#operation.signal);
    try {
      return await (await this.#cluster(cluster)).of(resource);
    } finally {
      leave();
    }
  }

  #cluster(cluster: string): Promise<KindSchemas> {
    let found = this.#clusters.get(cluster);
    if (found === undefined) {
      const { source, signal } = this.#operation;
      found = this.#operation
        .openApiClient(cluster)
        .then((client) => new KindSchemas(client, source.openApi.documents, signal));
      this.#clusters.set(cluster, found);
    }
    return found;
  }
}
