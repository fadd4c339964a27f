import { stableText } from './list-pages.js';

/**
 * The name of a kind's type. It has letters and digits. If a Kind ends like a generated type (FooFilter), the name has "_" before that
 * ending (Foo_Filter).
 */
export const kindName = '[A-Za-z0-9]+(?:_(?:Connection|Edge|Filter|Changes?|Payload|Input))?';

/** The field that identifies an item of a list, as in Kubernetes. Two answers may contain different fields of one item. */
export const itemKeys = {
  conditions: 'type',
  containers: 'name',
  initContainers: 'name',
  ephemeralContainers: 'name',
  containerStatuses: 'name',
  initContainerStatuses: 'name',
  ephemeralContainerStatuses: 'name',
  env: 'name',
  volumes: 'name',
  volumeMounts: 'mountPath',
  ownerReferences: 'uid',
  columns: 'name',
};

/** The keys in an unfinished snapshot, by cache, and by type and filter. @type {WeakMap<object, Map<string, Set<string>>>} */
const snapshots = new WeakMap();

/**
 * Finds the objects that a message of a subscription removes from the cached lists. Null if there are none.
 * @param {object} cache
 * @param {any} message
 * @param {unknown} filter That of the subscription.
 * @param {(type: string, id: string) => string} keyOf The cache's key of an object.
 */
export function removedBy(cache, message, filter, keyOf) {
  const type = String(message.__typename).replace(/Changes$/, '');
  const text = stableText(filter);
  const unfiltered = text === 'null' || text === '{}';
  const mine = snapshots.get(cache) ?? new Map();
  snapshots.set(cache, mine);
  if (message.reset) mine.set(`${type} ${text}`, new Set());
  const named = mine.get(`${type} ${text}`);
  /** @type {Set<string>} */
  const gone = new Set();
  /** @type {Set<string>} */
  const unlisted = new Set();
  for (const { type: change, id, reason } of message.changes) {
    const key = keyOf(type, id);
    if (change !== 'REMOVED') named?.add(key);
    else (reason === 'DELETED' || unfiltered ? gone : unlisted).add(key);
  }
  const whole = message.phase === 'SYNCED' && named !== undefined;
  if (whole) mine.delete(`${type} ${text}`);
  if (gone.size === 0 && unlisted.size === 0 && !whole) return null;
  return {
    /** Complete when every list has been asked for its objects. */
    gone,

    /** Is a cached list the one of the subscription? */
    isOf: (/** @type {string} */ connection, /** @type {unknown} */ itsFilter) =>
      connection === `${type}Connection` && stableText(itsFilter) === text,

    keeps(/** @type {string} */ key, /** @type {boolean} */ isSame) {
      if (gone.has(key) || (isSame && unlisted.has(key))) return false;
      if (!whole || !key.startsWith(`${type}:`) || !(isSame || unfiltered) || named.has(key)) return true;
      if (unfiltered) gone.add(key);
      return false;
    },
  };
}
