/** Reads the layout of each kind in a lease, and caches the layouts by the store's layout version. */

import { textOfKind } from '../../catalog/relations/relation.ts';
import type { PromotionReason } from '../../catalog/resources/catalog.ts';
import type { LeafType } from '../../catalog/tree/field-tree.ts';
import type { KindLayout, PromotedSlot, RelationPlace } from '../types/kind-layout.ts';
import type { Lease } from '../types/lease.ts';

/** By resourceKey. */
export type Layouts = ReadonlyMap<string, KindLayout>;

/** By epoch and layout version. Layouts of one version never change, so all readers of this process share them. */
const known = new Map<string, Layouts>();
/** Two versions of each cell: --cells takes up to 64. */
const mostKept = 128;

/** The layouts of all kinds in the store, as of the lease's snapshot. */
export async function readLayouts(lease: Lease): Promise<Layouts> {
  const version = `${lease.epoch} ${lease.layoutVersion}`;
  const cached = known.get(version);
  if (cached !== undefined) return cached;
  const rows = await lease.all({
    sql: `SELECT k.key, k.id, k.promoted_table, s.path, s.type, s.column_name, s.ready, s.reason, k.grp,
            (SELECT c.name FROM kind_came AS c WHERE c.kind = k.id ORDER BY c.id DESC LIMIT 1)
          FROM kind k LEFT JOIN slot s ON s.kind = k.id ORDER BY k.id, s.column_name`,
    params: [],
  });
  const places = await readPlaces(lease);
  const layouts = new Map<string, KindLayout & { readonly slots: PromotedSlot[] }>();
  for (const [key, kindId, table, path, type, column, ready, reason, group, kind] of rows) {
    let layout = layouts.get(String(key));
    if (layout === undefined) {
      const id = Number(kindId);
      const promotedTable = table === null ? null : String(table);
      const named = textOfKind({ group: String(group), kind: String(kind ?? '') });
      layout = { kindId: id, named, promotedTable, slots: [], places: places.get(id) ?? [] };
      layouts.set(String(key), layout);
    }
    if (path === null) continue;
    layout.slots.push({
      path: String(path),
      type: String(type) as LeafType,
      column: String(column),
      ready: ready === 1,
      reason: String(reason) as PromotionReason,
    });
  }
  known.set(version, layouts);
  for (const oldest of known.keys()) {
    if (known.size <= mostKept) break;
    known.delete(oldest);
  }
  return layouts;
}

/** The places of each kind, by kind id. */
async function readPlaces(lease: Lease): Promise<ReadonlyMap<number, readonly RelationPlace[]>> {
  const rows = await lease.all({
    sql: 'SELECT kind, id, spec, backfilled IS NULL FROM reference_place WHERE dropped = 0 ORDER BY kind, id',
    params: [],
  });
  const places = new Map<number, RelationPlace[]>();
  for (const [kind, id, text, ready] of rows) {
    const of = places.get(Number(kind)) ?? [];
    places.set(Number(kind), of);
    of.push({ id: Number(id), text: String(text), ready: ready === 1 });
  }
  return places;
}
