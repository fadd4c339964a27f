/**
 * The dry run of all members of a set, before anything is written: each apply and each deletion, as the caller.
 *
 *   apply      ready      it may be written            same     it is so already: it is left alone
 *   deletion   ready      it is to be deleted          gone     there is nothing to delete
 *   each       refused    by the API server, by the rules of adoption, or by the plan that is carried out
 */
import { must } from '../../base/must.ts';
import { pathOfChange } from '../../writes/diff/field-changes.ts';
import { ownersOf } from '../../writes/diff/field-owners.ts';
import { sealedText } from '../../writes/diff/withheld-values.ts';
import { type WriteError, writeError } from '../../writes/outcome/write-error.ts';
import type { PlannedTarget } from '../../writes/plan/plan-id.ts';
import type { PlannedWrite } from '../../writes/plan/plan-one.ts';
import type { WriteIntent } from '../../writes/request/write-intent.ts';
import { differenceFrom, type RunContext, shownPlan, unwritten, type WriteItem } from '../../writes/run/write-item.ts';
import { type ItemPlan, planItems, type SessionItem } from '../../writes/session/plan-items.ts';

/** The finding of the dry run for one object. */
export interface Check {
  readonly intent: WriteIntent;
  readonly plan: ItemPlan;
  readonly item: SessionItem;
  readonly state: 'ready' | 'same' | 'gone' | 'refused';
  /** The item as a dry run reports it. */
  readonly shown: WriteItem;
}

/**
 * @param items with their places in the plan that is carried out
 * @param isCarriedOut whether a plan is carried out: then an item without a place in it is refused
 */
export async function checkItems(
  context: RunContext,
  items: readonly SessionItem[],
  { dryRun, isCarriedOut }: { readonly dryRun: boolean; readonly isCarriedOut: boolean },
): Promise<readonly Check[]> {
  const isHopeless = !dryRun && items.some(({ error }) => error !== null);
  const skipped = writeError('SKIPPED', 'Another object of the set cannot be written, so nothing is.');
  const asked = isHopeless ? items.map((item) => ({ ...item, error: item.error ?? skipped })) : items;
  const plans = await planItems(context, asked, !dryRun);
  return plans.map((plan, index) => checked(context, must(asked[index], 'an item'), plan, isCarriedOut));
}

function checked(context: RunContext, item: SessionItem, plan: ItemPlan, isCarriedOut: boolean): Check {
  const { intent } = item;
  const shown = shownPlan(intent, plan.plan);
  const base = { intent, plan, item };
  const nothing = item.error === null ? nothingToRemove(intent, plan.plan) : null;
  if (nothing !== null) return { ...base, state: 'gone', shown: { ...unwritten(intent), warnings: [nothing] } };
  if (isCarriedOut && plan.plan.error === null) {
    const differs = item.planned === null ? unplannedRemoval : differenceFrom(context, intent, item.planned, plan.plan);
    if (differs !== null && differs.errors.length > 0)
      return { ...base, state: 'refused', shown: { ...shown, ...differs } };
  }
  if (plan.plan.error !== null) return { ...base, state: 'refused', shown };
  const isSame = intent.action.verb !== 'delete' && plan.plan.changes.length === 0;
  return { ...base, state: isSame ? 'same' : 'ready', shown };
}

const unplannedRemoval = {
  result: 'NONE' as const,
  errors: [writeError('PLAN_CHANGED', 'It would be written, and the plan does not say so: plan again.')],
};

/** Why there is nothing to remove; null for an object that is to be removed, and for every other write. */
function nothingToRemove({ action }: WriteIntent, { error, live }: PlannedWrite): string | null {
  if (error === null || (action.verb !== 'delete' && action.verb !== 'patch')) return null;
  if (error.code === 'NOT_FOUND' && live === null) return 'It is gone already.';
  if (error.code === 'STALE_OBJECT' && live !== null) return 'Another object has its name now: it is left.';
  return error.code === 'SKIPPED' ? error.message : null;
}

/** The place of an object in the plan that is carried out; null without one. */
export function plannedAt(
  targets: readonly PlannedTarget[] | undefined,
  { target: { resource, name } }: WriteIntent,
): PlannedTarget | null {
  return (
    targets?.find(
      (each) =>
        each.target.resource.group === resource.group &&
        each.target.resource.plural === resource.plural &&
        each.target.name === name,
    ) ?? null
  );
}

/** The items of a mutation that is refused as a whole. */
export function refusedItems(checks: readonly Check[]): readonly WriteItem[] {
  return checks.map(({ state, shown, intent }) => (state === 'refused' ? shown : unwritten(intent, othersRefused)));
}

export const othersRefused: WriteError = writeError(
  'SKIPPED',
  'Another object of the set cannot be written, so nothing is.',
);

/** Fields that are named in a warning. */
const mostFields = 5;
/** Changes whose managers are looked up. */
const mostChanges = 1000;

/** Names the fields that an adoption takes, and their managers. */
export function adoptionWarning({ live, changes }: PlannedWrite): string {
  const taken = changes.slice(0, mostChanges).flatMap(({ steps }) => {
    const owners = ownersOf(live, steps);
    return owners.length === 0 ? [] : [`${pathOfChange(steps)} (${owners.join(', ')})`];
  });
  if (taken.length === 0) {
    if (changes.length > mostChanges) {
      return `It is adopted. None of the first ${mostChanges} fields that change is taken from another manager.`;
    }
    return 'It is adopted. No field is taken from another manager.';
  }
  const least = changes.length > mostChanges ? 'at least ' : '';
  const more = taken.length > mostFields ? `, and ${least}${taken.length - mostFields} more` : '';
  return `It is adopted. Fields taken from other managers: ${taken.slice(0, mostFields).join(', ')}${more}.`;
}

/** Do both sets have the same fields? */
export function sameFields(left: unknown, right: unknown): boolean {
  return sealedText(left) === sealedText(right);
}
