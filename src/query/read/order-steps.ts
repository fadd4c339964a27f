/**
 * The steps of a list that is ordered by a value of related objects. Each step is a list with a narrower filter. The rows of all steps,
 * in the order of the steps, are the rows of the list.
 *
 *   pods by node.status.nodeInfo.kubeletVersion
 *     step 1   the Pods of the Nodes with v1.36, in the remaining order
 *     step 2   the Pods of the Nodes with v1.37, in the remaining order
 *     step 3   the Pods without a Node, and the Pods of Nodes without the value
 *
 * A page usually needs only the first steps. So most rows of the kind are neither read nor sorted. Each of the first steps has one value
 * of the related objects. If they do not fill the page, the filter probably leaves few rows for each value. So each later step has twice
 * as many values as the step before it.
 */

import type { OrderKey } from '../../catalog/values/values.ts';
import type { Lease } from '../../store/types/lease.ts';
import { all, raw, sql } from '../../store/types/sql.ts';
import { conjunction, negation } from '../plan/comparison.ts';
import { everything, type Filter, type Identity } from '../plan/filter.ts';
import { anyKind, type Hop, leadsToOne, reversed } from '../plan/hop.ts';
import type { OrderTerm, Position } from '../plan/plan.ts';
import { storedTotal } from '../sql/counts.ts';
import { hopSql } from '../sql/hop-sql.ts';
import { KindTables } from '../sql/kind-tables.ts';
import { bindKey, keyColumn, readKey } from '../sql/leaf-key.ts';
import { travelOrder } from '../sql/sql-order.ts';
import type { KindView } from '../sql/view.ts';

interface OrderStep {
  readonly filter: Filter;
  /** The terms by which the rows of the step are sorted: all, or all but the first. */
  readonly orderBy: readonly OrderTerm[];
  /** The key of the first term, if `orderBy` lacks it. */
  readonly key: readonly (OrderKey | null)[];
  readonly backward: boolean;
  readonly position: Position | null;
}

interface SteppedList {
  readonly kind: KindView;
  readonly filter: Filter;
  readonly orderBy: readonly OrderTerm[];
  readonly backward: boolean;
  readonly position: Position | null;
}

/** The most related objects whose values are read. */
const mostTargets = 5000;
/** The first steps have one value each. */
const singleSteps = 4;

/** The steps of the list, in reading order. Null if it is not in the order of a related object's value, or is better sorted at once. */
export async function orderSteps(lease: Lease, list: SteppedList): Promise<readonly OrderStep[] | null> {
  const [first, ...rest] = list.orderBy;
  const hop = first === undefined ? null : singleHop(first);
  const end = hop === null ? undefined : list.kind.view.end(hop);
  if (first === undefined || hop === null || end === undefined) return null;
  const [totals] = await lease.all(sql`SELECT ${storedTotal(list.kind)}, ${storedTotal(end)}`);
  const [rows = 0, targets = 0] = (totals ?? []).map(Number);
  if (targets > Math.min(mostTargets, 2 * rows)) return null;

  const values = await valuesOf(lease, list, { first, hop, end });
  const { position, backward } = list;
  // The last term tells the direction of the identity. Without terms it is that of the reading.
  const flipped = rest.length === 0 && first.direction === 'DESC' ? !backward : backward;
  const passedKey = position?.keys[0] ?? null;
  const below: Position | null = position === null ? null : { ...position, keys: position.keys.slice(1) };
  const withFilter = (of: Filter): Filter => conjunction([list.filter, of]);
  const named = (targets: readonly Identity[]): Filter => ({ kind: 'related', hop, of: { kind: 'ids', in: targets } });

  const steps: OrderStep[] = [];
  const present = values.filter(({ key }) => key !== null);
  for (let at = 0, size = 1; at < present.length; at += size) {
    if (steps.length >= singleSteps) size *= 2;
    const some = present.slice(at, at + size);
    const filter = withFilter(named(some.flatMap(({ targets }) => targets)));
    const [only] = some;
    const passed = position !== null && at === 0 && only?.passed === true;
    if (some.length === 1 && only !== undefined) {
      steps.push({ filter, orderBy: rest, key: [only.key], backward: flipped, position: passed ? below : null });
    } else {
      steps.push({ filter, orderBy: list.orderBy, key: [], backward, position: null });
    }
  }
  const withoutKey = values.filter(({ key }) => key === null).flatMap(({ targets }) => targets);
  const none = negation({ kind: 'related', hop, of: everything });
  const absent: OrderStep = {
    filter: withFilter(withoutKey.length === 0 ? none : { kind: 'or', of: [none, named(withoutKey)] }),
    orderBy: rest,
    key: [null],
    backward: flipped,
    position: position !== null && passedKey === null ? below : null,
  };
  const absentFirst = (first.nulls === 'FIRST') !== backward;
  if (position === null) return absentFirst ? [absent, ...steps] : [...steps, absent];
  if (passedKey === null) return absentFirst ? [absent, ...steps] : [absent];
  return absentFirst ? steps : [...steps, absent];
}

