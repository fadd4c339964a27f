import { pageArguments, placePage, rememberCursors, stableText } from './list-pages.js';

/** Fields that may identify the items of a list inside an object. The first field that all items have with distinct values is the key. */
const itemKeys = ['type', 'name', 'mountPath', 'uid'];

/** The keys of items in lists inside objects, set when keyOf first visits their object. @type {WeakMap<object, string>} */
const keyOfItem = new WeakMap();
/** @type {WeakSet<object>} */
const visited = new WeakSet();

/**
 * The key of an object is its id. An item of a keyed list inside an object (conditions by type, containers by name) gets a key
 * too. It consists of the object's id, the path and the item's own key. Otherwise graphcache would identify items by index, and
 * mix up two conditions whose order changed. Everything else has no key and is stored inside its object. A change has the id of
 * its object, but is not that object.
 * @param {any} data
 * @returns {string | null}
 */
function keyOf(data) {
  const own = keyOfItem.get(data);
  if (own !== undefined) return own;
  // The order of groups can change, so their index does not identify them. A cursor contains the list's fingerprint and the group's keys.
  if (data.__typename === 'Group' && typeof data.cursor === 'string') return data.cursor;
  if (typeof data.id !== 'string' || /Changes?$/.test(data.__typename.replace(/_Changes?$/, ''))) return null;
  if (!visited.has(data)) {
    visited.add(data);
    findItems(data, data.id);
  }
  return data.id;
}

/**
 * @param {any} data
 * @param {string} path
 */
function findItems(data, path) {
  for (const [field, value] of Object.entries(data)) {
    if (Array.isArray(value)) {
      const key = value.every((item) => item?.__typename !== undefined && item.id === undefined)
        ? itemKeys.find(
            (name) =>
              value.every((item) => item[name]) && new Set(value.map((item) => item[name])).size === value.length,
          )
        : undefined;
      for (const [index, item] of value.entries()) {
        if (item?.__typename === undefined || item.id !== undefined) continue;
        const place = `${path}.${field}[${key === undefined ? index : item[key]}]`;
        if (key !== undefined) keyOfItem.set(item, place);
        findItems(item, place);
      }
    } else if (
      value !== null &&
      typeof value === 'object' &&
      value.__typename !== undefined &&
      value.id === undefined
    ) {
      findItems(value, `${path}.${field}`);
    }
  }
}

/**
 * A record with a value for every name, so that it need not list kinds.
 * @template T
 * @param {(name: string) => T} valueFor
 * @returns {Record<string, T>}
 */
function everyName(valueFor) {
  return new Proxy({}, { get: (_none, name) => (typeof name === 'string' ? valueFor(name) : undefined) });
}

/**
 * @typedef {object} Cache The part of graphcache's cache that is used here.
 * @property {(entity: any, field: string, args?: any) => any} resolve
 * @property {(entity: any) => { fieldName: string, fieldKey: string, arguments: Record<string, any> | null }[]} inspectFields
 * @property {(entity: any, field?: string, args?: any) => void} invalidate
 * @property {(entity: any, field: string, args: any, link?: any) => void} link
 */

/**
 * Resolves a field from the cache. A list contains the requested page and all cached pages that connect to it, forward or backward,
 * read through `edges` or through `nodes`. Each object appears once.
 * @param {unknown} _parent
 * @param {Record<string, any>} args
 * @param {Cache} cache
 * @param {{ parentKey: string, parentFieldKey: string, fieldName: string }} info
 * @returns {any}
 */
function readList(_parent, args, cache, info) {
  const requested = cache.resolve(info.parentKey, info.parentFieldKey);
  if (typeof requested !== 'string' || !/Connection$/.test(String(cache.resolve(requested, '__typename'))))
    return requested;
  const list = ownArguments(args);
  const pages = cache
    .inspectFields(info.parentKey)
    .filter((field) => field.fieldName === info.fieldName && ownArguments(field.arguments) === list)
    .flatMap((field) => readPage(cache, info.parentKey, field.fieldKey, field.arguments ?? {}));
  const own = pages.find((page) => page.fieldKey === info.parentFieldKey);
  if (own === undefined) return requested;

  // Joins pages to the beginning of the list. If the requested page does not connect to it, joins pages to the requested page.
  const begin = pages.find((page) => page.facts.after === null && page.facts.before === null) ?? own;
  const whole = join(begin, pages);
  const shown = whole.pages.includes(own) ? whole : join(own, pages);
  const { startCursor, endCursor, hasNextPage, hasPreviousPage } = shown.facts;
  const cursors = shown.pages.flatMap((page) => page.changesCursor ?? []).sort((a, b) => orderOf(a) - orderOf(b));
  // Fields omitted here are read from the requested page, if it has them.
  return {
    __typename: cache.resolve(own.connection, '__typename'),
    ...(own.hasNodes ? { nodes: shown.items.map((item) => item.key) } : {}),
    ...(shown.pages.every((page) => page.hasEdges) ? { edges: shown.items.map((item) => item.edge) } : {}),
    ...(own.hasPageInfo
      ? { pageInfo: { __typename: 'PageInfo', startCursor, endCursor, hasNextPage, hasPreviousPage } }
      : {}),
    // A subscription must continue from the oldest of the joined pages.
    ...(own.changesCursor === undefined ? {} : { changesCursor: cursors[0] }),
  };
}

