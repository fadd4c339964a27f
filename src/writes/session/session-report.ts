/** The report of a mutation: waits until the tables show what was written, and makes the token for other replicas. */
import { type PlannedTarget, sealPlan } from '../plan/plan-id.ts';
import { type Awaited, seen } from '../run/seen.ts';
import type { WriteItem } from '../run/write-item.ts';
import { tokenOf } from '../run/write-token.ts';
import { identityIn, type ReportedItem, reportedItem } from './reported-item.ts';
import type { WriteSession } from './write-session.ts';

export interface WriteReport {
  /** Of a dry run. */
  readonly planId: string | null;
  /** The token of the writes, for readers at any replica; null if nothing was written. */
  readonly token: string | null;
  /** Has no item an error? */
  readonly complete: boolean;
  /** In the order of the targets. */
  readonly items: readonly ReportedItem[];
}

/** The report of a dry run. @param at the time that a restart writes, in milliseconds since the epoch */
export function planReport(
  { operation, scope, context }: WriteSession,
  outcomes: readonly WriteItem[],
  { at, targets }: { readonly at: number; readonly targets: readonly PlannedTarget[] },
): WriteReport {
  const items = outcomes.map((outcome) => reportedItem(context.redacted, outcome, false));
  operation.renewSnapshot();
  return { planId: sealPlan(scope, { at, targets }), token: null, complete: isComplete(outcomes), items };
}

/** The report of what was written. Waits at most `waitMs` of the options. */
export async function writtenReport(
  { operation, options, context }: WriteSession,
  outcomes: readonly WriteItem[],
): Promise<WriteReport> {
  const awaited = outcomes.flatMap((outcome): readonly (Awaited & { readonly outcome: WriteItem })[] => {
    const { written, result } = outcome;
    const identity = identityIn(outcome);
    // An object whose write was undone has another version by now, or is gone.
    if (written === null || identity === null || result === 'REVERTED') return [];
    return [{ outcome, identity, ...written, isRemoval: result === 'DELETED' || result === 'EVICTED' }];
  });
  const shown = await seen(operation, awaited, options.waitMs, context.signal);
  const isSeen = new Map(awaited.map(({ outcome }, index) => [outcome, shown[index] ?? false]));
  // The rest of the answer reads a snapshot that has the writes.
  operation.renewSnapshot();
  return {
    planId: null,
    token: tokenOf(awaited),
    complete: isComplete(outcomes),
    items: outcomes.map((outcome) => reportedItem(context.redacted, outcome, isSeen.get(outcome) ?? false)),
  };
}

function isComplete(outcomes: readonly WriteItem[]): boolean {
  return outcomes.every(({ errors }) => errors.length === 0);
}
