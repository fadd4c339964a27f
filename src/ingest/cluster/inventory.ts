/** What a cluster serves that can be ingested, and which of its parts could not be asked. */
import type { Resource } from '../../catalog/resources/resource.ts';
import { resourceKey } from '../../catalog/resources/resource.ts';
import { chooseResources } from '../../catalog/resources/served.ts';
import type { RestClient } from '../../kube/client/rest-client.ts';
import { discover } from '../../kube/discovery/discovery.ts';
import { ApiError } from '../../kube/http/api-error.ts';
import { collectionPath } from '../context/collections.ts';

export interface Inventory {
  /** One version of everything that can be listed. */
  readonly chosen: readonly Resource[];
  /** resourceKey of everything that is announced, chosen or not. */
  readonly announced: ReadonlySet<string>;
  /** Groups of which a version could not be read: nothing is known of what they have now. */
  readonly unknownGroups: ReadonlySet<string>;
  /** Sentences for the log. */
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
 * Is a collection that discovery does not announce really gone? Only the server's own 404 says so: a server behind an APIService
 * that is away answers 503, and discovery then shows its group as empty.
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

/** `apps` of `apps/v1`; the core group of `v1`. */
function groupOf(groupVersion: string): string {
  const slash = groupVersion.indexOf('/');
  return slash === -1 ? '' : groupVersion.slice(0, slash);
}
