/**
 * A row's line taken apart without parsing what is in it: most leaves are texts that are shown as they stand.
 *
 * Invariant: an item that is a string is exactly what JSON.stringify gives of it: nothing in the line is escaped, and nothing needs
 * to be (control characters; a lone surrogate cannot come out of UTF-8).
 */

/** What stands escaped, or should. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what JSON has no place for.
const escapes = /[\\\u0000-\u001f]/;
const quote = 0x22;
const openBracket = 0x5b;
const openBrace = 0x7b;

/**
 * The texts of the items of a row's line (page-template.ts) as SQLite writes it, without a space between them: of its columns, and
 * behind them of its values. Null for a line that must be parsed, because a value is an object or a list, or there are escapes in it.
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
