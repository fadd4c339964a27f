/** JSON whose numbers keep their digits: numbers of 64 bits are no JavaScript numbers. */
import { record } from '../../base/json.ts';

// TypeScript's library does not know this part of ECMAScript 2026 yet.
const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown };

/** A reviver for `JSON.parse`: numbers become values that `JSON.stringify` writes as they came. */
export function exactNumbers(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  return typeof value === 'number' && context?.source !== undefined ? rawJSON(context.source) : value;
}

/** The object of a JSON text, with exact numbers; null for other text. */
export function exactObject(json: string): object | null {
  try {
    return record(JSON.parse(json, exactNumbers)) ?? null;
  } catch {
    return null;
  }
}
