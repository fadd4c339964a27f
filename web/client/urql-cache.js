import { joinedEnds, listArguments, pageFacts, placePage, rememberCursors } from './list-pages.js';
import { itemKeys, kindName, removedBy } from './shared-policies.js';

/** Fields that may identify the items of a list inside an object. The first field that all items have with distinct values is the key. */
const ownKeys = [...new Set(Object.values(itemKeys))];

const ofChange = new RegExp(`^${kindName}Changes?$`);

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
  if (typeof data.id !== 'string' || ofChange.test(data.__typename)) return null;
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
        ? ownKeys.find(
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
  const list = listArguments(args);
  const pages = cache
    .inspectFields(info.parentKey)
    .filter((field) => field.fieldName === info.fieldName && listArguments(field.arguments) === list)
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
      facts = { ...facts, ...joinedEnds(facts, page.facts, page.items, { before, after }) };
      items = [...before, ...page.items, ...after];
    }
  }
  return { items, facts, pages: taken };
}

const ends = ['startCursor', 'endCursor', 'hasNextPage', 'hasPreviousPage'];

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
  /** @type {Item[]} */
  const items = Array.isArray(edges)
    ? edges.map((edge) => ({
        key: cache.resolve(edge, 'node'),
        cursor: cache.resolve(edge, 'cursor') ?? undefined,
        edge,
      }))
    : nodes.map((/** @type {string} */ key) => ({ key }));
  const changesCursor = cache.resolve(connection, 'changesCursor');
  const info = typeof pageInfo === 'string' ? ends.map((name) => [name, cache.resolve(pageInfo, name)]) : [];
  const facts = pageFacts(args, Object.fromEntries(info), items);
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
  const removed = removedBy(cache, message, args['filter'], (type, id) => `${type}:${id}`);
  if (removed === null) return;
  for (const field of cache.inspectFields('Query')) {
    const connection = cache.resolve('Query', field.fieldKey);
    if (typeof connection !== 'string') continue;
    const name = String(cache.resolve(connection, '__typename'));
    if (!name.endsWith('Connection')) continue;
    const isSame = removed.isOf(name, field.arguments?.['filter']);
    for (const part of ['nodes', 'edges']) {
      const items = cache.resolve(connection, part);
      if (!Array.isArray(items)) continue;
      const left = items.filter((item) => {
        const key = part === 'nodes' ? item : cache.resolve(item, 'node');
        return typeof key !== 'string' || removed.keeps(key, isSame);
      });
      if (left.length < items.length) cache.link(connection, part, left);
    }
  }
  for (const entity of removed.gone) cache.invalidate(entity);
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
