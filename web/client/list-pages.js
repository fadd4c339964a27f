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

/** Arguments that select a page of a list. The other arguments select the list. */
export const pageArguments = new Set(['first', 'after', 'last', 'before']);

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
