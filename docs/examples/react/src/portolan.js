// Portolan for Apollo Client: cache policies and live lists.
// Printed by `portolan client-config`; copy it into your application.
//
//   import { cacheConfig, withPortolan, applyChanges, hold, foldChanges, reconnect, resumable } from './portolan.js';
//
//   const live = resumable(createClient({ url: 'ws://localhost:4000/graphql', ...reconnect }));
//   const client = new ApolloClient({
//     cache: withPortolan(new InMemoryCache(cacheConfig)),
//     link: ApolloLink.split(
//       ({ operationType }) => operationType === 'subscription',
//       new GraphQLWsLink(live),
//       new HttpLink({ uri: '/graphql' }),
//     ),
//   });

/**
 * The key of each cursor's object. A page that is read again may begin after a cursor whose own page has been replaced since; the
 * cursor's object is usually still in the list.
 * @type {Map<string, string>}
 */
const placeOfCursor = new Map();
const maxCursors = 10_000;

/**
 * One object of a held list: the cache's key of the object, and the cursor of its edge if edges were selected.
 * @typedef {{ readonly key: string, readonly cursor?: string | undefined }} Place
 */

/**
 * A page's arguments and pageInfo. A page without a cursor is the beginning of the list, or with `last` its end.
 * @typedef {object} PageFacts
 * @property {string | null} after
 * @property {string | null} before
 * @property {boolean} last
 * @property {string | null} startCursor
 * @property {string | null} endCursor
 * @property {boolean | undefined} hasNextPage Undefined when it was not selected.
 * @property {boolean | undefined} hasPreviousPage
 */

/**
 * Merges a page into a held list: returns the parts of the list before and after the page. An object of the page is in neither
 * part. If the page's end is no longer in the list, the part after it is dropped. It can be loaded again, but a list with a hole
 * looks complete.
 *
 * @template {Place} T
 * @param {readonly T[]} held
 * @param {readonly Place[]} page
 * @param {PageFacts} facts
 * @returns {{ readonly before: readonly T[], readonly after: readonly T[], readonly connected: boolean }}
 */
function placePage(held, page, facts) {
  rememberCursors(page, facts);
  const onPage = new Set(page.map(({ key }) => key));
  const others = (/** @type {readonly T[]} */ part) => part.filter(({ key }) => !onPage.has(key));
  const indexOfKey = (/** @type {string | undefined} */ key) => held.findIndex((place) => place.key === key);
  const indexOf = (/** @type {string} */ cursor) => {
    const exact = held.findIndex((place) => place.cursor === cursor);
    return exact >= 0 ? exact : indexOfKey(placeOfCursor.get(cursor));
  };
  const known = page.map(({ key }) => indexOfKey(key)).filter((index) => index >= 0);

  if (facts.before !== null || (facts.last && facts.after === null)) {
    let end = held.length;
    let connected = true;
    if (facts.before !== null) {
      const index = indexOf(facts.before);
      connected = index >= 0 || known.length > 0;
      end = index >= 0 ? index : known.length > 0 ? Math.max(...known) + 1 : 0;
    }
    const first = indexOfKey(page[0]?.key);
    const goesOn = facts.hasPreviousPage !== false && first >= 0 && first < end;
    return { before: goesOn ? others(held.slice(0, first)) : [], after: others(held.slice(end)), connected };
  }

  let start = 0;
  let connected = true;
  if (facts.after !== null) {
    const index = indexOf(facts.after);
    connected = index >= 0 || known.length > 0;
    start = index >= 0 ? index + 1 : known.length > 0 ? Math.min(...known) : held.length;
  }
  const last = indexOfKey(page.at(-1)?.key);
  const goesOn = facts.hasNextPage !== false && last >= start;
  return { before: others(held.slice(0, start)), after: goesOn ? others(held.slice(last + 1)) : [], connected };
}

/**
 * @param {readonly Place[]} page
 * @param {PageFacts} facts
 */
function rememberCursors(page, { startCursor, endCursor }) {
  const first = page[0];
  const last = page.at(-1);
  if (first !== undefined && startCursor !== null) placeOfCursor.set(startCursor, first.key);
  if (last !== undefined && endCursor !== null) placeOfCursor.set(endCursor, last.key);
  for (const cursor of placeOfCursor.keys()) {
    if (placeOfCursor.size <= maxCursors) break;
    placeOfCursor.delete(cursor);
  }
}

