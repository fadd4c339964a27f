/**
 * Counts of filters, kept until one of their kinds changes.
 *
 *   first count    the state of the kinds -> countMatches -> kept with the snapshot's revision
 *   later count    the state of the kinds: no change since -> the kept count
 *
 * A kept count is true in a snapshot under three conditions:
 *   - the change log has no entry of its kinds after the revision of the count
 *   - no entry of its kinds after that revision has been removed from the log
 *   - the number of stored rows is the same
 *
 * A snapshot older than the counted one is counted by itself. Callers with equal scopes share counts.
 */
import { BoundedCache } from '../../base/bounded-cache.ts';
import type { Lease } from '../../store/types/lease.ts';
import { join, sql } from '../../store/types/sql.ts';
import type { Row, Statement } from '../../store/types/statement.ts';
import { dependsOnAnyKind, type Filter, hopsIn } from '../plan/filter.ts';
import { digest } from '../plan/fingerprint.ts';
import type { ListPlan } from '../plan/plan.ts';
import type { OverBudget, ScanBudget } from '../plan/scan-budget.ts';
import { keptCount } from '../sql/counts.ts';
import type { KindView, View } from '../sql/view.ts';
import { clustersOnly, countMatches } from './count.ts';

/** A count that was made in a snapshot. */
interface KeptCount {
  readonly epoch: string;
  readonly count: number;
  readonly kindIds: readonly number[];
  /** Stored rows of the kinds. */
  readonly stored: string;
  /** The snapshot that was counted. Older snapshots may have another count. */
  readonly madeAt: number;
  /** The newest snapshot in which the count was true. */
  revision: number;
}

interface Snapshot {
  readonly epoch: string;
  readonly revision: number;
}

/** What is counted; the key of its count. */
export type CountedPlan = Pick<ListPlan, 'kinds' | 'filter'>;

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
    const since = known?.epoch === lease.epoch ? known.revision : lease.revision;
    const [row] = await lease.all(stateStatement(kindIds, since));
    if (known !== undefined && isTrue(known, lease, row)) {
      known.revision = Math.max(known.revision, lease.revision);
      return limit === null ? known.count : Math.min(known.count, limit);
    }
    const count = await countMatches(lease, view, plan, limit, budget);
    if (typeof count === 'number' && (limit === null || count < limit)) {
      const { epoch, revision } = lease;
      this.#counts.set(key, { epoch, madeAt: revision, revision, count, kindIds, stored: storedIn(row) }, 1);
    }
    return count;
  }

  /** The count of one kind for a reader of several statements in one snapshot; null if nothing is kept. */
  prepared(plan: CountedPlan, kind: KindView): PreparedCount | null {
    const clusters = clustersOnly(plan.filter);
    const stored = clusters === null ? null : keptCount(kind, clusters === 'all' ? null : clusters);
    if (stored !== null) return { statement: stored, read: (_snapshot, [row]) => Number(row?.[0]) };
    const key = keyOf(plan, kind.view.scopesId);
    const known = key === null ? undefined : this.#counts.get(key);
    if (known === undefined) return null;
    return {
      statement: stateStatement(known.kindIds, known.revision),
      read(snapshot, [row]) {
        if (!isTrue(known, snapshot, row)) return null;
        known.revision = Math.max(known.revision, snapshot.revision);
        return known.count;
      },
    };
  }
}

/** A count that one statement finds. */
export interface PreparedCount {
  readonly statement: Statement;
  /** The count by the statement's rows; null if it must be counted again. */
  read(snapshot: Snapshot, rows: readonly Row[]): number | null;
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

/** One row: is the log whole since the revision and without an entry of these kinds after it, and the stored rows of the kinds. */
function stateStatement(kindIds: readonly number[], since: number): Statement {
  const ids = kindIds.map((id) => sql`${BigInt(id)}`);
  const changed = kindIds.map(
    (id) => sql`EXISTS (SELECT 1 FROM change WHERE kind = ${BigInt(id)} AND seq > ${BigInt(since)})`,
  );
  return sql`SELECT NOT EXISTS (SELECT 1 FROM kind_log WHERE kind IN (${join(ids, ', ')}) AND floor > ${BigInt(since)}) AND NOT (${join(changed, ' OR ')}),
    (SELECT json_group_array(json_array(id, rowset, objects, synced)) FROM resource WHERE kind IN (${join(ids, ', ')}))`;
}

function isTrue({ epoch, madeAt, stored }: KeptCount, snapshot: Snapshot, row: Row | undefined): boolean {
  if (epoch !== snapshot.epoch || snapshot.revision < madeAt) return false;
  return Number(row?.[0]) === 1 && storedIn(row) === stored;
}

function storedIn(row: Row | undefined): string {
  return String(row?.[1]);
}
