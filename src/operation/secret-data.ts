/**
 * The data of Secrets, which is never stored: fetched from the API server as the caller, when a query selects it.
 *
 *   of(secret) -> known in this operation: the same answer    else one GET, at most 8 at a time and 100 in an operation
 *
 * Owns: the data, for one operation. Never: sends a request with the gateway's own rights, keeps data after the operation, or logs it.
 */

import { Semaphore } from '../base/concurrency/semaphore.ts';
import { PortolanError } from '../base/errors.ts';
import type { Resource } from '../catalog/resources/resource.ts';
import { servedUid } from '../catalog/resources/synthetic-identity.ts';
import { recordOf } from '../catalog/values/displayed-value.ts';
import type { ObjectRow } from '../query/plan/plan.ts';
import type { CallerClient } from '../upstream/caller-clients.ts';
import { readObject } from '../upstream/read-object.ts';
import type { Operation } from './operation.ts';

const mostAtOnce = 8;
const mostSecrets = 100;

type Data = Readonly<Record<string, unknown>>;
type Secret = Pick<ObjectRow, 'cluster' | 'namespace' | 'name' | 'uid'>;

/**
 * The object whose `data` is that of the Secret; null without one, and for a Secret that was deleted meanwhile.
 * @throws PortolanError FORBIDDEN if the caller may not get the Secret, QUERY_TOO_COSTLY for too many Secrets, BAD_USER_INPUT in a
 * subscription, UPSTREAM_UNAVAILABLE without an answer of the API server.
 */
export async function secretDataOf(
  operation: Operation,
  resource: Pick<Resource, 'group' | 'version' | 'plural' | 'namespaced'>,
  secret: Secret,
): Promise<Data | null> {
  if (operation.source.secretData === 'absent') return null;
  if (operation.isDetached || operation.isLive) {
    throw new PortolanError(
      'BAD_USER_INPUT',
      'A subscription or a live query does not have the data of Secrets: query secret(…) { data } when the Secret changes.',
    );
  }
  operation.noteMore();
  return operation.sharedByRepeats('data of Secrets', () => new SecretReads(operation, resource)).of(secret);
}

class SecretReads {
  readonly #operation: Operation;
  readonly #resource: Pick<Resource, 'group' | 'version' | 'plural' | 'namespaced'>;
  readonly #clients = new Map<string, Promise<CallerClient>>();
  readonly #reads = new Map<string, Promise<Data | null>>();
  readonly #places = new Semaphore(mostAtOnce);

  constructor(operation: Operation, resource: Pick<Resource, 'group' | 'version' | 'plural' | 'namespaced'>) {
    this.#operation = operation;
    this.#resource = resource;
  }

  async of(secret: Secret): Promise<Data | null> {
    const key = JSON.stringify([secret.cluster, secret.namespace, secret.name, secret.uid]);
    const known = this.#reads.get(key);
    if (known !== undefined) return known;
    if (this.#reads.size >= mostSecrets) {
      throw new PortolanError(
        'QUERY_TOO_COSTLY',
        `An operation fetches the data of at most ${mostSecrets} Secrets: select fewer of them with a filter or a smaller page, or leave out data.`,
      );
    }
    const read = this.#read(secret);
    this.#reads.set(key, read);
    return read;
  }

  async #read(secret: Secret): Promise<Data | null> {
    const { signal } = this.#operation;
    const leave = await this.#places.enter(signal);
    try {
      const found = recordOf(await readObject(await this.#client(secret.cluster), this.#resource, secret, signal));
      const uid = servedUid(secret.uid);
      // The operation shows the Secret with this uid. Another may have its name by now.
      const isSame = uid === null || recordOf(found?.['metadata'])?.['uid'] === uid;
      return found === null || !isSame ? null : { data: found['data'] };
    } finally {
      leave();
    }
  }

  #client(cluster: string): Promise<CallerClient> {
    const known = this.#clients.get(cluster);
    if (known !== undefined) return known;
    const made = this.#operation.upstreamClient(cluster);
    this.#clients.set(cluster, made);
    return made;
  }
}
