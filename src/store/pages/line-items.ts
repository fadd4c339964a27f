/**
 * Splits a row's line into the JSON texts of its items, without parsing them. Most leaves are written to the answer unchanged.
 *
 *   ["east","shop","web-1",null,null,["Running",3]]     "east"  "shop"  "web-1"  null  null  "Running"  3
 *
 * Invariant: the text of a string item equals its JSON.stringify. The line holds no escapes and no control characters, which need
 * escapes; a lone surrogate cannot be decoded from UTF-8.
 */

/** An escape, or a control character that should be one. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what JSON has no place for.
const escapes = /[\\\u0000-\u001f]/;
const quote = 0x22;
const openBracket = 0x5b;
const openBrace = 0x7b;

/**
 * The texts of a line's items: its columns, then its values. The line has no spaces between items, as SQLite writes it.
 * Null for a line that must be parsed: one with escapes, or with an object or a list among its values.
 */
export function lineItems(line: string): readonly string[] | null {
  if (escapes.test(line)) return null;
  const items: string[] = [];
  const end = line.length - 2;
  let inner = false;
  let at = 1;
  while (at < end) {
    const first = line.charCodeAt(at);
    if (first === openBrace) return null;
    if (first === openBracket) {
      if (inner) return null;
      inner = true;
      at += 1;
      continue;
    }
    let to = first === quote ? line.indexOf('"', at + 1) + 1 : line.indexOf(',', at);
    if (to <= 0) to = end;
    items.push(line.slice(at, to));
    at = to + 1;
  }
  return items;
}
