/**
 * Finds the values at a path in an object's JSONB, without converting the lists and objects through which it leads. The counterpart
 * of valuesAt (src/catalog/paths/value-at.ts).
 *
 *   conditions[type=Ready].status   the elements of the list -> the first whose member `type` is Ready -> its member `status`
 *
 * Like JsonbPaths, it takes the first of several members with one name. JSON.parse takes the last; no API server writes such objects.
 */

import type { Path, PathStep } from '../../catalog/tree/path.ts';
import { scalarText } from '../../catalog/values/values.ts';
import type { JsonbValues } from './jsonb-reader.ts';

type Step =
  | { readonly kind: 'member'; readonly name: Buffer }
  | { readonly kind: 'each' }
  | { readonly kind: 'several'; readonly of: readonly JsonbWalk[] }
  | { readonly kind: 'index'; readonly index: number }
  | { readonly kind: 'where'; readonly field: Buffer; readonly value: string };

export class JsonbWalk {
  readonly #steps: readonly Step[];

  /** @param steps no parts of the identity or the health. */
  constructor(steps: readonly PathStep[]) {
    this.#steps = steps.map(prepared);
  }

  /** The positions of the values at the path below the element at `from`; -1 for an absent element. */
  find(values: JsonbValues, from: number): readonly number[] {
    let places: readonly number[] = from === -1 ? [] : [from];
    for (const step of this.#steps) {
      const next: number[] = [];
      for (const place of places) follow(values, place, step, next);
      places = next;
    }
    return places;
  }
}

function prepared(step: PathStep): Step {
  switch (step.kind) {
    case 'field':
      return { kind: 'member', name: Buffer.from(step.name) };
    case 'key':
      return { kind: 'member', name: Buffer.from(step.key) };
    case 'where':
      return { kind: 'where', field: Buffer.from(step.field), value: step.value };
    case 'several':
      return { kind: 'several', of: step.of.map((path) => new JsonbWalk(path.steps)) };
    case 'each':
    case 'index':
      return step;
    case 'identity':
    case 'health':
    case 'rollUp':
      throw new Error(`invariant broken: ${step.name} is not in the body`);
  }
}

function follow(values: JsonbValues, place: number, step: Step, found: number[]): void {
  switch (step.kind) {
    case 'member':
      add(values.member(place, step.name), found);
      return;
    case 'each':
      for (const element of values.elements(place)) found.push(element);
      return;
    case 'several':
      for (const walk of step.of) found.push(...walk.find(values, place));
      return;
    case 'index':
      add(values.elements(place)[step.index] ?? -1, found);
      return;
    case 'where':
      for (const element of values.elements(place)) {
        const member = values.member(element, step.field);
        if (member === -1 || scalarText(values.value(member)) !== step.value) continue;
        found.push(element);
        return;
      }
  }
}

function add(place: number, found: number[]): void {
  if (place !== -1) found.push(place);
}

/** Splits a path into its longest prefix of member names and the remaining steps. */
export function splitPath(path: Path): { readonly start: readonly string[]; readonly rest: readonly PathStep[] } {
  const isMember = (step: PathStep): boolean => step.kind === 'field' || step.kind === 'key';
  const other = path.steps.findIndex((step) => !isMember(step));
  const count = other === -1 ? path.steps.length : other;
  const start = path.steps
    .slice(0, count)
    .flatMap((step) => (step.kind === 'field' ? [step.name] : step.kind === 'key' ? [step.key] : []));
  return { start, rest: path.steps.slice(count) };
}