/** The hop of a term whose value is that of at most one related object. */
function singleHop({ through, rank }: OrderTerm): Hop | null {
  if (through === undefined || through.counted !== null || rank !== undefined) return null;
  const [hop, ...more] = through.hops;
  return hop !== undefined && more.length === 0 && hop.to.key !== anyKind && leadsToOne(hop) ? hop : null;
}

interface RelatedValue {
  readonly key: OrderKey | null;
  /** Is it the key of the position? */
  readonly passed: boolean;
  readonly targets: readonly Identity[];
}

interface Related {
  readonly first: OrderTerm;
  readonly hop: Hop;
  readonly end: KindView;
}

/** The values of the related objects that are mentioned at all, from the position on, in reading order. */
async function valuesOf(
  lease: Lease,
  { kind, backward, position }: SteppedList,
  { first, hop, end }: Related,
): Promise<readonly RelatedValue[]> {
  const { through: _through, ...term } = first;
  const tables = new KindTables(end, 'o');
  const [order] = travelOrder(tables, [term], backward).terms;
  if (order === undefined) return [];
  const mentioning = new KindTables(kind, 'o', '_z');
  const back = hopSql(reversed(hop), tables.objectAlias(), mentioning);
  // A step for a value to which only hidden rows lead would reveal them in an explanation.
  const isMentioned = sql`EXISTS (SELECT 1 FROM ${back.from} WHERE ${all([back.where, mentioning.isVisible()])})`;
  const key = position?.keys[0] ?? null;
  const bound = key === null ? null : bindKey(term.type, key);
  const from = bound === null ? raw('1') : sql`(k0 IS NULL OR k0 ${raw(order.descending ? '<=' : '>=')} ${bound})`;
  const identity = (['cluster', 'namespace', 'name'] as const).map((name) => tables.column(name).sql).join(', ');
  const conditions = [tables.isOfKind(), tables.tick(), tables.counts()];
  const rows = await lease.all(
    sql`SELECT ${keyColumn(term.type, raw('k0'))}, ${bound === null ? raw('0') : sql`k0 IS ${bound}`}, json_group_array(json_array(cluster, namespace, name))
      FROM (SELECT ${order.expression} AS k0, ${raw(identity)} FROM ${tables.from()}${tables.joins()}
        WHERE ${all([...conditions, isMentioned])})
      WHERE ${from} GROUP BY k0 ORDER BY k0 ${raw(order.descending ? 'DESC' : 'ASC')}`,
  );
  return rows.map(([value, passed, targets]) => ({
    key: value === null ? null : readKey(term.type, value),
    passed: Number(passed) === 1,
    targets: (JSON.parse(String(targets)) as [string, string, string][]).map(([cluster, namespace, name]) => ({
      cluster,
      key: end.key,
      namespace: namespace === '' ? null : namespace,
      name,
    })),
  }));
}
