/**
 * The parts of a JSON text that nest deeper than any path leads. SQLite refuses a text of more than 1,000 levels, and an API server takes
 * 10,000. Without these parts SQLite takes the text. Filters, orders and counts find the same values as in the whole text.
 *
 *   with one level of lists and objects:   {"a":[1],"b":{"c":2},"d":3}   ->   {"a":[],"b":{},"d":3}
 */
import { maxSteps } from '../../catalog/tree/path.ts';
import { recordOf } from '../../catalog/values/displayed-value.ts';

/** Lists and objects of the next level are deep parts. A path has fewer steps, and text of this depth needs no deep recursion. */
const keptLevels = 2 * maxSteps;

const codes = { quote: 0x22, backslash: 0x5c, openList: 0x5b, closeList: 0x5d, openObject: 0x7b, closeObject: 0x7d };

/** A JSON text without its deep parts. */
interface Shallow {
  /** In the place of each deep part is a list with its index in `parts`. All lists and objects of that level are deep parts. */
  readonly text: string;
  readonly parts: readonly string[];
}

/** @param text valid JSON */
export function takeDeepParts(text: string): Shallow {
  const parts: string[] = [];
  return { text: replaceDeepParts(text, (part) => `[${parts.push(part) - 1}]`), parts };
}

/** JSON of the parsed text of {@link takeDeepParts}, with the deep parts in their places. */
export function joinDeepParts(value: unknown, parts: readonly string[], level = 0): string {
  if (Array.isArray(value)) {
    if (level === keptLevels) return parts[Number(value[0])] ?? '';
    return `[${value.map((each) => joinDeepParts(each, parts, level + 1)).join(',')}]`;
  }
  const object = recordOf(value);
  if (object === null) return JSON.stringify(value);
  const members = Object.entries(object);
  return `{${members.map(([name, each]) => `${JSON.stringify(name)}:${joinDeepParts(each, parts, level + 1)}`).join(',')}}`;
}

/** The text with an empty list or object in the place of each deep part. @param text valid JSON */
export function withoutDeepParts(text: string): string {
  return replaceDeepParts(text, (part) => (part.startsWith('[') ? '[]' : '{}'));
}

function replaceDeepParts(text: string, replace: (part: string) => string): string {
  const pieces: string[] = [];
  let copied = 0;
  let level = 0;
  let from = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === codes.quote) at = endOfString(text, at);
    else if (code === codes.openList || code === codes.openObject) {
      if (level === keptLevels) from = at;
      level += 1;
    } else if (code === codes.closeList || code === codes.closeObject) {
      level -= 1;
      if (level !== keptLevels) continue;
      pieces.push(text.slice(copied, from), replace(text.slice(from, at + 1)));
      copied = at + 1;
    }
  }
  pieces.push(text.slice(copied));
  return pieces.join('');
}

/** The position of the quote that ends the string. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === codes.quote) return at;
    if (code === codes.backslash) at += 1;
  }
  return text.length;
}
