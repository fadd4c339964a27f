/**
 * Read your writes: waits until the tables show what was written.
 *
 *   write -> resourceVersion 42 -> API server -> watch -> commit -> row of this uid at 42 or newer: seen
 *   delete of the uid u         -> …                             -> no row of u, or at the version of the answer: seen
 *
 * resourceVersions of one resource are compared as numbers where both are (KEP-5504). Otherwise only the same one counts.
 *
 * Bounds: the wait ends after `waitMs`; a kind that is not ingested is not waited for. All objects of a mutation share one look at the
 * store, and no lease is held between two looks.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { compareResourceVersions } from '../../catalog/resources/resource-version.ts';
import type { ChangeFeed } from '../../live/feed/change-feed.ts';
import type { Operation } from '../../operation/operation.ts';
import type { Identity } from '../../query/plan/filter.ts';
import { type StoredVersion, storedVersions } from '../../query/read/fetch.ts';
import { readiness } from '../../query/read/readiness.ts';
import type { Lease } from '../../store/types/lease.ts';

/** An object that was written. */
export interface Awaited {
  readonly identity: Identity;
  readonly uid: string | null;
  /** The version that the write made; null for a removal whose answer has none. */
  readonly resourceVersion: string | null;
  readonly isRemoval: boolean;
}

/** Milliseconds between two looks: commits are frequent, and many objects take long to look up. At most, because a wake may be missed. */
const lookMs = { least: 1, perObject: 0.05, most: 250 };

type Feed = Pick<ChangeFeed, 'wakes' | 'changed' | 'closed' | 'lease'>;

/**
 * For each object: do the tables show it? Never waits longer than `waitMs`.
 * @returns null for an object whose kind is not ingested in its cluster
 */
export async function seen(
  operation: Pick<Operation, 'at'>,
  objects: readonly Awaited[],
  waitMs: number,
  signal: AbortSignal | undefined,
): Promise<readonly (boolean | null)[]> {
  const shown = new Array<boolean | null>(objects.length).fill(null);
  const cells = Map.groupBy(objects.entries(), ([, { identity }]) => operation.at(identity.cluster));
  await Promise.all(
    [...cells].map(async ([{ source }, some]) => {
      const own = some.map(([, object]) => object);
      const found = await seenIn(source.feed, own, waitMs, signal);
      for (const [index, [at]] of some.entries()) shown[at] = found[index] ?? null;
    }),
  );
  return shown;
}

/** As `seen`, for objects of one cell. */
async function seenIn(
  feed: Feed,
  objects: readonly Awaited[],
  waitMs: number,
  signal: AbortSignal | undefined,
): Promise<readonly (boolean | null)[]> {
  const shown = new Array<boolean | null>(objects.length).fill(null);
  if (objects.length === 0) return shown;
  const deadline = AbortSignal.timeout(waitMs);
  const either = signal === undefined ? deadline : AbortSignal.any([signal, deadline]);
  let pending = await ingested(feed, objects);
  for (const at of pending) shown[at] = false;
  while (pending.length > 0) {
    const wakes = feed.wakes;
    const identities = pending.map((at) => (objects[at] as Awaited).identity);
    const versions = await feed.lease((lease) => storedVersions(lease, identities));
    for (const [index, at] of pending.entries()) {
      shown[at] = shows(versions[index] ?? null, objects[at] as Awaited);
    }
    pending = pending.filter((at) => !shown[at]);
    if (pending.length === 0 || either.aborted || feed.closed) break;
    await feed.changed(wakes, AbortSignal.any([either, AbortSignal.timeout(lookMs.most)]));
    await sleep(lookMs.least + pending.length * lookMs.perObject);
  }
  return shown;
}

/** Does the row show the write, or something newer? */
function shows(row: StoredVersion | null, { uid, resourceVersion, isRemoval }: Awaited): boolean {
  // Another object of the name came after it.
  if (row === null || (uid !== null && row.uid !== uid)) return isRemoval;
  if (resourceVersion === null) return false;
  const order = compareResourceVersions(row.resourceVersion, resourceVersion);
  return order !== null && order >= 0;
}

/** The indexes of the objects whose kind is ingested in their cluster. */
async function ingested(feed: Feed, objects: readonly Awaited[]): Promise<number[]> {
  const keys = [...new Set(objects.map(({ identity }) => identity.key))];
  const states = await feed.lease((lease: Lease) => readiness(lease, keys));
  return [...objects.keys()].filter((at) => {
    const { key, cluster } = (objects[at] as Awaited).identity;
    return states.some((state) => state.key === key && state.cluster === cluster && state.synced);
  });
}
