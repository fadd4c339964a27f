/**
 * Removes data that must never reach the disk: managedFields, the last-applied annotation, and the redacted paths of a kind.
 *
 * SQLite removes them while it converts the received text to JSONB, so that all other values keep their digits and escapes. Paths
 * through lists are first expanded for the object. If SQLite refuses the text, JavaScript removes the same paths.
 */
import type { Path, PathStep } from '../../catalog/tree/path.ts';
import { parsePath } from '../../catalog/tree/path.ts';
import { isRawJson } from '../../catalog/values/raw-json.ts';

const always: readonly string[] = [
  '$.metadata.managedFields',
  '$.metadata.annotations."kubectl.kubernetes.io/last-applied-configuration"',
];
/** The same paths as lists of names. */
export const droppedPaths: readonly (readonly string[])[] = [
  ['metadata', 'managedFields'],
  ['metadata', 'annotations', 'kubectl.kubernetes.io/last-applied-configuration'],
];

export interface Redaction {
  /** An SQL expression that makes JSONB from one parameter, the text. */
  readonly sql: string;
  /** The redacted paths of the kind, without the paths that are dropped from every kind. */
  readonly redacted: readonly string[];
  /** True if the kind has redacted paths. */
  readonly redacts: boolean;
  /**
   * Removes the redacted paths from a parsed object, so that their values are not indexed. Returns the SQLite paths through lists.
   * `sql` does not contain these, because their indexes depend on the object.
   */
  redact(value: unknown): readonly string[];
  /**
   * The text without dropped and redacted paths, for a text that SQLite refuses. When the text is nested too deeply, the result is
   * null, or the unchanged text for a kind without redacted paths.
   */
  inJavaScript(text: string): string | null;
}

/** A path in SQLite's syntax; null for a path through a list. */
function sqlitePath(path: Path): string | null {
  let text = '$';
  for (const step of path.steps) {
    if (step.kind === 'field') text += `.${quoted(step.name)}`;
    else if (step.kind === 'key') text += `.${quoted(step.key)}`;
    else if (step.kind === 'index') text += `[${step.index}]`;
    else return null;
  }
  return text;
}

export function createRedaction(redacted: readonly string[]): Redaction {
  const paths = redacted.map((text) => parsePath(text));
  const fixed = paths.map(sqlitePath).filter((path) => path !== null);
  const varying = paths.filter((path) => sqlitePath(path) === null);
  const sql = `jsonb_remove(?, ${[...always, ...fixed].map((path) => `'${path.replaceAll("'", "''")}'`).join(', ')})`;
  return {
    sql,
    redacted,
    redacts: paths.length > 0,
    redact(value) {
      const found = inOrderOfRemoval(varying.flatMap((path) => expand(path.steps, value)));
      for (const each of inOrderOfRemoval(paths.flatMap((path) => expand(path.steps, value)))) removeAt(value, each);
      return found.map(toSqlitePath);
    },
    inJavaScript(text) {
      try {
        const value = parseKeepingDigits(text);
        for (const path of droppedPaths) removeAt(value, path);
        for (const each of inOrderOfRemoval(paths.flatMap((path) => expand(path.steps, value)))) removeAt(value, each);
        return JSON.stringify(value);
      } catch (error) {
        // Too deep for recursion. A kind without redacted paths keeps the received text, with its managedFields.
        if (error instanceof RangeError) return paths.length === 0 ? text : null;
        throw error;
      }
    },
  };
}

/** A path to one value: member names and list indexes. */
type ConcretePath = readonly (string | number)[];

/**
 * Each path once, the last element of a list first: to remove an element moves those after it. A place comes after the places in it.
 */
function inOrderOfRemoval(paths: readonly ConcretePath[]): readonly ConcretePath[] {
  const byText = new Map(paths.map((path) => [JSON.stringify(path), path]));
  return [...byText.values()].sort((a, b) => {
    const at = a.findIndex((part, index) => part !== b[index]);
    const [left, right] = [a[at], b[at]];
    if (left === undefined) return 1;
    if (right === undefined) return -1;
    if (typeof left === 'number' && typeof right === 'number') return right - left;
    return String(left) < String(right) ? -1 : 1;
  });
}

/** The value as paths compare it; null for a list or an object. */
function textOf(value: unknown): string | null {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' || isRawJson(value) ? JSON.stringify(value) : null;
}

/** The concrete paths of the values in `value` that match the steps. */
function expand(steps: readonly PathStep[], value: unknown, path: ConcretePath = []): ConcretePath[] {
  const [step, ...rest] = steps;
  if (step === undefined) return [path];
  if (step.kind === 'each' || step.kind === 'where') {
    if (!Array.isArray(value)) return [];
    return value.flatMap((item: unknown, index) => {
      if (step.kind === 'where' && textOf(property(item, step.field)) !== step.value) return [];
      return expand(rest, item, [...path, index]);
    });
  }
  if (step.kind === 'index') {
    const item: unknown = Array.isArray(value) ? value[step.index] : undefined;
    return item === undefined ? [] : expand(rest, item, [...path, step.index]);
  }
  if (step.kind !== 'field' && step.kind !== 'key') return [];
  const name = step.kind === 'field' ? step.name : step.key;
  const next = property(value, name);
  return next === undefined ? [] : expand(rest, next, [...path, name]);
}

function toSqlitePath(path: ConcretePath): string {
  return `$${path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${quoted(part)}`)).join('')}`;
}

function quoted(name: string): string {
  return `"${name.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

function property(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Record<string, unknown>)[name];
}

function removeAt(value: unknown, path: ConcretePath): void {
  let holder = value;
  for (const part of path.slice(0, -1)) holder = property(holder, String(part));
  const last = path.at(-1);
  if (last === undefined || typeof holder !== 'object' || holder === null) return;
  if (Array.isArray(holder) && typeof last === 'number') holder.splice(last, 1);
  else delete (holder as Record<string, unknown>)[String(last)];
}

/** Parses JSON so that JSON.stringify writes each number with its original digits. */
function parseKeepingDigits(text: string): unknown {
  return JSON.parse(text, ((_key: string, value: unknown, context: { source?: string }) =>
    typeof value === 'number' && context.source !== undefined && context.source !== String(value)
      ? (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(context.source)
      : value) as (key: string, value: unknown) => unknown);
}
