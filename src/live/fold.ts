/**
 * From the log's changes to what one subscriber is told: at most one change for each object in a message, judged by the object
 * before the first and after the last of them. An object that was deleted and made anew is told in two messages, REMOVED and
 * then ADDED, because it is another object with the same name.
 *
 * Invariant: who held what matched before the changes, and takes the messages in up to one, holds what matched at its `upTo`.
 */

import { isVisible, type Scopes } from '../access/scope.ts';
import { matches } from '../query/evaluate/matches.ts';
import type { Filter, Identity } from '../query/plan/filter.ts';
import type { FeedChange } from './feed-change.ts';

export type RemovalReason = 'DELETED' | 'NO_LONGER_MATCHES';

export interface FoldedChange {
  readonly type: 'ADDED' | 'MODIFIED' | 'REMOVED';
  readonly identity: Identity;
  readonly uid: string | null;
  /** The first and the last of the changes that were folded into this one. */
  readonly first: FeedChange;
  readonly last: FeedChange;
  readonly reason: RemovalReason | null;
}

export interface FoldedMessage {
  /** Never empty. */
  readonly changes: readonly FoldedChange[];
  /** Sequence number up to which every change is taken in by this message and those before it. */
  readonly upTo: number;
}

/** Which objects a subscriber follows: those that match the filter, and that the caller may see. */
interface Wanted {
  readonly filter: Filter;
  readonly scopes: Scopes;
}

interface Pending {
  first: FeedChange;
  last: FeedChange;
}

/**
 * The messages to send for these changes of one kind, in the order of the log, complete up to `upTo`.
 * @param key resourceKey of the kind.
 */
export function fold(
  key: string,
  changes: readonly FeedChange[],
  upTo: number,
  wanted: Wanted,
): readonly FoldedMessage[] {
  const messages: FoldedMessage[] = [];
  let pending = new Map<string, Pending>();

  const flush = (reached: number): void => {
    const folded = [...pending.values()].flatMap(({ first, last }) => judge(key, first, last, wanted));
    if (folded.length > 0) messages.push({ changes: folded, upTo: reached });
    pending = new Map();
  };

  for (const change of changes) {
    const { logged } = change;
    const id = `${logged.cluster}\n${logged.namespace ?? ''}\n${logged.name}`;
    const known = pending.get(id);
    if (known === undefined) {
      pending.set(id, { first: change, last: change });
    } else if (logged.type === 'ADDED') {
      flush(logged.seq - 1);
      pending.set(id, { first: change, last: change });
    } else {
      known.last = change;
    }
  }
  flush(upTo);
  return messages;
}

function judge(key: string, first: FeedChange, last: FeedChange, { filter, scopes }: Wanted): readonly FoldedChange[] {
  if (!isVisible(scopes.of(key))) return [];
  const { cluster, namespace, name } = last.logged;
  const identity: Identity = { cluster, key, namespace, name };
  const before = first.before();
  const after = last.after();
  const did = before !== null && matches(filter, { ...identity, body: before });
  const does = after !== null && matches(filter, { ...identity, body: after });
  if (!did && !does) return [];
  const type = did ? (does ? 'MODIFIED' : 'REMOVED') : 'ADDED';
  const reason = type !== 'REMOVED' ? null : after === null ? 'DELETED' : 'NO_LONGER_MATCHES';
  return [{ type, identity, uid: last.logged.uid, first, last, reason }];
}