/**
 * @param {Record<string, any> | null} args
 * @param {Record<string, any>} info The fields of pageInfo that were selected.
 * @param {readonly Place[]} page
 * @returns {PageFacts}
 */
function pageFacts(args, info, page) {
  return {
    after: args?.['after'] ?? null,
    before: args?.['before'] ?? null,
    last: typeof args?.['last'] === 'number',
    startCursor: info['startCursor'] ?? page[0]?.cursor ?? null,
    endCursor: info['endCursor'] ?? page.at(-1)?.cursor ?? null,
    hasNextPage: info['hasNextPage'],
    hasPreviousPage: info['hasPreviousPage'],
  };
}

/**
 * The ends of a list after a page was joined: those of the list where a part of it stays, otherwise those of the page.
 * @template {Pick<PageFacts, 'startCursor' | 'endCursor' | 'hasNextPage' | 'hasPreviousPage'>} T
 * @param {T} held
 * @param {T & { readonly before: string | null }} page
 * @param {readonly Place[]} items Those of the page.
 * @param {{ readonly before: readonly Place[], readonly after: readonly Place[] }} place
 */
function joinedEnds(held, page, items, place) {
  const isEmpty = items.length === 0;
  const first = place.before.length > 0 || isEmpty ? held : page;
  const last = place.after.length > 0 || (isEmpty && page.before !== null) ? held : page;
  return {
    startCursor: first.startCursor,
    hasPreviousPage: first.hasPreviousPage,
    endCursor: isEmpty ? held.endCursor : last.endCursor,
    hasNextPage: last.hasNextPage,
  };
}

const pageArguments = new Set(['first', 'after', 'last', 'before']);

/**
 * The arguments that select the list, without those that select a page, as text.
 * @param {Record<string, unknown> | null} args
 */
function listArguments(args) {
  const own = Object.entries(args ?? {}).filter(([name, value]) => !pageArguments.has(name) && value != null);
  return stableText(Object.fromEntries(own));
}

/**
 * JSON text that is equal for equal values. The order of object keys does not matter.
 * @param {unknown} value
 * @returns {string}
 */
function stableText(value) {
  return JSON.stringify(value ?? null, (_key, part) =>
    part === null || typeof part !== 'object' || Array.isArray(part)
      ? part
      : Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1))),
  );
}

/**
 * The name of a kind's type. It has letters and digits. If a Kind ends like a generated type (FooFilter), the name has "_" before that
 * ending (Foo_Filter).
 */
const kindName = '[A-Za-z0-9]+(?:_(?:Connection|Edge|Filter|Changes?|Payload|Input))?';

