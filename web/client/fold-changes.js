/**
 * A change of a subscription, from `changes { type id object { … } }`.
 * @template T
 * @typedef {object} Change
 * @property {string} type ADDED, MODIFIED or REMOVED.
 * @property {string} id
 * @property {T | null} [object] Null when REMOVED.
 * @property {string | null} [reason] Why REMOVED: DELETED, NO_LONGER_MATCHES or NO_LONGER_VISIBLE.
 */

/**
 * A message of a subscription: the value of its root field.
 * @template T
 * @typedef {object} Message
 * @property {string} phase SNAPSHOT, SYNCED, LIVE or GAP.
 * @property {boolean} reset
 * @property {string} cursor
 * @property {readonly string[]} [removedIds]
 * @property {readonly Change<T>[]} changes
 */

/**
 * A client's copy of a live list.
 * @template T
 * @typedef {object} Held
 * @property {ReadonlyMap<string, T>} byId In order of arrival; a changed object keeps its position.
 * @property {readonly T[]} objects The values of `byId` as a list.
 * @property {string | null} cursor The `since` to resume with; null until the copy is complete.
 * @property {boolean} whole False until the first SYNCED, and again from a GAP or a new snapshot until the next SYNCED.
 */

/**
 * An empty copy, or a copy of a list that was read: `hold(list.nodes, list.changesCursor)`. Its `cursor` is the `since` to start
 * with.
 * @template {{ readonly id: string }} T
 * @param {readonly T[]} [objects]
 * @param {string | null} [cursor]
 * @returns {Held<T>}
 */
export function hold(objects = [], cursor = null) {
  return { byId: new Map(objects.map((object) => [object.id, object])), objects, cursor, whole: cursor !== null };
}

/**
 * Returns the copy after one message. `held` itself is not changed. Folding a message twice gives the same result as once,
 * because a client that reconnects may receive a message again.
 * @template T
 * @param {Held<T>} held
 * @param {Message<T>} message
 * @returns {Held<T>}
 */
export function foldChanges(held, message) {
  const byId = new Map(message.reset ? [] : held.byId);
  for (const { type, id, object } of message.changes) {
    if (type === 'REMOVED') byId.delete(id);
    else if (object !== null && object !== undefined) byId.set(id, object);
  }
  for (const id of message.removedIds ?? []) byId.delete(id);
  const whole = message.phase === 'SYNCED' || (message.phase === 'LIVE' && held.whole);
  const same = !message.reset && message.changes.length === 0 && (message.removedIds ?? []).length === 0;
  return {
    byId: same ? held.byId : byId,
    objects: same ? held.objects : [...byId.values()],
    cursor: whole ? message.cursor : null,
    whole,
  };
}
