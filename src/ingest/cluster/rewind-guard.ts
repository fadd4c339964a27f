/**
 * Detects that a cluster's storage went back in time: it was restored from a backup, or an older copy responds.
 *
 *   list one object of a small collection -> some collections have higher known versions: a hint
 *     -> list one object of each of these, at most three -> the version of one is below its known version: the storage went back
 *
 * Versions are comparable only within one collection, so the hint alone proves nothing: Events often have a separate storage. A
 * collection whose own list does not confirm the hint is excluded from later checks. Groups with a dot outside k8s.io are excluded
 * too: an aggregated server may use version numbers without an order. The known versions are read before the request. So a version
 * that increases during the request causes no alarm. Normally a check costs one request.
 */

import type { Logger } from '../../base/log.ts';
import { resourceKey } from '../../catalog/resources/resource.ts';
import { compareResourceVersions } from '../../catalog/resources/resource-version.ts';
import type { RestClient } from '../../kube/client/rest-client.ts';
import { ApiError } from '../../kube/http/api-error.ts';
import { collectionPath } from '../context/collections.ts';
import type { KnownVersion } from '../reflector/reflector-set.ts';

const smallest = ['namespaces', 'nodes', 'serviceaccounts'];
/** Milliseconds until the answer. */
const patienceMs = 10_000;
/** Maximum collections that are listed to confirm a hint, in one check. */
const maxConfirmations = 3;

export class RewindGuard {
  readonly #client: Pick<RestClient, 'get'>;
  readonly #log: Logger;
  /** resourceKeys of collections whose versions are higher because they have a separate storage. */
  readonly #separateStorage = new Set<string>();

  constructor(client: Pick<RestClient, 'get'>, log: Logger) {
    this.#client = client;
    this.#log = log;
  }

  /**
   * True if the storage is older than the known versions. False if versions are missing, refused or not comparable. Rejects in an
   * outage.
   */
  async wentBack(all: readonly KnownVersion[], stop: AbortSignal): Promise<boolean> {
    const known = all
      .filter(({ resource }) => isBuiltIn(resource.group) && !this.#separateStorage.has(resourceKey(resource)))
      .filter(({ resourceVersion }) => compareResourceVersions(resourceVersion, '1') !== null)
      .sort((a, b) => compareResourceVersions(b.resourceVersion, a.resourceVersion) ?? 0);
    const small = known.find(({ resource }) => smallest.includes(resourceKey(resource))) ?? known[0];
    if (small === undefined) return false;
    const now = await this.#version(small, stop);
    if (now === null) return false;
    for (const each of known
      .filter(({ resourceVersion }) => isBelow(now, resourceVersion))
      .slice(0, maxConfirmations)) {
      // The group of this collection may be served by a server of its own, which is ill.
      const again = each === small ? now : await this.#version(each, stop).catch(() => null);
      stop.throwIfAborted();
      if (again === null) continue;
      if (isBelow(again, each.resourceVersion)) {
        this.#log.warn(
          { resource: resourceKey(each.resource), known: each.resourceVersion, now: again },
          'the API server went back in time; everything is listed anew',
        );
        return true;
      }
      this.#separateStorage.add(resourceKey(each.resource));
    }
    return false;
  }

  /** The collection's current version; null if the server refuses the list or sends no version. */
  async #version({ resource, ...place }: KnownVersion, signal: AbortSignal): Promise<string | null> {
    try {
      const list = await this.#client.get<{ metadata?: { resourceVersion?: unknown } } | null>(
        collectionPath(resource, place),
        {
          query: { limit: 1 },
          signal,
          headersTimeoutMs: patienceMs,
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

/** Groups of Kubernetes: without a dot, or under k8s.io. Some add-ons use k8s.io too. */
function isBuiltIn(group: string): boolean {
  return !group.includes('.') || group.endsWith('.k8s.io');
}

function isBelow(version: string, known: string): boolean {
  return (compareResourceVersions(version, known) ?? 0) < 0;
}
