/**
 * Removes data that must never reach the disk: managedFields, the last-applied annotation, and the redacted paths of a kind.
 *
 * SQLite removes them from the received text while it turns it into JSONB, so that whatever stays keeps its digits and escapes.
 * Paths through lists are expanded against the object first. Where SQLite refuses the text, the same is done in JavaScript.
 */
import type { Path, PathStep } from '../../catalog/tree/path.ts';
import { parsePath } from '../../catalog/tree/path.ts';

const always: readonly string[] = [
  '$.metadata.managedFields',
  '$.metadata.annotations."kubectl.kubernetes.io/last-applied-configuration"',
];
/** The same, name by name. */
export const droppedPaths: readonly (readonly string[])[] = [
  ['metadata', 'managedFields'],
  ['metadata', 'annotations', 'kubectl.kubernetes.io/last-applied-configuration'],
];

export interface Redaction {
  /** An SQL expression of JSONB over one parameter, the text. */
  readonly sql: string;
  /** The redacted paths of the kind, without those that are dropped from every kind. */
  readonly redacted: readonly string[];
  /** Are there any? */
  readonly redacts: boolean;
  /**
   * Removes the redacted paths from a parsed object, so that nothing is indexed of them. Returns the SQLite paths that `sql` does
   * not contain, because they depend on the object: those through lists.
   */
  redact(value: unknown): readonly string[];
  /** The text without what is redacted, for texts that SQLite refuses; null when that cannot be done. */
  inJavaScript(text: string): string | null;
}

/** A path as SQLite writes it, or null when it goes through a list. */
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
      // From the back, so that removing one element does not move another.
      const found = varying.flatMap((path) => expand(path.steps, value)).reverse();
      for (const each of found) removeAt(value, each);
      for (const path of paths) for (const each of expand(path.steps, value)) removeAt(value, each);
      return found.map(toSqlitePath);
    },
    inJavaScript(text) {
      try {
        const value = parseKeepingDigits(text);
        for (const path of droppedPaths) removeAt(value, path);
        for (const path of paths) for (const each of expand(path.steps, value).reverse()) removeAt(value, each);
        return JSON.stringify(value);
      } catch (error) {
        // Too deep for a recursive walk. Nothing is redacted from most kinds, so their text may stay as it came.
        if (error instanceof RangeError) return paths.length === 0 ? text : null;
        throw error;
      }
    },
  };
}

/** A path to one value: member names and list indexes. */
type ConcretePath = readonly (string | number)[];

/** The concrete paths of the values in `value` that the steps lead to. */
function expand(steps: readonly PathStep[], value: unknown, path: ConcretePath = []): ConcretePath[] {
  const [step, ...rest] = steps;
  if (step === undefined) return [path];
  if (step.kind === 'each' || step.kind === 'where') {
    if (!Array.isArray(value)) return [];
    return value.flatMap((item: unknown, index) => {
      if (step.kind === 'where' && property(item, step.field) !== step.value) return [];
      return expand(rest, item, [...path, index]);
    });
  }
  if (step.kind === 'index') {
    const item: unknown = Array.isArray(value) ? value[step.index] : undefined;
    return item === undefined ? [] : expand(rest, item, [...path, step.index]);
  }
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

/** JSON whose numbers are written again with the digits they came with. */
function parseKeepingDigits(text: string): unknown {
  return JSON.parse(text, ((_key: string, value: unknown, context: { source?: string }) =>
    typeof value === 'number' && context.source !== undefined && context.source !== String(value)
      ? (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(context.source)
      : value) as (key: string, value: unknown) => unknown);
}
