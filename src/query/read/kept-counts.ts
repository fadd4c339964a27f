/**
 * Counts of filters, kept until one of their kinds changes.
 *
 *   first count    the state of the kinds -> countMatches -> kept with the snapshot's revision
 *   later count    the state of the kinds: no change since -> the kept count
 *
 * kind-state.ts says when the state is the same. A snapshot older than the counted one is counted by itself. Callers with equal scopes
 * share counts.
 */
import { BoundedCache } from '../../base/bounded-cache.ts';
import type { Lease } from '../../store/types/lease.ts';
import type { Row, Statement } from '../../store/types/statement.ts';
import { dependsOnAnyKind, type Filter, hopsIn } from '../plan/filter.ts';
import { digest } from '../plan/fingerprint.ts';
import type { ListPlan } from '../plan/plan.ts';
import type { OverBudget, ScanBudget } from '../plan/scan-budget.ts';
import { keptCount } from '../sql/counts.ts';
import type { KindView, View } from '../sql/view.ts';
import { clustersOnly, countMatches } from './count.ts';
import { isUnchanged, type KindState, kindState, type Snapshot, stateStatement } from './kind-state.ts';

/** A count, with the state of its kinds in the snapshot that was counted. */
interface KeptCount {
  readonly count: number;
  readonly state: KindState;
}

/** The part of a plan that decides the count; the key of the count. */
type CountedPlan = Pick<ListPlan, 'kinds' | 'filter'>;

const mostCounts = 1000;
/** The state of more kinds takes longer to read than most counts. */
const mostKinds = 10;

export class KeptCounts {
  readonly #counts = new BoundedCache<KeptCount>({ entries: mostCounts, weight: mostCounts });

  /** As countMatches. A kept count takes nothing from the budget. */
  async count(
    lease: Lease,
    view: View,
    plan: CountedPlan,
    limit: number | null,
    budget: ScanBudget,
  ): Promise<number | OverBudget> {
    const key = keyOf(plan, view.scopesId);
    // The related objects decide too.
    const keys = [...plan.kinds.map((kind) => kind.key), ...hopsIn(plan.filter).map(({ to }) => to.key)];
    const kindIds = [...new Set(keys.flatMap((each) => view.get(each)?.kindId ?? []))];
    if (key === null || kindIds.length === 0 || kindIds.length > mostKinds) {
      return countMatches(lease, view, plan, limit, budget);
    }
    const known = this.#counts.get(key);
    const since = known?.state.epoch === lease.epoch ? known.state.revision : lease.revision;
    const [row] = await lease.all(stateStatement(kindIds, since));
    if (known !== undefined && isUnchanged(known.state, lease, row)) {
      return limit === null ? known.count : Math.min(known.count, limit);
    }
    const count = await countMatches(lease, view, plan, limit, budget);
    if (typeof count === 'number' && (limit === null || count < limit)) {
      this.#counts.set(key, { count, state: kindState(kindIds, lease, row) }, 1);
    }
    return count;
  }

  /** The count of one kind for a reader of several statements in one snapshot; null if nothing is kept. */
  prepared(plan: CountedPlan, kind: KindView): PreparedCount | null {
    const clusters = clustersOnly(plan.filter);
    const stored = clusters === null ? null : keptCount(kind, clusters === 'all' ? null : clusters);
    if (stored !== null) return countedBy(stored);
    const key = keyOf(plan, kind.view.scopesId);
    const known = key === null ? undefined : this.#counts.get(key);
    if (known === undefined) return null;
    return {
      statement: stateStatement(known.state.kinds, known.state.revision),
      read: (snapshot, [row]) => (isUnchanged(known.state, snapshot, row) ? known.count : null),
    };
  }
}

/** A count that one statement finds. */
export interface PreparedCount {
  readonly statement: Statement;
  /** The count by the statement's rows; null if it must be counted again. */
  read(snapshot: Snapshot, rows: readonly Row[]): number | null;
}

/** The count that the statement finds each time. */
export function countedBy(statement: Statement): PreparedCount {
  return { statement, read: (_snapshot, [row]) => Number(row?.[0]) };
}

/** By filter, because a prepared plan asks for the same count again and again. */
const digests = new WeakMap<Filter, string | null>();

function keyOf({ kinds, filter }: CountedPlan, scopesId: string): string | null {
  let known = digests.get(filter);
  if (known === undefined) {
    known = isKept(filter) ? digest(filter) : null;
    digests.set(filter, known);
  }
  const keys = kinds.map(({ key }) => key).sort();
  return known === null ? null : `${scopesId} ${keys.join()} ${known}`;
}

/** Not without conditions or on clusters alone, whose count the store keeps; not with a relative time; not if any kind may change it. */
function isKept(filter: Filter): boolean {
  return clustersOnly(filter) === null && !hasRelativeTime(filter) && !dependsOnAnyKind(filter);
}

/** A relative time is another time in each operation. */
function hasRelativeTime(filter: Filter): boolean {
  switch (filter.kind) {
    case 'and':
    case 'or':
      return filter.of.some(hasRelativeTime);
    case 'not':
    case 'some':
    case 'related':
      return hasRelativeTime(filter.of);
    case 'compare':
      return filter.relative !== undefined;
    default:
      return false;
  }
}
