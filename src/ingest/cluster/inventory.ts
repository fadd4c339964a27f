/** Discovery of the resources that can be ingested from a cluster, and of the group versions that could not be read. */
import { groupOf } from '../../catalog/groups/api-group.ts';
import { type Resource, resourceKey } from '../../catalog/resources/resource.ts';
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
  /** The group versions that could not be read, and why. */
  readonly unread: readonly { readonly groupVersion: string; readonly message: string }[];
}

export async function takeInventory(client: RestClient, signal?: AbortSignal): Promise<Inventory> {
  const { resources, failures } = await discover(client, signal);
  const { chosen } = chooseResources(resources);
  return {
    chosen,
    announced: new Set(resources.map(resourceKey)),
    unknownGroups: new Set(failures.map(({ groupVersion }) => groupOf(groupVersion))),
    unread: failures,
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
    await client.text(collectionPath(resource, { namespace }), { query: { limit: 1 }, signal, ...patience });
    return false;
  } catch (error) {
    // Without an answer nothing is known either, and other kinds must not wait for this one.
    if (error instanceof ApiError) return error.httpStatus === 404;
    throw error;
  }
}

/** Milliseconds of silence after which nothing is known of a collection. */
const patience = { headersTimeoutMs: 5000, bodyTimeoutMs: 5000 };
