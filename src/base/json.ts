/** Readers for parsed JSON and YAML of unknown shape. Each returns a value of its type, or an empty result. */

/** Is the value a JSON object? */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value if it is a JSON object, or undefined. */
export function record(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return isRecord(value) ? value : undefined;
}

/** The value if it is a JSON object, or an empty object. */
export function recordOr(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {};
}

/** The value if it is a list, or an empty list. */
export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The values of a list, each as `recordOr` reads it. */
export function records(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return list(value).map(recordOr);
}

/** Is the value a non-empty string? */
export function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

/** The value if it is a non-empty string, or undefined. */
export function text(value: unknown): string | undefined {
  return isText(value) ? value : undefined;
}

/** The value if it is a string, or the empty string. */
export function textOr(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The strings in a list. */
export function strings(value: unknown): string[] {
  return list(value).filter((each): each is string => typeof each === 'string');
}

/** The value that the text is JSON of, or undefined. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
