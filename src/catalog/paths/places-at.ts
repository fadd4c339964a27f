/** Where the values at a path stand in one object. */

import type { PathStep } from '../tree/path.ts';
import { isRawJson } from '../values/raw-json.ts';

/** A path to one value: member names and list indexes. */
export type Place = readonly (string | number)[];

/** The value as paths compare it; null for a list or an object. */
function textOf(value: unknown): string | null {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' || isRawJson(value) ? JSON.stringify(value) : null;
}

/** The places of the values in `value` that match the steps. `[name=value]` means all elements of this name, not the first. */
export function placesAt(steps: readonly PathStep[], value: unknown, place: Place = []): Place[] {
  const [step, ...rest] = steps;
  if (step === undefined) return [place];
  if (step.kind === 'each' || step.kind === 'where') {
    if (!Array.isArray(value)) return [];
    return value.flatMap((item: unknown, index) => {
      if (step.kind === 'where' && textOf(property(item, step.field)) !== step.value) return [];
      return placesAt(rest, item, [...place, index]);
    });
  }
  if (step.kind === 'index') {
    const item: unknown = Array.isArray(value) ? value[step.index] : undefined;
    return item === undefined ? [] : placesAt(rest, item, [...place, step.index]);
  }
  if (step.kind !== 'field' && step.kind !== 'key') return [];
  const name = step.kind === 'field' ? step.name : step.key;
  const next = property(value, name);
  return next === undefined ? [] : placesAt(rest, next, [...place, name]);
}

/** The own member of that name; undefined without one. */
export function property(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Record<string, unknown>)[name];
}
