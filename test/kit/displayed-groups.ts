/** The form in which tests compare groups and answers with the evaluator's. Needs no test runner. */
import { decimalText } from '../../src/catalog/values/decimal.ts';
import type { Tally } from '../../src/catalog/values/tally.ts';
import type { AggregatePlan, GroupResult, Measured } from '../../src/query/plan/aggregate.ts';
import { OverBudget, ScanBudget } from '../../src/query/plan/scan-budget.ts';

/** An unlimited budget. */
export function boundless(): ScanBudget {
  return new ScanBudget(Number.POSITIVE_INFINITY);
}

/** The answer; throws when it is over budget. For reads with an unlimited budget. */
export function withinBudget<T>(answer: T | OverBudget): T {
  if (answer instanceof OverBudget) throw new Error('everything is withinBudget here');
  return answer;
}

/** The groups as sorted texts, without measures that were not requested. */
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
