/**
 * JSON values that keep their text. They carry integers beyond 2^53 through JavaScript without rounding.
 *
 * JSON.stringify writes a raw value exactly as it was read. Raw values do not survive structuredClone or postMessage, so bodies
 * are sent between threads as text.
 */

/** A JSON scalar kept as its text. */
interface RawJson {
  readonly rawJSON: string;
}

interface RawJsonFunctions {
  rawJSON(text: string): RawJson;
  isRawJSON(value: unknown): value is RawJson;
}

// TypeScript's library does not declare these two yet.
const functions = JSON as unknown as RawJsonFunctions;

/** Keeps the text of a JSON scalar. */
export function rawJson(text: string): RawJson {
  return functions.rawJSON(text);
}

export function isRawJson(value: unknown): value is RawJson {
  return functions.isRawJSON(value);
}

/** The text of a raw JSON value, exactly as it was read. */
export function rawJsonText(value: RawJson): string {
  return value.rawJSON;
}
