/** Which cluster is behind an address, told by something that lives as long as the cluster's own storage. */

import type { RestClient } from '../client/rest-client.ts';
import { ApiError } from '../http/api-error.ts';
import { record, text } from '../http/json.ts';

/**
 * The uid of the namespace `kube-system`, or of `default` where that cannot be read; null where neither can.
 * Other failures than 403 and 404 are thrown: not knowing now is not the same as being another cluster.
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