/** The order in which cursors were first seen, because cursors contain no time. @type {Map<string, number>} */
const seen = new Map();

/** @param {string} cursor */
function orderOf(cursor) {
  const known = seen.get(cursor);
  if (known !== undefined) return known;
  seen.set(cursor, seen.size);
  return seen.size - 1;
}

/**
 * The arguments that select the list, without those that select a page.
 * @param {Record<string, any> | null} args
 */
function ownArguments(args) {
  return stableText(Object.fromEntries(Object.entries(args ?? {}).filter(([name]) => !pageArguments.has(name))));
}

/**
 * @typedef {{ readonly key: string, readonly cursor?: string | undefined, readonly edge?: string | undefined }} Item
 * @typedef {import('./list-pages.js').PageFacts} Facts
 */

/**
 * A page of a list in the cache.
 * @typedef {object} Page
 * @property {string} fieldKey
 * @property {string} connection
 * @property {readonly Item[]} items
 * @property {Facts} facts
 * @property {boolean} hasNodes
 * @property {boolean} hasEdges
 * @property {boolean} hasPageInfo
 * @property {string} [changesCursor]
 */

/**
 * @param {Page} begin
 * @param {readonly Page[]} pages
 */
function join(begin, pages) {
  let items = begin.items;
  let facts = { ...begin.facts };
  const taken = [begin];
  for (let again = true; again; ) {
    again = false;
    for (const page of pages) {
      if (taken.includes(page) || (page.facts.after === null && page.facts.before === null)) continue;
      const { before, after, connected } = placePage(items, page.items, page.facts);
      if (!connected) continue;
      taken.push(page);
      again = true;
      const [from, to] = [facts, page.facts];
      const first = before.length > 0 || page.items.length === 0 ? from : to;
      const last = after.length > 0 || (page.items.length === 0 && to.before !== null) ? from : to;
      facts = {
        ...from,
        startCursor: first.startCursor,
        hasPreviousPage: first.hasPreviousPage,
        endCursor: page.items.length === 0 ? from.endCursor : last.endCursor,
        hasNextPage: last.hasNextPage,
      };
      items = [...before, ...page.items, ...after];
    }
  }
  return { items, facts, pages: taken };
}

/**
 * @param {Cache} cache
 * @param {string} parent
 * @param {string} fieldKey
 * @param {Record<string, any>} args
 * @returns {Page[]}
 */
function readPage(cache, parent, fieldKey, args) {
  const connection = cache.resolve(parent, fieldKey);
  if (typeof connection !== 'string') return [];
  const edges = cache.resolve(connection, 'edges');
  const nodes = cache.resolve(connection, 'nodes');
  if (!Array.isArray(edges) && !Array.isArray(nodes)) return [];
  const pageInfo = cache.resolve(connection, 'pageInfo');
  const fact = (/** @type {string} */ name) =>
    typeof pageInfo === 'string' ? cache.resolve(pageInfo, name) : undefined;
  /** @type {Item[]} */
  const items = Array.isArray(edges)
    ? edges.map((edge) => ({
        key: cache.resolve(edge, 'node'),
        cursor: cache.resolve(edge, 'cursor') ?? undefined,
        edge,
      }))
    : nodes.map((/** @type {string} */ key) => ({ key }));
  const changesCursor = cache.resolve(connection, 'changesCursor');
  const facts = {
    after: args['after'] ?? null,
    before: args['before'] ?? null,
    last: typeof args['last'] === 'number',
    startCursor: fact('startCursor') ?? items[0]?.cursor ?? null,
    endCursor: fact('endCursor') ?? items.at(-1)?.cursor ?? null,
    hasNextPage: fact('hasNextPage'),
    hasPreviousPage: fact('hasPreviousPage'),
  };
  rememberCursors(items, facts);
  if (typeof changesCursor === 'string') orderOf(changesCursor);
  return [
    {
      fieldKey,
      connection,
      items: items.filter((item) => typeof item.key === 'string'),
      hasNodes: Array.isArray(nodes),
      hasEdges: Array.isArray(edges),
      hasPageInfo: typeof pageInfo === 'string',
      ...(typeof changesCursor === 'string' ? { changesCursor } : {}),
      facts,
    },
  ];
}

