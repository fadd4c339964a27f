/** Small readers for JSON and YAML of unknown shape: each answers with a value of its type, or with nothing. */

/** The value, when it is a JSON object. */
export function record(value: unknown): Record<string, unknown> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined;
}

/** The value, when it is a list; else an empty one. */
export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The value, when it is a text that is not empty. */
export function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** The value, when it is a text; else the empty one. */
export function textOr(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The texts of a list. */
export function strings(value: unknown): string[] {
  return list(value).filter((each): each is string => typeof each === 'string');
}
