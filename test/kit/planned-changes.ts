/**
 * Compares what a write did to an object with the changes of its plan, on the JSON that the API server gives.
 *
 *   each change: its value before and after stand at its path in the objects before and after
 *   the objects without the paths of the changes are equal
 *
 * Left out is what every write changes, and the status.
 */
import { isDeepStrictEqual } from 'node:util';
import { type PathStep, parsePath } from '../../src/catalog/tree/path.ts';
import type { WrittenItem } from './writes-suite.ts';

export interface ReadObject {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly managedFields?: readonly { readonly manager: string }[];
  };
  readonly [member: string]: unknown;
}

type Open = Record<string, unknown>;

const noise = ['managedFields', 'resourceVersion', 'generation', 'selfLink'];
const ofNewObject = ['uid', 'creationTimestamp'];

/** The object without what every write changes, and without its status; a copy. Null stays null. */
export function withoutNoise(object: ReadObject | null): Open | null {
  if (object === null) return null;
  const { status: _status, metadata, ...rest } = structuredClone(object);
  return { ...rest, metadata: without(metadata as Open, noise) };
}

/** How the objects differ from what the changes say; null if they do not. */
export function differenceFromPlan(
  before: ReadObject | null,
  after: ReadObject | null,
  changes: WrittenItem['changes'],
): string | null {
  const [left, right] = [withoutNoise(before) ?? {}, withoutNoise(after) ?? {}];
  if (before === null || after === null) {
    for (const object of [left, right]) object['metadata'] = without((object['metadata'] ?? {}) as Open, ofNewObject);
  }
  for (const change of changes) {
    const { steps } = parsePath(change.path);
    const [was, is] = [taken(left, steps), taken(right, steps)];
    if (change.isWithheld) continue;
    if (!isDeepStrictEqual(was ?? null, change.before)) return `${change.path} was ${JSON.stringify(was)} before`;
    if (!isDeepStrictEqual(is ?? null, change.after)) return `${change.path} is ${JSON.stringify(is)}`;
  }
  const [restBefore, restAfter] = [withoutEmpty(left), withoutEmpty(right)];
  if (isDeepStrictEqual(restBefore, restAfter)) return null;
  return `more changed: ${JSON.stringify(restBefore)} -> ${JSON.stringify(restAfter)}`;
}

function without(object: Open, names: readonly string[]): Open {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));
}

/** The value at the path, which is removed from the object. */
function taken(object: Open, steps: readonly PathStep[]): unknown {
  let holder: unknown = object;
  for (const step of steps.slice(0, -1)) holder = inside(holder, step);
  const last = steps.at(-1);
  if (last === undefined || typeof holder !== 'object' || holder === null) return undefined;
  const value = inside(holder, last);
  if (Array.isArray(holder)) {
    const at = holder.indexOf(value);
    // The places of the others stay.
    if (at !== -1) holder[at] = null;
  } else if ('name' in last || 'key' in last) delete (holder as Open)['name' in last ? String(last.name) : last.key];
  return value;
}

function inside(holder: unknown, step: PathStep): unknown {
  if (typeof holder !== 'object' || holder === null) return undefined;
  switch (step.kind) {
    case 'field':
      return Object.hasOwn(holder, step.name) ? (holder as Open)[step.name] : undefined;
    case 'key':
      return Object.hasOwn(holder, step.key) ? (holder as Open)[step.key] : undefined;
    case 'index':
      return (holder as unknown[])[step.index];
    case 'where':
      return (holder as (Open | null)[]).find((element) => String(element?.[step.field]) === step.value);
    default:
      throw new Error(`a change has no step ${step.kind}`);
  }
}

/** Without the nulls that stand for taken elements, and without objects and lists that are empty. */
function withoutEmpty(value: unknown): unknown {
  if (Array.isArray(value)) {
    const rest = value.map(withoutEmpty).filter((element) => element !== undefined && element !== null);
    return rest.length === 0 ? undefined : rest;
  }
  if (typeof value !== 'object' || value === null) return value;
  const rest = Object.entries(value).flatMap(([name, inner]) => {
    const kept = withoutEmpty(inner);
    return kept === undefined ? [] : [[name, kept]];
  });
  return rest.length === 0 ? undefined : Object.fromEntries(rest);
}
