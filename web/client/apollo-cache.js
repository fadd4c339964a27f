import { joinedEnds, listArguments, pageFacts, placePage, stableText } from './list-pages.js';
import { itemKeys, kindName, removedBy } from './shared-policies.js';

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
