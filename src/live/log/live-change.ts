/** The changes that messages of a live list carry. Made once for all subscribers that need the same ones. */
import { isAbstractKey } from '../../catalog/groups/api-group.ts';
import type { HealthRules } from '../../catalog/health/declared-health.ts';
import { healthOf } from '../../catalog/health/health.ts';
import { changedPaths } from '../../catalog/values/changed-paths.ts';
import { recordOf } from '../../catalog/values/displayed-value.ts';
import type { ObjectRow } from '../../query/plan/plan.ts';
import type { FoldedChange, RemovalReason } from './fold.ts';

export interface LiveChange {
  readonly type: 'ADDED' | 'MODIFIED' | 'REMOVED';
  readonly identity: Pick<ObjectRow, 'cluster' | 'key' | 'namespace' | 'name'>;
  readonly uid: string | null;
  /** Null when REMOVED. */
  readonly object: ObjectRow | null;
  /**
   * The object before the changes; for a deleted one, its last state. Null when ADDED, and for an object that the caller may
   * not see now.
   */
  readonly previous: ObjectRow | null;
  readonly reason: RemovalReason | null;
  /** Only for MODIFIED. */
  changedPaths(): readonly string[] | null;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** Tells whether what a subscription shows of an object has changed. */
export interface ShownParts {
  /** Equal ids mean equal parts. */
  readonly id: string;
  differ(before: ObjectRow, after: ObjectRow): boolean;
}

/** How the changes of a kind are shown. */
interface ShownKind {
  /** The declared rules of the kind's health. */
  readonly health?: HealthRules | undefined;
  /** A MODIFIED without a difference in these parts is left out. Absent: none is left out. */
  readonly shown?: ShownParts | undefined;
}

/** Changes of the log, as they are for the subscribers of one filter and scope. */
export function liveChanges(folded: readonly FoldedChange[], { health, shown }: ShownKind): readonly LiveChange[] {
  const changes = folded.map((change) => liveChange(change, health));
  if (shown === undefined) return changes;
  return changes.filter(
    ({ type, previous, object }) =>
      type !== 'MODIFIED' || previous === null || object === null || shown.differ(previous, object),
  );
}

function liveChange(
  { type, identity, uid, first, last, reason }: FoldedChange,
  health: HealthRules | undefined,
): LiveChange {
  const { objectId, resourceVersion, seq, at } = last.logged;
  const row = { ...identity, objectId, uid, seq };
  const isKnownBefore = type !== 'ADDED' && reason !== 'NO_LONGER_VISIBLE';
  const from = reason === 'DELETED' ? last : first;
  return {
    type,
    identity,
    uid,
    object: type === 'REMOVED' ? null : lazyRow(row, () => last.after(), health, resourceVersion),
    previous: isKnownBefore ? lazyRow(row, () => from.before(), health, null) : null,
    reason,
    changedPaths: () =>
      type === 'MODIFIED' ? changedPaths(first.before(), last.after(), isAbstractKey(identity.key)) : null,
    at,
  };
}

/**
 * An object whose body and health are made when a subscriber shows something of them.
 * @param version its resourceVersion; null for the one in the body
 */
function lazyRow(
  rest: Omit<ObjectRow, 'body' | 'health' | 'resourceVersion'>,
  read: () => unknown,
  rules: HealthRules | undefined,
  version: string | null,
): ObjectRow {
  let body: { readonly value: unknown } | null = null;
  let health: ObjectRow['health'] | null = null;
  const bodyNow = (): unknown => {
    body ??= { value: read() };
    return body.value;
  };
  return {
    ...rest,
    get resourceVersion() {
      return version ?? String(recordOf(recordOf(bodyNow())?.['metadata'])?.['resourceVersion'] ?? '');
    },
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
  return { type: 'ADDED', identity, uid, object: row, previous: null, reason: null, changedPaths: () => null, at };
}

/** An object that the caller may no longer see. It does not tell whether the object was changed since. */
export function hiddenObject({ cluster, key, namespace, name }: LiveChange['identity'], at: number): LiveChange {
  const identity = { cluster, key, namespace, name };
  const reason = 'NO_LONGER_VISIBLE';
  return { type: 'REMOVED', identity, uid: null, object: null, previous: null, reason, changedPaths: () => null, at };
}

/** By how much the changes alter the number of matches. */
export function countDelta(changes: readonly Pick<LiveChange, 'type'>[]): number {
  return changes.reduce((sum, { type }) => sum + (type === 'ADDED' ? 1 : type === 'REMOVED' ? -1 : 0), 0);
}
