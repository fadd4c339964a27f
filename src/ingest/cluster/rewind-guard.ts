/**
 * Notices that a cluster's storage went back in time (restored from a backup, or an older copy answers).
 *
 *   a consistent list of one object of a small collection -> its version below the highest known: a hint
 *     -> the same of the collection that is known highest: still below -> the storage went back
 *
 * Versions are comparable within one collection only, so the hint alone proves nothing: Events often have a storage of their own. What
 * the second look does not confirm is left out from then on. Only collections of the API server itself are looked at (no group of its
 * own servers or definitions): theirs may be numbers that mean nothing. What is known is read before the question is put, so a version
 * that moves meanwhile is no alarm. Costs one request where all is well.
 */

import type { Logger } from '../../base/log.ts';
import { resourceKey } from '../../catalog/resources/resource.ts';
import { compareResourceVersions } from '../../catalog/resources/resource-version.ts';
import type { RestClient } from '../../kube/client/rest-client.ts';
import { ApiError } from '../../kube/http/api-error.ts';
import { collectionPath } from '../context/collections.ts';
import type { KnownVersion } from '../reflector/reflector-set.ts';

const smallest = ['namespaces', 'nodes', 'serviceaccounts'];
/** Collections that are looked at a second time in one check. */
const looks = 3;

export class RewindGuard {
  readonly #client: Pick<RestClient, 'get'>;
  readonly #log: Logger;
  /** resourceKeys of collections that are ahead of the others because their storage is another. */
  readonly #apart = new Set<string>();

  constructor(client: Pick<RestClient, 'get'>, log: Logger) {
    this.#client = client;
    this.#log = log;
  }

  /** True when the storage is behind what is known. Not being able to tell is no alarm; outages reject. */
  async wentBack(all: readonly KnownVersion[], stop: AbortSignal): Promise<boolean> {
    const known = all
      .filter(({ resource }) => isBuiltIn(resource.group) && !this.#apart.has(resourceKey(resource)))
      .filter(({ resourceVersion }) => compareResourceVersions(resourceVersion, '1') !== null)
      .sort((a, b) => compareResourceVersions(b.resourceVersion, a.resourceVersion) ?? 0);
    const small = known.find(({ resource }) => smallest.includes(resourceKey(resource))) ?? known[0];
    if (small === undefined) return false;
    const now = await this.#version(small, stop);
    if (now === null) return false;
    for (const each of known.filter(({ resourceVersion }) => isBelow(now, resourceVersion)).slice(0, looks)) {
      const again = each === small ? now : await this.#version(each, stop);
      if (again === null) continue;
      if (isBelow(again, each.resourceVersion)) {
        this.#log.warn(
          { resource: resourceKey(each.resource), known: each.resourceVersion, now: again },
          'the API server went back in time; everything is listed anew',
        );
        return true;
      }
      this.#apart.add(resourceKey(each.resource));
    }
    return false;
  }

  /** The collection's version now; null where it is refused or has none. */
  async #version({ resource, ...place }: KnownVersion, signal: AbortSignal): Promise<string | null> {
    try {
      const list = await this.#client.get<{ metadata?: { resourceVersion?: unknown } } | null>(
        collectionPath(resource, place),
        {
          query: { limit: 1 },
          signal,
        },
      );
      const version = list?.metadata?.resourceVersion;
      return typeof version === 'string' ? version : null;
    } catch (error) {
      if (error instanceof ApiError && error.httpStatus >= 400 && error.httpStatus < 500) return null;
      throw error;
    }
  }
}

/** Groups of Kubernetes itself: without a dot, or under k8s.io. */
function isBuiltIn(group: string): boolean {
  return !group.includes('.') || group.endsWith('.k8s.io');
}

function isBelow(version: string, known: string): boolean {
  return (compareResourceVersions(version, known) ?? 0) < 0;
}