/** The field that identifies an item of a list, as in Kubernetes. Two answers may contain different fields of one item. */
const itemKeys = {
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
function removedBy(cache, message, filter, keyOf) {
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

/**
 * Types recognized by patterns of their names. The patterns fit every kind, so a new CRD needs no new copy of this module. Apollo
 * treats a text that is not a name as a regular expression. `Shape`, `List` and `ChangeMessage` are not in the schema. The types
 * that match them get their policies.
 * @type {Record<string, string[]>}
 */
const possibleTypes = {
  KubernetesObject: [`^${kindName}$`],
  ChangeMessage: [`^${kindName}Changes?$`],
  List: [`^${kindName}Connection$`],
  Shape: [`^(?!(?:Query|Mutation|Subscription|${kindName}(?:Connection|Edge|Changes?))$).+$`],
};

/** @typedef {{ readonly __ref?: string, readonly __typename?: string, readonly [field: string]: any }} Stored */

/**
 * Merges two values of an item. A field of only one of them is kept. For a field of both, the newer value is used.
 * @param {any} existing
 * @param {any} incoming
 * @returns {any}
 */
function mergeItem(existing, incoming) {
  const plain = (/** @type {any} */ value) =>
    typeof value === 'object' && value !== null && !Array.isArray(value) && value.__typename !== undefined;
  if (!plain(existing) || !plain(incoming) || existing.__typename !== incoming.__typename) return incoming;
  const merged = { ...existing, ...incoming };
  for (const name of Object.keys(incoming)) {
    if (plain(existing[name])) merged[name] = mergeItem(existing[name], incoming[name]);
  }
  return merged;
}

/**
 * The policy of a list whose items have a key. The list has the items of the newer answer. Their fields come from both answers. An
 * item without a key in either answer is not merged.
 * @param {string} key
 */
function listByKey(key) {
  const keyOf = (/** @type {Stored | null | undefined} */ item) => {
    const value = item?.[key];
    return Array.isArray(value) ? stableText(value) : value;
  };
  return {
    merge(
      /** @type {readonly Stored[] | null | undefined} */ existing,
      /** @type {readonly Stored[] | null} */ incoming,
    ) {
      if (!existing || !incoming) return incoming;
      const known = new Map(existing.map((item) => [keyOf(item), item]));
      known.delete(undefined);
      return incoming.map((item) => mergeItem(known.get(keyOf(item)), item));
    },
  };
}

const listsByKey = Object.fromEntries(Object.entries(itemKeys).map(([field, key]) => [field, listByKey(key)]));

/**
 * The policy of a list field: one cached list for each filter and order. It joins the pages that were read, forward or backward.
 * Each object is stored once and returned in both `edges` and `nodes`. Reading page one again refreshes the list. Later pages are
 * kept while they still connect to it. A page with `offset` is not joined with others: give `offset: 0` in a live query.
 */
export function listPolicy() {
  return {
    keyArgs(/** @type {Record<string, unknown> | null} */ args, /** @type {{ fieldName: string }} */ { fieldName }) {
      return `${fieldName}:${listArguments(args)}`;
    },

    read(/** @type {any} */ existing, /** @type {{ canRead(value: any): boolean }} */ { canRead }) {
      if (!existing?.items) return existing;
      const items = existing.items.filter((/** @type {any} */ { node }) => canRead(node));
      const shown = { ...existing, nodes: items.map((/** @type {any} */ { node }) => node) };
      delete shown.items;
      const withCursors = items.every((/** @type {any} */ { cursor }) => cursor !== undefined);
      if (withCursors) shown.edges = items.map((/** @type {any} */ { key, ...edge }) => edge);
      return shown;
    },

    merge(
      /** @type {any} */ existing,
      /** @type {any} */ incoming,
      /** @type {{ args: Record<string, any> | null }} */ { args },
    ) {
      if (!incoming || incoming.__ref) return incoming;
      const { edges, nodes, ...rest } = incoming;
      if (!edges && !nodes) return { ...existing, ...rest };
      const position = args?.after ?? args?.before ?? '';
      const page = (edges ?? nodes.map((/** @type {any} */ node) => ({ node }))).map(
        (/** @type {any} */ edge, /** @type {number} */ index) => ({
          ...edge,
          key: edge.node?.__ref ?? `${position}#${index}`,
        }),
      );
      // A page with a number is a list of its own.
      const held = typeof args?.offset === 'number' ? [] : (existing?.items ?? []);
      const info = rest.pageInfo ?? {};
      const known = existing?.pageInfo ?? {};
      const facts = pageFacts(args, info, page);
      const place = placePage(held, page, {
        ...facts,
        hasNextPage:
          info.endCursor != null && info.endCursor === known.endCursor && !args?.before ? false : info.hasNextPage,
        hasPreviousPage:
          info.startCursor != null && info.startCursor === known.startCursor && args?.before
            ? false
            : info.hasPreviousPage,
      });
      const byKey = new Map(held.map((/** @type {any} */ item) => [item.key, item]));
      const items = [
        ...place.before,
        ...page.map((/** @type {any} */ item) => ({ ...byKey.get(item.key), ...item })),
        ...place.after,
      ];
      const joined = place.before.length > 0 || place.after.length > 0;
      const pageInfo = rest.pageInfo && {
        ...known,
        ...info,
        ...(joined ? defined(joinedEnds(known, { ...info, before: facts.before }, page, place)) : {}),
      };
      return {
        ...existing,
        ...rest,
        items,
        ...(pageInfo ? { pageInfo } : {}),
        // A subscription must continue from the oldest of the joined pages.
        ...(joined && existing?.changesCursor ? { changesCursor: existing.changesCursor } : {}),
      };
    },
  };
}

/** @param {Record<string, any>} values */
function defined(values) {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}

/**
 * For `new InMemoryCache(cacheConfig)`.
 *
 * - Objects have `id`; select it wherever you select an object. Values inside an object have none. They are merged into the cached
 *   object, so a detail query does not erase the fields that a list query read.
 * - Scalars (DateTime, Quantity, Int64, Duration, IntOrString, JSON, StringMap, QuantityMap) are plain values; the newer one replaces the older.
 * - Aggregates: `keys` identifies each group of a `groups` field; select it.
 * - Lists: see listPolicy. Apollo needs the name of each list field of `Query`. withPortolan adds it when a document selects the field.
 */
export const cacheConfig = {
  possibleTypes,
  typePolicies: {
    Query: { fields: { objects: listPolicy() } },
    KubernetesObject: { merge: true, fields: { ...listsByKey, owned: listPolicy() } },
    Shape: { merge: true, fields: listsByKey },
    // Facets and aggregates cover the whole list, not a page. Two answers may contain different sums, also of the same group.
    List: { fields: { facets: listByKey('path') } },
    Aggregate: { merge: true, fields: { groups: listByKey('keys') } },
    // A change has the id of its object, but is not that object.
    ChangeMessage: { keyFields: /** @type {const} */ (false), merge: false },
  },
};

/**
 * Completes the configuration of a cache at run time, because the configuration has no list of all kinds. It adds the list fields
 * of Query from the documents, and the types of kinds from the answers.
 *
 *     const cache = withPortolan(new InMemoryCache(cacheConfig));
 *
 * To read or write a cached list before any query of the client has selected it, add its policy yourself:
 * `cache.policies.addTypePolicies({ Query: { fields: { pods: listPolicy() } } })`.
 *
 * @template {{ policies: any, transformDocument(document: any): any, write(options: any): any, restore(data: any): any }} C
 * @param {C} cache
 * @returns {C}
 */
export function withPortolan(cache) {
  const documents = new WeakSet();
  const fields = new Set(['objects']);
  const { transformDocument, write, restore } = cache;
  cache.transformDocument = (document) => {
    if (!documents.has(document)) {
      documents.add(document);
      for (const name of listsIn(document)) {
        if (fields.has(name)) continue;
        fields.add(name);
        cache.policies.addTypePolicies({ Query: { fields: { [name]: listPolicy() } } });
      }
    }
    return transformDocument.call(cache, document);
  };
  cache.write = (options) => {
    registerTypes(cache, options.result);
    return write.call(cache, options);
  };
  cache.restore = (data) => {
    registerTypes(cache, data);
    return restore.call(cache, data);
  };
  return cache;
}

const partsOfLists = ['nodes', 'edges', 'pageInfo', 'totalCount', 'aggregate', 'facets'];

/**
 * The fields of Query that a document selects as lists.
 * @param {any} document
 * @returns {Set<string>}
 */
function listsIn(document) {
  /** @type {Set<string>} */
  const found = new Set();
  const fragments = new Map(
    document.definitions
      .filter((/** @type {any} */ one) => one.kind === 'FragmentDefinition')
      .map((/** @type {any} */ one) => [one.name.value, one]),
  );
  const fieldsOf = (/** @type {any} */ set, /** @type {readonly any[]} */ above = []) =>
    /** @type {any[]} */ (
      (set?.selections ?? []).flatMap((/** @type {any} */ selection) => {
        if (selection.kind === 'Field') return [selection];
        const inner = selection.kind === 'FragmentSpread' ? fragments.get(selection.name.value) : selection;
        return inner === undefined || above.includes(inner) ? [] : fieldsOf(inner.selectionSet, [...above, inner]);
      })
    );
  for (const definition of document.definitions) {
    if (definition.kind !== 'OperationDefinition' || definition.operation !== 'query') continue;
    for (const field of fieldsOf(definition.selectionSet)) {
      const inside = fieldsOf(field.selectionSet).map((each) => each.name.value);
      if (partsOfLists.some((name) => inside.includes(name))) found.add(field.name.value);
    }
  }
  return found;
}

/**
 * Makes the cache look up the policies of each type before it matches fragments. Otherwise it would assume that an unknown type
 * implements no interface.
 * @param {{ policies: any }} cache
 * @param {any} value
 */
function registerTypes(cache, value) {
  if (typeof value !== 'object' || value === null) return;
  if (typeof value.__typename === 'string') cache.policies.hasKeyArgs(value.__typename, '__typename');
  for (const inner of Object.values(value)) registerTypes(cache, inner);
}

/**
 * Removes from the cached lists the objects that a message of a subscription removes. Call it with each message and with the
 * filter of the subscription. Select `changes { type id reason object { … } }`.
 *
 * The client itself writes changed objects to the cache. Only the gateway can determine the position of an added object in a
 * list. Show it from `foldChanges`, or read the list again.
 *
 *     next({ data }) {
 *       held = foldChanges(held, data.podChanges);
 *       applyChanges(cache, data.podChanges, { filter });
 *     }
 *
 * @param {any} cache An InMemoryCache.
 * @param {any} message The value of the subscription's root field.
 * @param {{ filter?: unknown }} [subscription]
 */
export function applyChanges(cache, message, { filter = null } = {}) {
  const keyOf = (/** @type {string} */ type, /** @type {string} */ id) => cache.identify({ __typename: type, id });
  const removed = removedBy(cache, message, filter, keyOf);
  if (removed === null) return;
  cache.batch({
    update(/** @type {any} */ inBatch) {
      inBatch.modify({
        id: 'ROOT_QUERY',
        fields(/** @type {any} */ list, /** @type {{ storeFieldName: string }} */ { storeFieldName }) {
          if (!Array.isArray(list?.items)) return list;
          const isSame = removed.isOf(list.__typename, filterOf(storeFieldName));
          const items = list.items.filter((/** @type {any} */ { key: ref }) => removed.keeps(ref, isSame));
          return items.length === list.items.length ? list : { ...list, items };
        },
      });
      for (const id of removed.gone) inBatch.evict({ id });
    },
  });
}

/** @param {string} storeFieldName */
function filterOf(storeFieldName) {
  return JSON.parse(storeFieldName.slice(storeFieldName.indexOf(':') + 1)).filter;
}

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

/**
 * Options of a graphql-ws client that keep live pages and subscriptions through a restart of the gateway. By default the client gives up
 * when a new connection is refused, and its waits have no end. These waits are random, so that not all clients come back at once.
 *
 *     createClient({ url, ...reconnect });
 */
export const reconnect = {
  retryAttempts: Number.POSITIVE_INFINITY,
  shouldRetry: () => true,
  /** At most ten seconds. @param {number} retries attempts so far */
  retryWait(retries) {
    const most = Math.min(10_000, 250 * 2 ** Math.min(retries, 10));
    return /** @type {Promise<void>} */ (
      new Promise((resolve) => setTimeout(resolve, most * (0.5 + Math.random() / 2)))
    );
  },
};

/**
 * The part of a graphql-ws client that is used here. Its members are declared as methods, so that the client of every version fits.
 * @typedef {object} Sink
 * @property {(result: { data?: unknown }) => void} next
 * @property {(error: unknown) => void} error
 * @property {() => void} complete
 */

/**
 * Makes a graphql-ws client resume its subscriptions. After a reconnect, the client alone would send a subscription's first
 * variables again. This one sends the cursor of the last message as `since`, if the subscription declares `$since: String` and
 * passes it on. During a snapshot it has no cursor, so it requests the snapshot again; that one begins with `reset`.
 *
 *     const client = resumable(createClient({ url, ...reconnect }));
 *
 * @template {{ subscribe(payload: any, sink: any): () => void }} C
 * @param {C} client
 * @returns {C}
 */
export function resumable(client) {
  const subscribe = (
    /** @type {{ variables?: Record<string, unknown> | null }} */ payload,
    /** @type {Sink} */ sink,
  ) => {
    // The client keeps this object. After a reconnect, it sends the object with the current values.
    const request = { ...payload };
    return client.subscribe(request, {
      error: (/** @type {unknown} */ error) => sink.error(error),
      complete: () => sink.complete(),
      next(/** @type {{ data?: unknown }} */ result) {
        for (const message of Object.values(result.data ?? {})) {
          if (message === null || typeof message !== 'object' || typeof message.cursor !== 'string') continue;
          if (message.phase === 'SYNCED' || message.phase === 'LIVE') {
            request.variables = { ...payload.variables, since: message.cursor };
          } else {
            request.variables = { ...payload.variables, since: null };
          }
        }
        sink.next(result);
      },
    });
  };
  return Object.assign(Object.create(client), { subscribe });
}
