/**
 * Folds the log's changes into the messages for one subscriber. A message has at most one change for each object. Its type
 * depends on whether the object matched before the first and after the last of its folded changes.
 *
 *   a matched before, a matches after   MODIFIED
 *   a matched before only               REMOVED, because it was DELETED or NO_LONGER_MATCHES
 *   a matches after only                ADDED
 *   a may no longer be seen             REMOVED as NO_LONGER_VISIBLE, whatever became of it
 *   neither                             no change
 *
 * An object that was deleted and created again gives REMOVED and ADDED in two messages, because it is a new object with the same
 * name.
 *
 * Example, with a filter that matches everything:
 *
 *   5 a ADDED, 6 a MODIFIED, 7 b DELETED, 8 b ADDED   ->   [ADDED a, REMOVED b] up to 7, then [ADDED b] up to 8
 *
 * Invariant: a client that has the matches before the changes, and applies the messages up to one, has the matches at its `upTo`.
 */

import { isVisible, type Scope } from '../../access/scope.ts';
import type { HealthRules } from '../../catalog/health/declared-health.ts';
import { matches } from '../../query/evaluate/matches.ts';
import { matchesIdentity } from '../../query/evaluate/matches-identity.ts';
import { membersRead } from '../../query/evaluate/members-read.ts';
import type { Filter, Identity } from '../../query/plan/filter.ts';
import type { FeedChange } from './feed-change.ts';

export type RemovalReason = 'DELETED' | 'NO_LONGER_MATCHES' | 'NO_LONGER_VISIBLE';

export interface FoldedChange {
  readonly type: 'ADDED' | 'MODIFIED' | 'REMOVED';
  readonly identity: Identity;
  readonly uid: string | null;
  /** The first and the last of the folded changes. */
  readonly first: FeedChange;
  readonly last: FeedChange;
  readonly reason: RemovalReason | null;
}

interface FoldedMessage {
  /** Never empty. */
  readonly changes: readonly FoldedChange[];
  /** This message and the messages before it cover all changes up to this sequence number. */
  readonly upTo: number;
}

/** The objects that a subscriber follows: they match the filter, and the caller may see them. */
interface Wanted {
  readonly filter: Filter;
  /** The rows that the caller may see after the changes. */
  readonly scope: Scope;
  /** The rows that the client could see before the changes; default `scope`. */
  readonly before?: Scope;
}

interface FoldedKind {
  /** resourceKey */
  readonly key: string;
  readonly health?: HealthRules | undefined;
}

interface Pending {
  first: FeedChange;
  last: FeedChange;
}

/**
 * The messages for these changes of one kind, in the order of the log.
 * @param kind its resourceKey and the declared rules of its health
 * @param upTo `changes` has all changes of the kind up to this sequence number.
 */
export function fold(
  kind: FoldedKind,
  changes: readonly FeedChange[],
  upTo: number,
  wanted: Wanted,
): readonly FoldedMessage[] {
  const messages: FoldedMessage[] = [];
  let pending = new Map<string, Pending>();

  const judged = new Set<string>();

  const flush = (reached: number): void => {
    const folded = [...pending].flatMap(([id, { first, last }]) => {
      const before = judged.has(id) ? wanted.scope : (wanted.before ?? wanted.scope);
      judged.add(id);
      return judge(kind, first, last, { ...wanted, before });
    });
    if (folded.length > 0) messages.push({ changes: folded, upTo: reached });
    pending = new Map();
  };

  for (const change of changes) {
    const { logged } = change;
    // Changes of an object that is hidden now divide no message.
    const isSeen = isVisible(wanted.scope, logged);
    if (!isSeen && (wanted.before === undefined || !isVisible(wanted.before, logged))) continue;
    const id = `${logged.cluster}\n${logged.namespace ?? ''}\n${logged.name}`;
    const known = pending.get(id);
    if (known === undefined) {
      pending.set(id, { first: change, last: change });
    } else if (logged.type === 'ADDED' && isSeen) {
      flush(logged.seq - 1);
      pending.set(id, { first: change, last: change });
    } else {
      known.last = change;
    }
  }
  flush(upTo);
  return messages;
}

function judge(
  { key, health }: FoldedKind,
  first: FeedChange,
  last: FeedChange,
  { filter, scope, before: scopeBefore }: Required<Wanted>,
): readonly FoldedChange[] {
  const { cluster, namespace, name } = last.logged;
  const identity: Identity = { cluster, key, namespace, name };
  const isSeen = isVisible(scope, identity);
  const wasSeen = scopeBefore === scope ? isSeen : isVisible(scopeBefore, identity);
  if (!isSeen && !wasSeen) return [];
  const existed = wasSeen && first.hasBefore;
  const exists = isSeen && last.hasAfter;
  const always = matchesIdentity(filter, identity);
  const matched =
    existed && (always ?? matches(filter, { ...identity, health, body: first.before(membersRead(filter)) }));
  const stillMatches =
    exists && (always ?? matches(filter, { ...identity, health, body: last.after(membersRead(filter)) }));
  if (!matched && !stillMatches) return [];
  const type = matched ? (stillMatches ? 'MODIFIED' : 'REMOVED') : 'ADDED';
  const why = !isSeen ? 'NO_LONGER_VISIBLE' : exists ? 'NO_LONGER_MATCHES' : 'DELETED';
  const reason = type === 'REMOVED' ? why : null;
  return [{ type, identity, uid: last.logged.uid, first, last, reason }];
}
