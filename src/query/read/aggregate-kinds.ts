/**
 * Runs an aggregate over one kind or several, in one lease for each cell: one statement for each kind, whose groups are merged by key.
 *
 *   choose and count the rows of each kind -> take all costs from the budget at once -> run the statements -> merge the groups
 *
 * Example: pods gives { Running: 3, Failed: 1 } and jobs gives { Failed: 2 }; the result is { Running: 3, Failed: 3 }.
 */

import { PortolanError } from '../../base/errors.ts';
import { Tally } from '../../catalog/values/tally.ts';
import type { Lease } from '../../store/types/lease.ts';
import { raw, sql } from '../../store/types/sql.ts';
import { type AggregatePlan, type GroupResult, groupText, mostGroups } from '../plan/aggregate.ts';
import { everything } from '../plan/filter.ts';
import { textOfLeaf } from '../plan/hop.ts';
import { OverBudget, rowCost, type ScanBudget } from '../plan/scan-budget.ts';
import { countRows, type FoundRows, findRows } from '../route/aggregated-rows.ts';
import { populatedKinds } from '../route/populated-kinds.ts';
import type { AccessPath } from '../sql/access-path.ts';
import { KindTables } from '../sql/kind-tables.ts';
import { aggregateStatement, readGroups, type StatementOptions } from '../sql/sql-aggregate.ts';
import type { CellView, View } from '../sql/view.ts';

/**
 * The groups of the matching objects, in undefined order. Without `by`, exactly one group.
 * @throws PortolanError QUERY_TOO_COSTLY for more than mostGroups groups.
 */
export async function aggregateKinds(
  cells: readonly CellView[],
  plan: AggregatePlan,
  budget: ScanBudget,
  options: StatementOptions = { limit: mostGroups + 1 },
): Promise<readonly GroupResult[] | OverBudget> {
  const keys = [...new Set(plan.kinds.map((kind) => kind.key))];
  const found = await Promise.all(
    cells.map(async ({ lease, view }) => {
      const rowsOfCell: CellRows[] = [];
      for (const key of await populatedKinds(lease, view, keys, plan.filter)) {
        const kind = view.get(key);
        if (kind === undefined) continue;
        const rows = await findRows(lease, kind, plan.filter);
        const { cost } = aggregateStatement(rows.rows, plan, options);
        rowsOfCell.push({ lease, ...(cost >= rowCost.body ? await countRows(lease, rows, budget.left(cost)) : rows) });
      }
      return rowsOfCell;
    }),
  );
  const sets = await aggregateRows(found.flat(), plan, budget, 1, options);
  return sets instanceof OverBudget ? sets : (sets[0] ?? []);
}

/** Chosen rows, and the lease in which they are read. */
interface CellRows extends FoundRows {
  readonly lease: Lease;
}

/** Related objects of one kind. `pairs` is a JSON list of [index of the object they are related to, object id]. */
export interface RelatedObjects {
  readonly key: string;
  readonly count: number;
  readonly pairs: string;
}

/**
 * Aggregates related objects: the groups of each object that they are related to.
 * @param related refers to these objects by index.
 * @param places the number of these objects, and the length of the result.
 * @throws PortolanError QUERY_TOO_COSTLY for more than mostGroups groups.
 */
export async function aggregateRelated(
  lease: Lease,
  view: View,
  related: readonly RelatedObjects[],
  plan: Pick<AggregatePlan, 'by' | 'measured'>,
  budget: ScanBudget,
  places: number,
): Promise<readonly (readonly GroupResult[])[] | OverBudget> {
  const found = related.flatMap(({ key, count, pairs }): readonly CellRows[] => {
    const kind = view.get(key);
    if (kind === undefined) return [];
    const path: AccessPath = {
      on: 'related',
      tables: () => new KindTables(kind, 'o'),
      from: (tables) =>
        sql`json_each(${pairs}) AS d CROSS JOIN ${tables.from()} ON ${tables.column('id')} = d.value ->> 1`,
      where: () => raw('1'),
      rest: everything,
    };
    const rows = { kind, filter: everything, path, allCount: true, set: raw('d.value ->> 0') };
    return [{ lease, rows, estimate: count }];
  });
  return aggregateRows(found, plan, budget, places);
}

/** Aggregates chosen rows in `sets` sets: the groups of each set. */
async function aggregateRows(
  found: readonly CellRows[],
  plan: Pick<AggregatePlan, 'by' | 'measured'>,
  budget: ScanBudget,
  sets: number,
  options: StatementOptions = { limit: mostGroups + 1 },
): Promise<readonly (readonly GroupResult[])[] | OverBudget> {
  const statements = found.map(({ lease, rows, estimate }) => ({
    ...aggregateStatement(rows, plan, options),
    lease,
    rows,
    estimate,
  }));
  const overBudget = budget.take(...statements);
  if (overBudget !== null) return overBudget;

  const merged = Array.from({ length: sets }, () => new Map<string, Merged>());
  if (plan.by.length === 0) for (const groups of merged) groups.set(groupText([]), emptyGroup(plan));
  let count = 0;
  // The cells read at the same time.
  const isOne = new Set(statements.map(({ lease }) => lease)).size <= 1;
  const begun = isOne ? [] : statements.map(({ lease, statement }) => lease.all(statement));
  for (const reading of begun) reading.catch(() => {});
  for (const [index, { lease, statement, rows }] of statements.entries()) {
    const read = await (begun[index] ?? lease.all(statement));
    for (const { set, group } of readGroups(read, plan, rows.set !== null)) {
      const groups = merged[set];
      if (groups === undefined) continue;
      const text = groupText(group.keys);
      const known = groups.get(text);
      if (known === undefined) {
        groups.set(text, { ...group, tallies: [...group.tallies] });
        count += 1;
      } else {
        known.count += group.count;
        for (const [index, tally] of group.tallies.entries()) known.tallies[index]?.merge(tally);
      }
      if (count > mostGroups) throw tooMany(plan);
    }
  }
  return merged.map((groups) => [...groups.values()]);
}

interface Merged extends GroupResult {
  count: number;
  readonly tallies: Tally[];
}

function emptyGroup({ measured }: Pick<AggregatePlan, 'measured'>): Merged {
  return { keys: [], count: 0, tallies: measured.map(() => new Tally()) };
}

function tooMany({ by }: Pick<AggregatePlan, 'by'>): PortolanError {
  const paths = by.map(textOfLeaf).join(', ');
  return new PortolanError(
    'QUERY_TOO_COSTLY',
    `There are more than ${mostGroups} groups by ${paths}, and that many are computed; narrow the filter or group by less.`,
    { details: { limit: 'groups', allowed: mostGroups, atLeast: mostGroups + 1 } },
  );
}
