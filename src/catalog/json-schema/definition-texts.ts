/**
 * The definitions of an OpenAPI document as texts. A document has a thousand of them and megabytes of paths, and a kind needs few. So
 * the document is scanned once, and only the wanted definitions are parsed.
 *
 *   {"paths":{…},"components":{"schemas":{"A":{…},"B":{…}}}}   ->   A -> '{…}'   B -> '{…}'
 *
 * Owns: the bound on the number of definitions. Never: parses a definition, or recurses, so nesting costs no stack.
 */
import { PortolanError } from '../../base/errors.ts';
import type { Steps } from '../../base/steps.ts';

/** The largest documents of real servers have about 3,000. */
const mostDefinitions = 50_000;
/** Characters between two yields: about a millisecond. */
const stride = 1 << 18;

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a];
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d];

/**
 * The texts by name: `components.schemas` of OpenAPI v3, or `definitions` of v2. Empty if the document has neither.
 * @throws PortolanError UPSTREAM_UNAVAILABLE for text that is no JSON object, and for too many definitions.
 */
export function* definitionTexts(document: string): Steps<ReadonlyMap<string, string>> {
  const top = yield* members(document, 0);
  const components = top.get('components');
  const place =
    components === undefined ? top.get('definitions') : (yield* members(document, components.at)).get('schemas');
  const found = new Map<string, string>();
  if (place === undefined) return found;
  for (const [name, { at, end }] of yield* members(document, place.at)) found.set(name, document.slice(at, end));
  return found;
}

interface Span {
  readonly at: number;
  readonly end: number;
}

/** The places of the values of the object at `at`. */
function* members(text: string, at: number): Steps<ReadonlyMap<string, Span>> {
  const found = new Map<string, Span>();
  let i = behindSpace(text, at);
  if (text.charCodeAt(i) !== openBrace) throw nonsense();
  i = behindSpace(text, i + 1);
  while (text.charCodeAt(i) !== closeBrace) {
    if (text.charCodeAt(i) !== quote) throw nonsense();
    const behindName = behindString(text, i);
    const name = nameAt(text, i, behindName);
    i = behindSpace(text, behindName);
    if (text.charCodeAt(i) !== colon) throw nonsense();
    i = behindSpace(text, i + 1);
    const end = yield* behindValue(text, i);
    if (end === i) throw nonsense();
    found.set(name, { at: i, end });
    if (found.size > mostDefinitions) {
      throw new PortolanError(
        'UPSTREAM_UNAVAILABLE',
        `The OpenAPI document has more than ${mostDefinitions} definitions, so it is not read: look at the API service of its group.`,
      );
    }
    i = behindSpace(text, end);
    if (text.charCodeAt(i) === comma) i = behindSpace(text, i + 1);
    else if (text.charCodeAt(i) !== closeBrace) throw nonsense();
  }
  return found;
}

/** The position behind the value at `at`. A number or a word ends at the next comma or bracket. */
function* behindValue(text: string, at: number): Steps<number> {
  let depth = 0;
  let looked = at;
  for (let i = at; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if (code === quote) {
      i = behindString(text, i) - 1;
      if (depth === 0) return i + 1;
    } else if (code === openBrace || code === openBracket) {
      depth += 1;
    } else if (code === closeBrace || code === closeBracket) {
      if (depth === 0) return i;
      depth -= 1;
      if (depth === 0) return i + 1;
    } else if (code === comma && depth === 0) {
      return i;
    }
    if (i - looked < stride) continue;
    looked = i;
    yield;
  }
  throw nonsense();
}

/** The position behind the string that begins at `at`. */
function behindString(text: string, at: number): number {
  for (let end = text.indexOf('"', at + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let escapes = 0;
    while (text.charCodeAt(end - 1 - escapes) === backslash) escapes += 1;
    if (escapes % 2 === 0) return end + 1;
  }
  throw nonsense();
}

function behindSpace(text: string, at: number): number {
  let i = at;
  while (i < text.length && text.charCodeAt(i) <= 0x20) i += 1;
  return i;
}

function nameAt(text: string, at: number, end: number): string {
  try {
    return JSON.parse(text.slice(at, end)) as string;
  } catch {
    throw nonsense();
  }
}

function nonsense(): PortolanError {
  return new PortolanError(
    'UPSTREAM_UNAVAILABLE',
    'The API server answered with a body that is not an OpenAPI document: look at the API service of its group.',
  );
}
