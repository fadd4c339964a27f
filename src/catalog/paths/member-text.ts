/**
 * Finds one member of a JSON object in its text, without parsing the object. For large objects of which one member is needed: parsing
 * all of a Pod takes four times as long.
 *
 *   {"kind":"Pod","metadata":{"name":"a"},"spec":{…}}   metadata -> {"name":"a"}
 */

const quote = 0x22;
const backslash = 0x5c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const comma = 0x2c;

/**
 * The text of the member's value; null if the object has no such member. The last one counts if there are several, as for JSON.parse.
 * Undefined if that cannot be told: a name is written with escapes, or the text is no object. @param text valid JSON
 */
export function memberText(text: string, name: string): string | null | undefined {
  const quoted = JSON.stringify(name);
  let found: string | null = null;
  let at = afterSpace(text, 0);
  if (text.charCodeAt(at) !== openBrace) return undefined;
  at = afterSpace(text, at + 1);
  while (text.charCodeAt(at) === quote) {
    const end = afterString(text, at);
    const escaped = text.indexOf('\\', at);
    if (escaped >= 0 && escaped < end) return undefined;
    const isWanted = end - at === quoted.length && text.startsWith(quoted, at);
    const from = afterSpace(text, afterSpace(text, end) + 1);
    const to = afterValue(text, from);
    if (isWanted) found = text.slice(from, to);
    at = afterSpace(text, to);
    if (text.charCodeAt(at) !== comma) break;
    at = afterSpace(text, at + 1);
  }
  return text.charCodeAt(at) === closeBrace ? found : undefined;
}

function afterSpace(text: string, from: number): number {
  let at = from;
  while (text.charCodeAt(at) <= 0x20) at += 1;
  return at;
}

/** @param from the index of the opening quote */
function afterString(text: string, from: number): number {
  let at = text.indexOf('"', from + 1);
  while (at > 0 && isEscaped(text, at)) at = text.indexOf('"', at + 1);
  return at < 0 ? text.length : at + 1;
}

function isEscaped(text: string, at: number): boolean {
  let before = at - 1;
  while (text.charCodeAt(before) === backslash) before -= 1;
  return (at - before) % 2 === 0;
}

function afterValue(text: string, from: number): number {
  const first = text.charCodeAt(from);
  if (first === quote) return afterString(text, from);
  if (first === openBrace || first === openBracket) return afterNested(text, from);
  let at = from;
  for (; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === comma || code === closeBrace || code === closeBracket || code <= 0x20) break;
  }
  return at;
}

function afterNested(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case quote:
        at = afterString(text, at) - 1;
        break;
      case openBrace:
      case openBracket:
        depth += 1;
        break;
      case closeBrace:
      case closeBracket:
        depth -= 1;
        if (depth === 0) return at + 1;
    }
  }
  return text.length;
}
