/**
 * From the log's changes to what one subscriber is told: at most one change for each object in a message, judged by the object
 * before the first and after the last of them. An object that was deleted and made anew is told in two messages, REMOVED and
 * then ADDED, because it is another object with the same name.
 */
import type { Filter, Identity } from '../query/filter.ts';
import { matches } from '../query/matches.ts';
import type { FeedChange } from './change-feed.ts';

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

interface Pending {
  first: FeedChange;
  last: FeedChange;
}

/** One list for each message to send; a list is never empty. */
export function fold(
  key: string,
  changes: readonly FeedChange[],
  filter: Filter,
): readonly (readonly FoldedChange[])[] {
  const messages: (readonly FoldedChange[])[] = [];
  let pending = new Map<string, Pending>();

  const flush = (): void => {
    const folded = [...pending.values()].flatMap(({ first, last }) => judge(key, first, last, filter));
    if (folded.length > 0) messages.push(folded);
    pending = new Map();
  };

  for (const change of changes) {
    const { logged } = change;
    if (logged.type === 'RESET') continue;
    const id = `${logged.cluster}\n${logged.namespace ?? ''}\n${logged.name}`;
    const known = pending.get(id);
    if (known === undefined) {
      pending.set(id, { first: change, last: change });
    } else if (logged.type === 'ADDED') {
      flush();
      pending.set(id, { first: change, last: change });
    } else {
      known.last = change;
    }
  }
  flush();
  return messages;
}

function judge(key: string, first: FeedChange, last: FeedChange, filter: Filter): readonly FoldedChange[] {
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
