/**
 * References to objects that are not there.
 *
 *   targets of synced kinds -> without an object that counts -> their referring objects, in identity order
 *
 * A target counts as missing only in a cluster where its kind is synced, and only if the caller would see the object. So a caller with
 * rights in one namespace learns what is missing there. The caller learns nothing about other namespaces.
 */
import { type ClusterScope, noRows, partIn, type Scope, scopeText } from '../../access/scope.ts';
import type { Lease } from '../../store/types/lease.ts';
import { all, any, type Fragment, isIn, raw, sql } from '../../store/types/sql.ts';
import { decodeContent, encodeContent, malformed } from '../plan/cursor.ts';
import type { SyncedKind } from '../plan/hop.ts';
import { countsOfAny, scopeSql } from '../sql/counts.ts';
import { readyPlaces } from '../sql/hop-sql.ts';
import { tickAt } from '../sql/tick.ts';
import type { View } from '../sql/view.ts';
import type { StatedReference } from './references.ts';

/** A kind whose references are searched. */
interface ReferringKind {
  readonly key: string;
  /** Its places (placeText). */
  readonly places: readonly string[];
}

interface DanglingPlan {
  readonly from: readonly ReferringKind[];
  readonly to: readonly SyncedKind[];
  /** Namespaces of the referring objects; null for all. */
  readonly namespaces: readonly string[] | null;
  readonly limit: number;
  readonly after: string | null;
}

interface DanglingReference extends StatedReference {
  /** The referring object. */
  readonly from: { readonly id: number; readonly key: string };
  readonly cursor: string;
}

interface DanglingPage {
  readonly references: readonly DanglingReference[];
  readonly hasNextPage: boolean;
}

/** The columns of the order, and of a cursor. */
const order = [
  'o.cluster',
  'k.grp',
  'k.plural',
  'o.namespace',
  'o.name',
  'p.spec',
  'n.grp',
  'n.kind',
  't.namespace',
  't.name',
];

/** One page. @throws PortolanError BAD_USER_INPUT for text that is not a cursor; CACHE_NOT_READY while references are still being read. */
export async function danglingReferences(lease: Lease, view: View, plan: DanglingPlan): Promise<DanglingPage> {
  const { from, to, namespaces, limit, after } = plan;
  const places = from.flatMap(({ key, places: texts }) =>
    view.get(key) === undefined ? [] : readyPlaces(view, key, texts).map(BigInt),
  );
  const conditions = [tickAt('o.id', 256), countsOfAny(view), isMissing(view, to)];
  if (namespaces !== null) conditions.push(isIn(raw('o.namespace'), namespaces));
  if (after !== null) conditions.push(behind(after));
  const columns = raw(order.join(', '));
  const rows = await lease.all(
    sql`SELECT ${columns}, o.id, k.key FROM (${checkedKinds(view, to)}) AS m
      CROSS JOIN named_kind AS n ON n.id = m.named CROSS JOIN target AS t ON t.named = m.named AND t.cluster = m.cluster
      CROSS JOIN reference_by_target AS r ON r.target = t.id AND ${isIn(raw('r.place'), places)}
      CROSS JOIN reference_place AS p ON p.id = r.place
      CROSS JOIN object AS o ON o.id = r.id CROSS JOIN kind AS k ON k.id = o.kind
      WHERE ${all(conditions)} ORDER BY ${columns} LIMIT ${BigInt(limit + 1)}`,
  );
  const references = rows.slice(0, limit).map((row): DanglingReference => {
    const values = row.slice(0, order.length).map(String);
    const [cluster = '', , , , , place = '', group = '', kind = '', namespace = '', name = ''] = values;
    const [id, key] = row.slice(order.length);
    return {
      ...{ place, cluster, group, kind, namespace, name },
      from: { id: Number(id), key: String(key) },
      cursor: encodeContent(values),
    };
  });
  return { references, hasNextPage: rows.length > limit };
}

function behind(after: string): ReturnType<typeof sql> {
  const values = decodeContent(after);
  if (values.length !== order.length || !values.every((value) => typeof value === 'string')) throw malformed(after);
  const row = JSON.stringify(values);
  const bound = order.map((_, index) => `value ->> ${index}`).join(', ');
  return sql`(${raw(order.join(', '))}) > (SELECT ${raw(bound)} FROM (SELECT ${row} AS value))`;
}

/** A SELECT of the kinds whose objects can be found missing: named (id in named_kind), cluster, kind (id), namespaced. */
export function checkedKinds(view: View, kinds: readonly SyncedKind[]): Fragment {
  const checked = kinds.flatMap(({ key, group, kind, namespaced, clusters }) => {
    const found = view.get(key);
    if (found === undefined) return [];
    const seen = clusters.filter((cluster) => partIn(found.visible, cluster) !== null);
    return seen.map((cluster) => [group, kind, cluster, found.kindId, namespaced ? 1 : 0]);
  });
  return sql`SELECT n.id AS named, j.value ->> 2 AS cluster, j.value ->> 3 AS kind, j.value ->> 4 AS namespaced
    FROM json_each(${JSON.stringify(checked)}) AS j CROSS JOIN named_kind AS n ON n.grp = j.value ->> 0 AND n.kind = j.value ->> 1`;
}

/**
 * The condition that no object exists that the row `t` of `target` names, although the caller would see it. `m`: a row of `checkedKinds`.
 */
export function isMissing(view: View, kinds: readonly SyncedKind[]): Fragment {
  return all([wouldSee(view, kinds), sql`NOT ${isThere(view)}`]);
}

function isThere(view: View): Fragment {
  return sql`EXISTS (SELECT 1 FROM object AS o WHERE o.kind = m.kind AND o.cluster = t.cluster
    AND o.namespace = iif(m.namespaced, t.namespace, '') AND o.name = t.name AND ${countsOfAny(view)})`;
}

/** The condition that the caller would see the object that `t` names. A target of a cluster-scoped kind may have a namespace in the store. */
function wouldSee(view: View, kinds: readonly SyncedKind[]): Fragment {
  const visible = kinds.flatMap(({ key, namespaced }) => {
    const found = view.get(key);
    if (found === undefined) return [];
    return { id: BigInt(found.kindId), scope: namespaced ? found.visible : withoutNamespaces(found.visible) };
  });
  const groups = Map.groupBy(visible, ({ scope }) => scopeText(scope));
  if (groups.size === 1 && groups.has('all')) return raw('1');
  return any(
    [...groups.values()].flatMap((group) => {
      const [{ scope } = { scope: noRows }] = group;
      if (scope.rows === 'none') return [];
      const ids = group.map(({ id }) => id);
      return all([isIn(raw('m.kind'), ids), scopeSql(scope, raw('t'))]);
    }),
  );
}

/** The part of a scope that shows objects of a cluster-scoped kind. */
function withoutNamespaces(scope: Scope): Scope {
  if (scope.rows !== 'some') return scope;
  const clusters = new Map<string, ClusterScope>();
  for (const [cluster, part] of scope.clusters) {
    const names = part === 'all' ? undefined : part.names.get('');
    if (part === 'all') clusters.set(cluster, part);
    else if (names !== undefined) clusters.set(cluster, { namespaces: new Set(), names: new Map([['', names]]) });
  }
  return clusters.size === 0 ? noRows : { rows: 'some', clusters };
}
