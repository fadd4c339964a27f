/** Readers for parsed JSON and YAML of unknown shape. Each returns a value of its type, or an empty result. */

/** The value if it is a JSON object, or undefined. */
export function record(value: unknown): Record<string, unknown> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined;
}

/** The value if it is a list, or an empty list. */
export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The value if it is a non-empty string, or undefined. */
export function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** The value if it is a string, or the empty string. */
export function textOr(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The strings in a list. */
export function strings(value: unknown): string[] {
  return list(value).filter((each): each is string => typeof each === 'string');
}
