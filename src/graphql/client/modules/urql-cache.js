import { pageArguments, placePage, rememberCursors, stableText } from './list-pages.js';

/** What tells the items of a list inside an object apart, if all of them have it. */
const itemKeys = ['type', 'name', 'mountPath', 'uid'];

/** The keys of items that stand in lists inside objects, found when their object was met. @type {WeakMap<object, string>} */
const keyOfItem = new WeakMap();
/** @type {WeakSet<object>} */
const met = new WeakSet();

/**
 * The key of an object is its id. What stands in a keyed list of an object (conditions by type, containers by name) gets a key made of
 * the object, the path and its own, because graphcache would otherwise tell items by their index and mix two conditions whose order
 * changed. Everything else has no key and lives inside its object. A change has the id of its object and is not one.
 * @param {any} data
 * @returns {string | null}
 */
function keyOf(data) {
  const own = keyOfItem.get(data);
  if (own !== undefined) return own;
  // Groups come in an order that changes, so their index says nothing. A cursor names the list, the group and its place.
  if (data.__typename === 'Group' && typeof data.cursor === 'string') return data.cursor;
  if (typeof data.id !== 'string' || /Changes?$/.test(data.__typename.replace(/_Changes?$/, ''))) return null;
  if (!met.has(data)) {
    met.add(data);
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
 * A record that has the same for every name, so that it need not list kinds.
 * @template T
 * @param {(name: string) => T} give
 * @returns {Record<string, T>}
 */
function everyName(give) {
  return new Proxy({}, { get: (_none, name) => (typeof name === 'string' ? give(name) : undefined) });
}

/**
 * @typedef {object} Cache The part of graphcache's cache that is used here.
 * @property {(entity: any, field: string, args?: any) => any} resolve
 * @property {(entity: any) => { fieldName: string, fieldKey: string, arguments: Record<string, any> | null }[]} inspectFields
 * @property {(entity: any, field?: string, args?: any) => void} invalidate
 * @property {(entity: any, field: string, args: any, link?: any) => void} link
 */

/**
 * Reads a field as it is, unless it is a list: then all pages of it that were read and that join on to the page asked for, forward
 * or backward, through `edges` or through `nodes`, each object once.
 * @param {unknown} _parent
 * @param {Record<string, any>} args
 * @param {Cache} cache
 * @param {{ parentKey: string, parentFieldKey: string, fieldName: string }} info
 * @returns {any}
 */
function readList(_parent, args, cache, info) {
  const asked = cache.resolve(info.parentKey, info.parentFieldKey);
  if (typeof asked !== 'string' || !/Connection$/.test(String(cache.resolve(asked, '__typename')))) return asked;
  const list = ownArguments(args);
  const pages = cache
    .inspectFields(info.parentKey)
    .filter((field) => field.fieldName === info.fieldName && ownArguments(field.arguments) === list)
    .flatMap((field) => readPage(cache, info.parentKey, field.fieldKey, field.arguments ?? {}));
  const own = pages.find((page) => page.fieldKey === info.parentFieldKey);
  if (own === undefined) return asked;

  // From the beginning if there is one, otherwise from the page that was asked for; then whatever joins on.
  const begin = pages.find((page) => page.facts.after === null && page.facts.before === null) ?? own;
  const whole = join(begin, pages);
  const shown = whole.pages.includes(own) ? whole : join(own, pages);
  const { startCursor, endCursor, hasNextPage, hasPreviousPage } = shown.facts;
  const cursors = shown.pages.flatMap((page) => page.changesCursor ?? []).sort((a, b) => orderOf(a) - orderOf(b));
  // What is left out here is read from the page that was asked for, or not there.
  return {
    __typename: cache.resolve(own.connection, '__typename'),
    ...(own.hasNodes ? { nodes: shown.items.map((item) => item.key) } : {}),
    ...(shown.pages.every((page) => page.hasEdges) ? { edges: shown.items.map((item) => item.edge) } : {}),
    ...(own.hasPageInfo
      ? { pageInfo: { __typename: 'PageInfo', startCursor, endCursor, hasNextPage, hasPreviousPage } }
      : {}),
    // A subscription has to go on from the oldest of the pages that are shown.
    ...(own.changesCursor === undefined ? {} : { changesCursor: cursors[0] }),
  };
}

/** When each cursor was first seen: cursors do not say which is older. @type {Map<string, number>} */
const seen = new Map();

/** @param {string} cursor */
function orderOf(cursor) {
  const known = seen.get(cursor);
  if (known !== undefined) return known;
  seen.set(cursor, seen.size);
  return seen.size - 1;
}

/**
 * Which list it is, whichever page.
 * @param {Record<string, any> | null} args
 */
function ownArguments(args) {
  return stableText(Object.fromEntries(Object.entries(args ?? {}).filter(([name]) => !pageArguments.has(name))));
}

/**
 * @typedef {{ readonly key: string, readonly cursor?: string | undefined, readonly edge?: string | undefined }} Item
 * @typedef {import('./list-pages.js').PageFacts} Facts
 * @typedef {{ fieldKey: string, connection: string, items: readonly Item[], facts: Facts, hasNodes: boolean, hasEdges: boolean, hasPageInfo: boolean, changesCursor?: string }} Page
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

/** Ids that a snapshot under way has named, by cache, type and filter. @type {WeakMap<object, Map<string, Set<string>>>} */
const snapshots = new WeakMap();

/**
 * Takes what a subscription's message says is gone out of the lists in the cache. Changed objects are written by graphcache itself;
 * an added one belongs somewhere in an order that only the gateway knows: show it from `foldChanges`, or read the list again.
 * Select `changes { type id reason object { … } }`.
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

/** Lists on objects. @type {Record<string, typeof readList>} */
const lists = { owned: readList };

/**
 * For `cacheExchange(cacheConfig)` of @urql/exchange-graphcache. Nothing in it names a kind: graphcache looks policies up by type and
 * field, and is given records that answer to every name.
 *
 * - Objects have `id`; select it wherever you select an object.
 * - Scalars (DateTime, Quantity, Int64, Duration, IntOrString, JSON, StringMap) are plain values; the newer one replaces the older.
 * - Groups of an aggregate are known by their `cursor`; select it wherever you select a group.
 * - Lists: see readList. Subscriptions: see applyMessage.
 */
export const cacheConfig = {
  keys: everyName(() => keyOf),
  resolvers: everyName((type) => (type === 'Query' ? everyName(() => readList) : lists)),
  updates: { Subscription: everyName(() => applyMessage) },
  /**
   * Without a list of kinds graphcache finds out by the fields whether a fragment on the one interface matches, which is right for
   * objects; its warning of that is left out.
   * @param {string} severity
   * @param {string} message
   */
  logger(severity, message) {
    if (severity === 'debug' || /^Heuristic Fragment Matching:.*`KubernetesObject`/.test(message)) return;
    // biome-ignore lint/suspicious/noConsole: where graphcache itself would write it
    console.warn(message);
  },
};
