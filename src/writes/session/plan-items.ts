/** The plans of the objects of one mutation: each by itself, several at a time. */
import { must } from '../../base/must.ts';
import type { WriteError } from '../outcome/write-error.ts';
import { madeBefore, plannedUnchecked } from '../plan/made-before.ts';
import type { PlannedTarget } from '../plan/plan-id.ts';
import { type PlannedWrite, planOne, unplanned } from '../plan/plan-one.ts';
import type { WriteIntent } from '../request/write-intent.ts';
import { inParallel } from '../run/run-writes.ts';
import { type RunContext, type RunItem, shownPlan } from '../run/write-item.ts';
import { uidOf, versionOf } from '../send/send-write.ts';

/** One object of a mutation. */
export interface SessionItem extends RunItem {
  /** Why it cannot be written, known before anything is sent. */
  readonly error: WriteError | null;
}

export interface ItemPlan {
  readonly intent: WriteIntent;
  readonly plan: PlannedWrite;
  /** The object is to be created, and no API server has checked it (plan/made-before.ts). */
  readonly isUnchecked: boolean;
}

/**
 * The plan of each item.
 * @param isChecked the items are only checked, and no plan is sealed: what an API server chooses for new objects does not matter
 */
export async function planItems(
  context: RunContext,
  items: readonly SessionItem[],
  isChecked = false,
): Promise<readonly ItemPlan[]> {
  const plans = new Array<PlannedWrite>(items.length);
  await inParallel([...items.keys()], async (index) => {
    const { intent, condition, planned, error } = must(items[index], 'an item of the plan');
    const chosen = planned?.chosen ?? (isChecked ? [] : null);
    const plan = error === null ? await planOne(context, intent, condition, chosen) : unplanned(error);
    plans[index] = plan;
    // Others may be planned by their manifests, when all plans are there.
    if (plan.error === null && !isChecked) context.told(shownPlan(intent, plan));
  });
  const made = madeBefore(items.map(({ intent }, index) => ({ intent, plan: plans[index] ?? null })));
  return items.map(({ intent }, index) => {
    const checked = must(plans[index], 'a plan of each item');
    const unchecked = plannedUnchecked(intent, checked, made, context.redacted(intent.target.resource));
    const plan = unchecked ?? checked;
    if (checked.error !== null) context.told(shownPlan(intent, plan));
    return { intent, plan, isUnchecked: unchecked !== null };
  });
}

/** The plan of one object, as the id of the whole plan has it. */
export function sealedTarget(
  context: Pick<RunContext, 'tag'>,
  { intent: { target }, plan, isUnchecked }: ItemPlan,
): PlannedTarget {
  const [uid, resourceVersion] = [uidOf(plan.live), versionOf(plan.live)];
  const untagged = { target, uid, resourceVersion, tag: null, chosen: plan.chosen, isUnchecked };
  return plan.error === null ? { ...untagged, tag: context.tag(untagged, plan.bound) } : untagged;
}
