/** Removes the oldest objects of a collection, with a change for each: to bound Events, or to free space. */
import { must } from '../../base/must.ts';
import { newTally } from '../rows/event-applier.ts';
import type { StoredResource } from '../rows/stored-resource.ts';
import { WriteBudget } from '../rows/write-budget.ts';
import type { WriteContext } from '../rows/write-context.ts';

interface RetentionBound {
  readonly maxObjects: number;
  /** Microseconds since 1970. Objects created earlier are removed. */
  readonly oldest: bigint;
}

/** Removes the oldest objects until both bounds hold, in several transactions. Age is by creation time. Returns their number. */
export function retain(
  context: WriteContext,
  resource: StoredResource,
  { maxObjects, maxAgeMs }: { readonly maxObjects: number; readonly maxAgeMs: number },
): number {
  if (resource.rowset === null || !resource.synced) return 0;
  const oldest = BigInt(Math.floor(context.clock.now() - maxAgeMs)) * 1000n;
  let removed = 0;
  for (;;) {
    const done = retainSome(context, resource, { maxObjects, oldest });
    removed += done;
    if (done === 0) return removed;
  }
}

/** Removes the oldest objects that exceed the bound, in one transaction. Objects without a creation time are removed first. */
export function retainSome(context: WriteContext, resource: StoredResource, bound: RetentionBound): number {
  const { applier, bounds, clock, resources, rows: writer, session } = context;
  const { database } = session;
  const rowset = must(resource.rowset, 'the rowset of a synced resource');
  const rows = database
    .statement(
      `SELECT namespace, name, created FROM object WHERE kind = ? AND cluster = ? AND rowset = ?
       ORDER BY created, namespace, name LIMIT 200`,
    )
    .all(resource.kind.id, resource.handle.cluster, rowset)
    .filter(
      ([, , created], index) =>
        resource.objects - index > bound.maxObjects || BigInt(Number(created ?? 0)) < bound.oldest,
    );
  if (rows.length === 0) return 0;
  const tally = newTally();
  const budget = new WriteBudget(clock, bounds);
  session.run(() => {
    const target = resources.target(resource, rowset);
    for (const row of rows) {
      const [namespace, name] = [String(row[0]), String(row[1])];
      const stored = must(writer.find(rowset, namespace, name), 'a stored object');
      applier.delete(target, stored, { namespace, name, resourceVersion: stored.resourceVersion }, tally);
      if (budget.spend(0)) break;
    }
    database.statement('UPDATE resource SET objects = objects - ? WHERE id = ?').run(tally.deleted, resource.handle.id);
  });
  resource.objects -= tally.deleted;
  return tally.deleted;
}
