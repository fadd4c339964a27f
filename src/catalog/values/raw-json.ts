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

/** JSON.stringify. A number that JSON.parse has read as infinite is infinite again when the text is read. */
export function exactJson(value: unknown): string {
  return JSON.stringify(value, (_key, each: unknown) => {
    if (typeof each !== 'number' || Number.isFinite(each)) return each;
    return rawJson(each > 0 ? '1e999' : '-1e999');
  });
}

/** Tokens of JSON that parseDeep marks. A string before a colon is a name. */
const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?|-?[0-9][-+.0-9Ee]{15,}/g;

/**
 * JSON.parse of a text of any depth.
 * @param numberOf makes the value of a number of at least sixteen characters, from its text
 */
export function parseDeep(text: string, numberOf: (source: string) => unknown): unknown {
  // Long numbers become texts that begin with "n", and texts get an "s" before them.
  const marked = text.replace(tokens, (token, colon?: string) => {
    if (colon !== undefined) return token;
    return token.startsWith('"') ? `"s${token.slice(1)}` : `"n${token}"`;
  });
  const root = { value: JSON.parse(marked) as unknown };
  const containers: Record<string, unknown>[] = [root];
  for (let container = containers.pop(); container !== undefined; container = containers.pop()) {
    for (const [name, value] of Object.entries(container)) {
      if (typeof value === 'string')
        container[name] = value.startsWith('n') ? numberOf(value.slice(1)) : value.slice(1);
      else if (typeof value === 'object' && value !== null) containers.push(value as Record<string, unknown>);
    }
  }
  return root.value;
}

/** The text of a raw JSON value, exactly as it was read. */
export function rawJsonText(value: RawJson): string {
  return value.rawJSON;
}
