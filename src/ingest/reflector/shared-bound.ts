/** A bound on the objects of a resource that its collections share (Events). */
import { messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { ResourceHandle } from '../../store/types/progress.ts';
import type { Writer } from '../../store/types/writer.ts';

/** Removes the oldest objects above the bound; no collection is cut below its share of the bound. Never throws. */
export function retainShared(
  { log, writer }: { readonly log: Logger; readonly writer: Writer },
  collections: readonly { readonly handle: ResourceHandle; readonly objects: number }[],
  bound: { readonly maxObjects: number; readonly maxAgeMs: number },
): void {
  const shares = fairShares(
    collections.map(({ objects }) => objects),
    bound.maxObjects,
  );
  for (const [index, { handle }] of collections.entries()) {
    try {
      const removed = writer.retain(handle, { ...bound, maxObjects: shares[index] ?? 0 });
      if (removed > 0) log.debug({ resource: handle.key, removed }, 'old objects were removed');
    } catch (error) {
      log.warn({ resource: handle.key, error: messageOf(error) }, 'old objects were not removed');
    }
  }
}

/**
 * The share of each collection in `total`. A collection below an even share keeps all; the others share the remainder
 * evenly.
 */
export function fairShares(counts: readonly number[], total: number): readonly number[] {
  const shares = counts.map(() => 0);
  let left = total;
  const ascending = counts.map((count, index) => ({ count, index })).sort((a, b) => a.count - b.count);
  for (const [place, { count, index }] of ascending.entries()) {
    const share = Math.min(count, Math.floor(left / (ascending.length - place)));
    shares[index] = share;
    left -= share;
  }
  return shares;
}
