/** The rows of kinds, collections and descriptions, read into memory. */
import { must } from '../../base/must.ts';
import type { DescribedResource, PromotionReason } from '../../catalog/resources/catalog.ts';
import type { LeafType } from '../../catalog/tree/field-tree.ts';
import { parsePath } from '../../catalog/tree/path.ts';
import type { Database } from '../sqlite/database.ts';
import type { IngestStatus } from '../types/progress.ts';
import { PromotedTable, type Slot } from './promoted-table.ts';
import { derivedFrom, type StoredKind, type StoredResource } from './stored-resource.ts';

export function readKinds(database: Database): readonly StoredKind[] {
  return database
    .statement('SELECT id, grp, plural, key, promoted_table, health_rules, health_from FROM kind')
    .all()
    .map(([id, grp, plural, key, table, rules, from]) => {
      const name = table === null ? null : String(table);
      const promoted = new PromotedTable(database, Number(id), name, readSlots(database, Number(id)));
      const health = { rules: String(rules), from: from === null ? null : Number(from) };
      return { id: Number(id), group: String(grp), plural: String(plural), key: String(key), promoted, health };
    });
}

function readSlots(database: Database, kindId: number): Slot[] {
  return database
    .statement('SELECT column_name, path, type, reason, used, ready, backfilled FROM slot WHERE kind = ?')
    .all(kindId)
    .map(([column, path, type, reason, used, ready, backfilled]) => ({
      column: String(column),
      path: parsePath(String(path)),
      type: String(type) as LeafType,
      reason: String(reason) as PromotionReason,
      used: Number(used),
      ready: ready === 1,
      backfilled: Number(backfilled),
    }));
}

/** All collections of the store. `kinds` must be all of its kinds. */
export function readCollections(database: Database, kinds: readonly StoredKind[]): readonly StoredResource[] {
  const byId = new Map(kinds.map((kind) => [kind.id, kind]));
  return database
    .statement(
      'SELECT id, cluster, kind, namespace, rowset, last_rv, synced, objects, body_shape, status FROM resource',
    )
    .all()
    .map(([id, cluster, kindId, namespace, rowset, lastRv, synced, objects, bodyShape, status]) => {
      const kind = must(byId.get(Number(kindId)), 'the kind of a resource');
      return {
        handle: Object.freeze({
          id: Number(id),
          cluster: String(cluster),
          key: kind.key,
          namespace: String(namespace),
        }),
        kind,
        ...derivedFrom(readDescription(database, kind.id, String(cluster))),
        bodyShape: String(bodyShape),
        rowset: rowset === null || rowset === undefined ? null : Number(rowset),
        lastResourceVersion: lastRv === null || lastRv === undefined ? null : String(lastRv),
        synced: synced === 1,
        objects: Number(objects),
        status: JSON.parse(String(status)) as IngestStatus,
        described: null,
      };
    });
}

/** The description of a kind in a cluster. */
export function readDescription(database: Database, kindId: number, cluster: string): DescribedResource {
  const row = database.statement('SELECT json FROM description WHERE cluster = ? AND kind = ?').get(cluster, kindId);
  return JSON.parse(String(must(row, 'the description of a resource')[0])) as DescribedResource;
}
