/**
 * Removes data that must never reach the disk: managedFields, the last-applied annotation, and the redacted paths of a kind.
 *
 * SQLite removes them while it converts the received text to JSONB, so that all other values keep their digits and escapes. Paths
 * through lists are first expanded for the object. If SQLite refuses the text, JavaScript removes the same paths.
 */
import { type Place, placesAt, property } from '../../catalog/paths/places-at.ts';
import type { Path } from '../../catalog/tree/path.ts';
import { parsePath } from '../../catalog/tree/path.ts';
import { joinDeepParts, takeDeepParts } from './deep-parts.ts';

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
  /** The text without dropped and redacted paths, for a text that SQLite refuses. */
  inJavaScript(text: string): string;
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
      const found = inOrderOfRemoval(varying.flatMap((path) => placesAt(path.steps, value)));
      for (const each of inOrderOfRemoval(paths.flatMap((path) => placesAt(path.steps, value)))) removeAt(value, each);
      return found.map(toSqlitePath);
    },
    inJavaScript(text) {
      // No path leads into deep parts.
      const shallow = takeDeepParts(text);
      const value = parseKeepingDigits(shallow.text);
      for (const path of droppedPaths) removeAt(value, path);
      for (const each of inOrderOfRemoval(paths.flatMap((path) => placesAt(path.steps, value)))) removeAt(value, each);
      return joinDeepParts(value, shallow.parts);
    },
  };
}

/**
 * Each path once, the last element of a list first: to remove an element moves those after it. A place comes after the places in it.
 */
function inOrderOfRemoval(paths: readonly Place[]): readonly Place[] {
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

function toSqlitePath(path: Place): string {
  return `$${path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${quoted(part)}`)).join('')}`;
}

function quoted(name: string): string {
  return `"${name.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

function removeAt(value: unknown, path: Place): void {
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
