/** Groups and facets of one question: SQL against the evaluator. */

import { foldCase } from '../../src/catalog/values/values.ts';
import type { AggregatePlan } from '../../src/query/plan/aggregate.ts';
import type { PlannedKind } from '../../src/query/plan/plan.ts';
import { aggregateKinds } from '../../src/query/read/aggregate-kinds.ts';
import { facet, facetOf, filterWithout } from '../../src/query/read/facet.ts';
import type { View } from '../../src/query/sql/view.ts';
import type { Lease } from '../../src/store/types/lease.ts';
import { boundless, shownGroups, withinBudget } from '../kit/displayed-groups.ts';
import { evaluateAggregate } from '../kit/evaluate-aggregate.ts';
import type { Held, Question } from './questions.ts';

/** @param same is told both answers and throws where they differ. */
export async function checkGroups(
  lease: Lease,
  view: View,
  kinds: readonly PlannedKind[],
  { filter, by, measured, facet: asked }: Question,
  held: readonly Held[],
  same: (what: string, found: unknown, wanted: unknown) => void,
): Promise<void> {
  const plan: AggregatePlan = { kinds, filter, by, measured };
  const found = withinBudget(await aggregateKinds([{ lease, view }], plan, boundless()));
  same('groups', shownGroups(found, plan), shownGroups(evaluateAggregate(plan, held), plan));

  const without = filterWithout(filter, asked.leaf.path);
  const groups = evaluateAggregate({ kinds, filter: without, by: [asked.leaf], measured: [] }, held);
  const needle = asked.contains === null ? null : foldCase(asked.contains);
  const wanted = facetOf(groups, asked.leaf, asked.first, needle);
  const text = (each: typeof wanted): unknown => ({
    more: each.more,
    values: each.values.map(({ key, count }) => [key === null ? null : String(key), count]),
  });
  const facets = withinBudget(await facet([{ lease, view }], { ...asked, kinds, filter }, boundless()));
  same('a facet', text(facets), text(wanted));
}
