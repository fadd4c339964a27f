/**
 * The aggregate evaluator in JavaScript. Tests compare the SQL of sql-aggregate.ts with it, so it is short and simple.
 */

import { healthOf } from '../../src/catalog/health/health.ts';
import { leafValueAt, valuesAt } from '../../src/catalog/paths/value-at.ts';
import type { LeafType } from '../../src/catalog/tree/field-tree.ts';
import type { Path } from '../../src/catalog/tree/path.ts';
import { Tally } from '../../src/catalog/values/tally.ts';
import { type OrderKey, orderKey } from '../../src/catalog/values/values.ts';
import { identityValue, type MatchedObjectLike, matches } from '../../src/query/evaluate/matches.ts';
import { type AggregatePlan, type GroupResult, groupText, type Leaf } from '../../src/query/plan/aggregate.ts';

/** The groups of the matching objects, in undefined order. Without `by`, exactly one group. */
export function evaluateAggregate(plan: AggregatePlan, objects: readonly MatchedObjectLike[]): GroupResult[] {
  const kinds = new Set(plan.kinds.map(({ key }) => key));
  const members = new Map<string, { keys: readonly (OrderKey | null)[]; of: MatchedObjectLike[] }>();
  if (plan.by.length === 0) members.set(groupText([]), { keys: [], of: [] });
  for (const object of objects) {
    if (!kinds.has(object.key) || !matches(plan.filter, object)) continue;
    for (const keys of combinations(plan.by.map((leaf) => distinct(keysOf(leaf, object))))) {
      const text = groupText(keys);
      const group = members.get(text) ?? { keys, of: [] };
      group.of.push(object);
      members.set(text, group);
    }
  }
  return [...members.values()].map(({ keys, of }) => ({
    keys,
    count: of.length,
    tallies: plan.measured.map((measured) => {
      const tally = new Tally();
      for (const object of of) for (const key of keysOf(measured, object)) tally.add(measured.type, key);
      return tally;
    }),
  }));
}

function keysOf({ path, type }: Leaf, object: MatchedObjectLike): OrderKey[] {
  return valuesOf(path, type, object).flatMap((value) => orderKey(type, value) ?? []);
}

/** The values at a path of the identity, of the health or of the body. */
export function valuesOf(path: Path, type: LeafType, object: MatchedObjectLike): readonly unknown[] {
  const [first] = path.steps;
  if (first?.kind === 'health') return [healthOf(object.body, object.health)[first.name]];
  const identity = identityValue(path, object);
  if (identity !== undefined) return [identity];
  return path.fold === undefined ? valuesAt(object.body, path) : [leafValueAt(object.body, path, type)];
}

function distinct(keys: readonly OrderKey[]): readonly (OrderKey | null)[] {
  const known = new Map(keys.map((key) => [String(key), key]));
  return known.size === 0 ? [null] : [...known.values()];
}

function combinations(sets: readonly (readonly (OrderKey | null)[])[]): (OrderKey | null)[][] {
  return sets.reduce<(OrderKey | null)[][]>(
    (found, keys) => found.flatMap((before) => keys.map((key) => [...before, key])),
    [[]],
  );
}
