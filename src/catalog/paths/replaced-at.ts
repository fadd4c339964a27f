/** Replaces the values at some places of one object. */

import { isObject } from '../values/displayed-value.ts';
import type { Place } from './places-at.ts';

/** The places by their parts. */
interface PlaceTree {
  isPlace: boolean;
  readonly parts: Map<string | number, PlaceTree>;
}

/**
 * A copy with what `replace` makes of the value at each place. Of a place in another one, the outer one counts. A place that the value does
 * not have counts for nothing.
 *
 * The object is walked once, however many places there are.
 */
export function replacedAt(value: unknown, places: readonly Place[], replace: (value: unknown) => unknown): unknown {
  if (places.length === 0) return value;
  const tree: PlaceTree = { isPlace: false, parts: new Map() };
  for (const place of places) {
    let at = tree;
    for (const part of place) {
      const next = at.parts.get(part) ?? { isPlace: false, parts: new Map() };
      at.parts.set(part, next);
      at = next;
    }
    at.isPlace = true;
  }
  return replaced(value, tree, replace);
}

function replaced(value: unknown, { isPlace, parts }: PlaceTree, replace: (value: unknown) => unknown): unknown {
  if (isPlace) return replace(value);
  const below = (part: string | number, inner: unknown): unknown => {
    const tree = parts.get(part);
    return tree === undefined ? inner : replaced(inner, tree, replace);
  };
  if (Array.isArray(value)) return value.map((item: unknown, index) => below(index, item));
  if (!isObject(value)) return value;
  // Entries, because an assignment to __proto__ would not make a member.
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, below(name, inner)]));
}
