/**
 * The JSON of requests. An integer that JavaScript would round becomes a raw value (src/catalog/values/raw-json.ts).
 *
 *   9007199254740993    raw: JavaScript has 9007199254740992 only
 *   9007199254740994    a number
 *
 * JavaScript writes a number with the digits that read it back, so no number of a JavaScript client is raw. GraphQL's own scalars take no raw
 * values.
 */
import { rawJson } from '../../catalog/values/raw-json.ts';
import { parseExact } from '../../catalog/values/values.ts';

/** JSON.parse that keeps the digits of integers. @throws SyntaxError as JSON.parse does. */
export function parseRequestJson(text: string): unknown {
  return parseExact(text, keepDigits);
}

/** The reviver of {@link parseRequestJson}. */
export function keepDigits(this: unknown, _key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
  const source = context?.source;
  return source !== undefined && /^-?[0-9]+$/.test(source) && String(value) !== source ? rawJson(source) : value;
}
