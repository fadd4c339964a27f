/** Groups and facets of one question: SQL against the evaluator. */
import { decimalText } from '../../src/catalog/decimal.ts';
import type { Tally } from '../../src/catalog/tally.ts';
import { foldCase } from '../../src/catalog/values.ts';
import type { AggregatePlan, GroupResult, Measured } from '../../src/query/aggregate.ts';
import { aggregateKinds } from '../../src/query/aggregate-kinds.ts';
import { evaluateAggregate } from '../../src/query/evaluate-aggregate.ts';
import { facet, facetOf, filterWithout } from '../../src/query/facet.ts';
import type { PlannedKind } from '../../src/query/plan.ts';
import { NotAfforded, ScanBudget } from '../../src/query/scan-budget.ts';
import type { KindLayout, Lease } from '../../src/store/types.ts';
import type { Held, Question } from './questions.ts';

/** @param same is told both answers and throws where they differ. */
export async function checkGroups(
  lease: Lease,
  layouts: ReadonlyMap<string, KindLayout>,
  kinds: readonly PlannedKind[],
  { filter, by, measured, facet: asked }: Question,
  held: readonly Held[],
  same: (what: string, found: unknown, wanted: unknown) => void,
): Promise<void> {
  const plan: AggregatePlan = { kinds, filter, by, measured };
  const found = afforded(await aggregateKinds(lease, layouts, plan, boundless()));
  same('groups', shown(found, plan), shown(evaluateAggregate(plan, held), plan));

  const without = filterWithout(filter, asked.leaf.path);
  const groups = evaluateAggregate({ kinds, filter: without, by: [asked.leaf], measured: [] }, held);
  const needle = asked.contains === null ? null : foldCase(asked.contains);
  const wanted = facetOf(groups, asked.leaf, asked.first, needle);
  const text = (each: typeof wanted): unknown => ({
    more: each.more,
    values: each.values.map(({ key, count }) => [key === null ? null : String(key), count]),
  });
  const facets = afforded(await facet(lease, layouts, { ...asked, kinds, filter }, boundless()));
  same('a facet', text(facets), text(wanted));
}

export function boundless(): ScanBudget {
  return new ScanBudget(Number.POSITIVE_INFINITY);
}

export function afforded<T>(answer: T | NotAfforded): T {
  if (answer instanceof NotAfforded) throw new Error('everything is afforded here');
  return answer;
}

/** As texts, sorted; what was not wanted is left out. */
function shown(groups: readonly GroupResult[], { measured }: AggregatePlan): string[] {
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
