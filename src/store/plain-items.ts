/**
 * A JSON list taken apart without parsing what is in it: most leaves are texts that are shown as they stand.
 *
 * Invariant: an item that is a string is exactly what JSON.stringify gives of it: nothing in the list is escaped, and nothing needs
 * to be (control characters; a lone surrogate cannot come out of UTF-8).
 */

/** What stands escaped, or should. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what JSON has no place for.
const escapes = /[\\\u0000-\u001f]/;
const quote = 0x22;
const openBracket = 0x5b;
const openBrace = 0x7b;

/**
 * The texts of the items of a list as SQLite writes it, without a space between them; null for a list that must be parsed, because
 * it has escapes, objects or lists in it.
 */
export function plainItems(list: string): readonly string[] | null {
  if (escapes.test(list)) return null;
  const items: string[] = [];
  const end = list.length - 1;
  let at = 1;
  while (at < end) {
    const first = list.charCodeAt(at);
    if (first === openBracket || first === openBrace) return null;
    let to = first === quote ? list.indexOf('"', at + 1) + 1 : list.indexOf(',', at);
    if (to <= 0) to = end;
    items.push(list.slice(at, to));
    at = to + 1;
  }
  return items;
}
