/** The changes that messages of a live list carry. Made once for all subscribers that need the same ones. */
import { isAbstractKey } from '../../catalog/groups/api-group.ts';
import type { HealthRules } from '../../catalog/health/declared-health.ts';
import { healthOf } from '../../catalog/health/health.ts';
import { changedPaths } from '../../catalog/values/changed-paths.ts';
import type { ObjectRow } from '../../query/plan/plan.ts';
import type { FeedChange } from './feed-change.ts';
import type { FoldedChange, RemovalReason } from './fold.ts';

export interface LiveChange {
  readonly type: 'ADDED' | 'MODIFIED' | 'REMOVED';
  readonly identity: Pick<ObjectRow, 'cluster' | 'key' | 'namespace' | 'name'>;
  readonly uid: string | null;
  /** Null when REMOVED. */
  readonly object: ObjectRow | null;
  readonly reason: RemovalReason | null;
  /** Only for MODIFIED. */
  changedPaths(): readonly string[] | null;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/**
 * A change of the log, as it is for the subscribers of one filter and scope.
 * @param health the declared rules of the kind's health
 */
export function liveChange(
  { type, identity, uid, first, last, reason }: FoldedChange,
  health: HealthRules | undefined,
): LiveChange {
  const { logged } = last;
  const { objectId, resourceVersion, seq } = logged;
  return {
    type,
    identity,
    uid,
    object: type === 'REMOVED' ? null : changedRow(last, { ...identity, objectId, uid, resourceVersion, seq }, health),
    reason,
    changedPaths: () =>
      type === 'MODIFIED' ? changedPaths(first.before(), last.after(), isAbstractKey(identity.key)) : null,
    at: logged.at,
  };
}

/** The object after a change. Its body and its health are made when a subscriber shows something of them. */
function changedRow(
  change: FeedChange,
  rest: Omit<ObjectRow, 'body' | 'health'>,
  rules: HealthRules | undefined,
): ObjectRow {
  let body: { readonly value: unknown } | null = null;
  let health: ObjectRow['health'] | null = null;
  const bodyNow = (): unknown => {
    body ??= { value: change.after() };
    return body.value;
  };
  return {
    ...rest,
    get body() {
      return bodyNow();
    },
    get health() {
      health ??= healthOf(bodyNow(), rules);
      return health;
    },
  };
}

/** An object that is now among the matches, though it did not change. */
export function addedRow(row: ObjectRow, at: number): LiveChange {
  const { cluster, key, namespace, name, uid } = row;
  const identity = { cluster, key, namespace, name };
  return { type: 'ADDED', identity, uid, object: row, reason: null, changedPaths: () => null, at };
}

/** An object that the caller may no longer see. It does not tell whether the object was changed since. */
export function hiddenObject({ cluster, key, namespace, name }: LiveChange['identity'], at: number): LiveChange {
  const identity = { cluster, key, namespace, name };
  const reason = 'NO_LONGER_VISIBLE';
  return { type: 'REMOVED', identity, uid: null, object: null, reason, changedPaths: () => null, at };
}

/** By how much the changes alter the number of matches. */
export function countDelta(changes: readonly Pick<LiveChange, 'type'>[]): number {
  return changes.reduce((sum, { type }) => sum + (type === 'ADDED' ? 1 : type === 'REMOVED' ? -1 : 0), 0);
}
