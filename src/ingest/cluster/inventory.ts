/** Discovery of the resources that can be ingested from a cluster, and of the group versions that could not be read. */
import type { Resource } from '../../catalog/resources/resource.ts';
import { resourceKey } from '../../catalog/resources/resource.ts';
import { chooseResources } from '../../catalog/resources/served.ts';
import type { RestClient } from '../../kube/client/rest-client.ts';
import { discover } from '../../kube/discovery/discovery.ts';
import { ApiError } from '../../kube/http/api-error.ts';
import { collectionPath } from '../context/collections.ts';

export interface Inventory {
  /** One version of each resource that can be listed. */
  readonly chosen: readonly Resource[];
  /** resourceKeys of all resources that discovery announces, chosen or not. */
  readonly announced: ReadonlySet<string>;
  /** Groups with a version that could not be read. Their current resources are unknown. */
  readonly unknownGroups: ReadonlySet<string>;
  /** Messages for the log. */
  readonly problems: readonly string[];
}

export async function takeInventory(client: RestClient, signal?: AbortSignal): Promise<Inventory> {
  const { resources, failures } = await discover(client, signal);
  const { chosen } = chooseResources(resources);
  return {
    chosen,
    announced: new Set(resources.map(resourceKey)),
    unknownGroups: new Set(failures.map(({ groupVersion }) => groupOf(groupVersion))),
    problems: failures.map(({ groupVersion, message }) => `${groupVersion}: ${message}`),
  };
}

/**
 * Checks whether a collection that discovery does not announce is really gone: true only if the server responds with 404. If the
 * server of an APIService is down, the response is 503, and discovery shows its group as empty.
 */
export async function isGone(
  client: RestClient,
  resource: Resource,
  namespace: string,
  signal?: AbortSignal,
): Promise<boolean> {
  try {
    await client.text(collectionPath(resource, { namespace }), { query: { limit: 1 }, signal });
    return false;
  } catch (error) {
    if (error instanceof ApiError && error.httpStatus === 404) return true;
    if (error instanceof ApiError && error.httpStatus !== 0) return false;
    throw error;
  }
}

/** `apps` for `apps/v1`; the empty string (the core group) for `v1`. */
function groupOf(groupVersion: string): string {
  const slash = groupVersion.indexOf('/');
  return slash === -1 ? '' : groupVersion.slice(0, slash);
}
