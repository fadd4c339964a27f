/** Groups and answers as the tests against the evaluator compare them. Needs no test runner. */
import { decimalText } from '../../src/catalog/values/decimal.ts';
import type { Tally } from '../../src/catalog/values/tally.ts';
import type { AggregatePlan, GroupResult, Measured } from '../../src/query/plan/aggregate.ts';
import { OverBudget, ScanBudget } from '../../src/query/plan/scan-budget.ts';

/** A budget that is never used up. */
export function boundless(): ScanBudget {
  return new ScanBudget(Number.POSITIVE_INFINITY);
}

/** What a boundless budget must afford. */
export function withinBudget<T>(answer: T | OverBudget): T {
  if (answer instanceof OverBudget) throw new Error('everything is withinBudget here');
  return answer;
}

/** As texts, sorted; what was not wanted is left out. */
export function shownGroups(groups: readonly GroupResult[], { measured }: AggregatePlan): string[] {
  const one = ({ count, sum, least, greatest }: Tally, wanted: Measured | undefined): unknown => [
    count,
    wanted?.sum === true ? decimalText(sum) : null,
    ...(wanted?.ends === true ? [least, greatest].map((key) => (key === null ? null : String(key))) : []),
  ];
  return groups
    .map(({ keys, count, tallies }) =>
      JSON.stringify([
        keys.map((key) => (key === null ? null : String(key))),
        count,
        tallies.map((tally, index) => one(tally, measured[index])),
      ]),
    )
    .sort();
}
