/**
 * Unpublished rowsets: created, filled with objects, and published in one step. Both kinds of replace use them (first-sync.ts,
 * relist.ts).
 *
 *   newRowset: listed in `stale_rowset` -> fill, fillAll, removeFilled -> publish: current, and the previous rowset is stale
 *
 * The caller counts the objects of its rowset in a RowsetCounts. A rowset that is never published stays stale: housekeeping removes its rows.
 */
import { PortolanError } from '../../base/errors.ts';
import type { DeferredEntries } from '../rows/deferred-entries.ts';
import { forget, type RowsetCounts } from '../rows/object-counts.ts';
import type { RowTarget, StorableObject } from '../rows/row-writer.ts';
import type { StoredResource } from '../rows/stored-resource.ts';
import type { WriteContext } from '../rows/write-context.ts';
import type { ResourceHandle } from '../types/progress.ts';

/** The error for a use of a replace that has ended. */
export function replaceIsOver(handle: ResourceHandle): PortolanError {
  return new PortolanError(
    'CONFLICT',
    `This replace of ${handle.key} of ${handle.cluster} is over; begin another one.`,
  );
}

/** The data that a first sync keeps in memory until its rowset is published. */
interface Filled {
  readonly deferred: DeferredEntries;
  readonly counts: RowsetCounts;
}

/** Writes one object of an unpublished rowset. */
export function fill(context: WriteContext, target: RowTarget, received: StorableObject, counts: RowsetCounts): void {
  const { session, rows } = context;
  const stored = rows.find(target.rowset, received.namespace, received.name);
  if (stored === null) rows.insert(target, { id: session.nextObjectId(), received }, session.counters.revision);
  else rows.update(target, stored, received, session.counters.revision);
  if (stored !== null) counts.add({ namespace: received.namespace, health: stored.health }, -1);
  count(counts, received);
}

function count(counts: RowsetCounts, { namespace, health }: StorableObject): void {
  counts.add({ namespace, health: health.status });
}

/** The same for several objects, by fewer statements. Returns the number of new objects. */
export function fillAll(
  context: WriteContext,
  target: RowTarget,
  received: readonly StorableObject[],
  { deferred, counts }: Filled,
): number {
  const { session, rows } = context;
  const fresh = received.map((object) => ({ id: session.nextObjectId(), received: object }));
  const present = rows.insertNew(target, fresh, session.counters.revision, deferred);
  for (const object of present) {
    // Deferred entries belong to an object id, so the object gets a new one.
    removeFilled(context, target, object, { deferred, counts });
    rows.insert(target, { id: session.nextObjectId(), received: object }, session.counters.revision);
  }
  rows.insertEntries(target, deferred.due(received.length));
  for (const object of received) count(counts, object);
  return received.length - present.length;
}

/** Removes an object of an unpublished rowset; false if it is not there. */
export function removeFilled(
  { rows }: WriteContext,
  target: RowTarget,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  { deferred, counts }: Filled,
): boolean {
  const stored = rows.find(target.rowset, namespace, name);
  if (stored === null) return false;
  deferred.forget(stored.id);
  rows.remove(target, stored);
  counts.add({ namespace, health: stored.health }, -1);
  return true;
}

/** Creates an unpublished rowset. Inside a transaction. */
export function newRowset(context: WriteContext, resource: StoredResource): number {
  const rowset = context.session.nextRowset();
  context.session.database
    .statement('INSERT INTO stale_rowset (rowset, kind) VALUES (?, ?)')
    .run(rowset, resource.kind.id);
  return rowset;
}

interface Publication {
  readonly rowset: number;
  readonly resourceVersion: string;
  readonly objects: number;
  readonly counts: RowsetCounts;
  /** The shape under which the bodies were stored. */
  readonly shape: string;
}

/** Publishes a filled rowset in place of the previous one; the log gets one RESET. In a transaction of its own. */
export function publish(context: WriteContext, resource: StoredResource, publication: Publication): void {
  const { session, log } = context;
  const published = session.run(() => {
    const after = publishRows(context, resource, publication);
    const { cluster, namespace: collection } = resource.handle;
    const { resourceVersion } = publication;
    log.reset(resource.kind.id, { cluster, collection, reason: 'published', resourceVersion });
    return after;
  });
  Object.assign(resource, published);
}

/** The same inside a transaction, and without an entry in the log. Returns what `resource` has after the commit. */
export function publishRows(
  { session: { database }, relations }: WriteContext,
  resource: StoredResource,
  { rowset, resourceVersion, objects, counts, shape }: Publication,
): Partial<StoredResource> {
  const old = resource.rowset;
  database.statement('DELETE FROM stale_rowset WHERE rowset = ?').run(rowset);
  if (old !== null) {
    database.statement('INSERT INTO stale_rowset (rowset, kind) VALUES (?, ?)').run(old, resource.kind.id);
    forget(database, old);
  }
  counts.write(database, rowset);
  relations.rolledUp.forgetAll();
  database
    .statement('UPDATE resource SET rowset = ?, last_rv = ?, synced = 1, objects = ?, body_shape = ? WHERE id = ?')
    .run(rowset, resourceVersion, objects, shape, resource.handle.id);
  return { rowset, lastResourceVersion: resourceVersion, synced: true, objects, bodyShape: shape };
}
