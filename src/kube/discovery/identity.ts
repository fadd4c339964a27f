/** Identifies the cluster at an address by a uid that lasts as long as the cluster's storage, and reads its version. */

import { record, text } from '../../base/json.ts';
import type { RestClient } from '../client/rest-client.ts';
import { ApiError } from '../http/api-error.ts';

/**
 * The uid of the namespace `kube-system`, or else of `default`; null when both requests fail with 403 or 404. Other failures are
 * thrown, because they do not mean that the cluster is another one.
 */
export async function clusterUid(client: RestClient, signal?: AbortSignal): Promise<string | null> {
  for (const namespace of ['kube-system', 'default']) {
    try {
      const object = await client.get(`/api/v1/namespaces/${namespace}`, { signal });
      const uid = text(record(record(object)?.['metadata'])?.['uid']);
      if (uid !== undefined) return uid;
    } catch (error) {
      if (!(error instanceof ApiError) || (error.httpStatus !== 403 && error.httpStatus !== 404)) throw error;
    }
  }
  return null;
}

/** The version of the API server (`gitVersion`), such as v1.37.0; null if it cannot be read. Rejects only on a stop. */
export async function serverVersion(client: RestClient, signal?: AbortSignal): Promise<string | null> {
  try {
    return text(record(await client.get('/version', { signal }))?.['gitVersion']) ?? null;
  } catch (error) {
    if (signal?.aborted === true) throw error;
    return null;
  }
}
