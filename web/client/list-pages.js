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
export function placePage(held, page, facts) {
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
export function rememberCursors(page, { startCursor, endCursor }) {
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
export function pageFacts(args, info, page) {
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
export function joinedEnds(held, page, items, place) {
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
export function listArguments(args) {
  const own = Object.entries(args ?? {}).filter(([name, value]) => !pageArguments.has(name) && value != null);
  return stableText(Object.fromEntries(own));
}

/**
 * JSON text that is equal for equal values. The order of object keys does not matter.
 * @param {unknown} value
 * @returns {string}
 */
export function stableText(value) {
  return JSON.stringify(value ?? null, (_key, part) =>
    part === null || typeof part !== 'object' || Array.isArray(part)
      ? part
      : Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1))),
  );
}