/** The ids in an unfinished snapshot, by cache, and by type and filter. @type {WeakMap<object, Map<string, Set<string>>>} */
const snapshots = new WeakMap();

/**
 * Removes from the cached lists the objects that a message of a subscription removes. Select
 * `changes { type id reason object { … } }`.
 *
 * graphcache itself writes changed objects to the cache. Only the gateway can determine the position of an added object in a
 * list. Show it from `foldChanges`, or read the list again.
 * @param {Record<string, any>} result
 * @param {Record<string, any>} args
 * @param {Cache} cache
 * @param {{ fieldName: string }} info
 */
function applyMessage(result, args, cache, info) {
  const message = result[info.fieldName];
  if (!Array.isArray(message?.changes)) return;
  const type = String(message.__typename).replace(/Changes$/, '');
  const filter = stableText(args['filter']);
  const unfiltered = filter === 'null' || filter === '{}';
  const mine = snapshots.get(cache) ?? new Map();
  snapshots.set(cache, mine);
  const key = `${type} ${filter}`;
  if (message.reset) mine.set(key, new Set());
  const named = mine.get(key);
  const gone = new Set();
  const unlisted = new Set();
  for (const { type: change, id, reason } of message.changes) {
    if (change !== 'REMOVED') named?.add(`${type}:${id}`);
    else (reason === 'DELETED' || unfiltered ? gone : unlisted).add(`${type}:${id}`);
  }
  const whole = message.phase === 'SYNCED' && named !== undefined;
  if (whole) mine.delete(key);
  if (gone.size === 0 && unlisted.size === 0 && !whole) return;

  const keeps = (/** @type {unknown} */ entity, /** @type {boolean} */ sameFilter) => {
    if (typeof entity !== 'string') return true;
    if (gone.has(entity) || (sameFilter && unlisted.has(entity))) return false;
    if (!whole || !entity.startsWith(`${type}:`) || !(sameFilter || unfiltered) || named.has(entity)) return true;
    if (unfiltered) gone.add(entity);
    return false;
  };
  for (const field of cache.inspectFields('Query')) {
    const connection = cache.resolve('Query', field.fieldKey);
    if (typeof connection !== 'string') continue;
    const name = String(cache.resolve(connection, '__typename'));
    if (!name.endsWith('Connection')) continue;
    const sameFilter = name === `${type}Connection` && stableText(field.arguments?.['filter']) === filter;
    for (const part of ['nodes', 'edges']) {
      const items = cache.resolve(connection, part);
      if (!Array.isArray(items)) continue;
      const left = items.filter((item) => keeps(part === 'nodes' ? item : cache.resolve(item, 'node'), sameFilter));
      if (left.length < items.length) cache.link(connection, part, left);
    }
  }
  for (const entity of gone) cache.invalidate(entity);
}

/** The list fields of objects. @type {Record<string, typeof readList>} */
const lists = { owned: readList };

/**
 * For `cacheExchange(cacheConfig)` of @urql/exchange-graphcache. It contains no names of kinds. graphcache looks up policies by
 * type and field, and the records here have a value for every name.
 *
 * - Objects have `id`; select it wherever you select an object.
 * - Scalars (DateTime, Quantity, Int64, Duration, IntOrString, JSON, StringMap, QuantityMap) are plain values; the newer one replaces the older.
 * - Groups of an aggregate have their `cursor` as key; select it wherever you select a group.
 * - Lists: see readList. Subscriptions: see applyMessage.
 */
export const cacheConfig = {
  keys: everyName(() => keyOf),
  resolvers: everyName((type) => (type === 'Query' ? everyName(() => readList) : lists)),
  updates: { Subscription: everyName(() => applyMessage) },
  /**
   * Without a list of kinds, graphcache infers from the fields whether a fragment on the interface matches, and warns about it. The
   * inference is correct for objects, so the warning is suppressed.
   * @param {string} severity
   * @param {string} message
   */
  logger(severity, message) {
    if (severity === 'debug' || /^Heuristic Fragment Matching:.*`KubernetesObject`/.test(message)) return;
    // biome-ignore lint/suspicious/noConsole: graphcache itself would write to the console
    console.warn(message);
  },
};
