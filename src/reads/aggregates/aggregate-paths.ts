/** Looks up the path arguments of aggregates and facets in the connection's kinds, and checks them against the measure. */

import { PortolanError } from '../../base/errors.ts';
import { castType, type ValueCast } from '../../catalog/tree/cast.ts';
import { isThroughLists } from '../../catalog/tree/path.ts';
import { isSummable } from '../../catalog/values/tally.ts';
import type { Leaf, Measured } from '../../query/plan/aggregate.ts';
import { textOfLeaf } from '../../query/plan/hop.ts';
import { leafIn } from '../paths/kinds-path.ts';
import { relatedPathIn } from '../paths/related-path.ts';
import type { Aggregated } from './aggregated.ts';

/** The values at a path, as of the type of a cast. */
export interface MeasuredPath {
  readonly path: string;
  readonly as?: ValueCast | null | undefined;
}

/**
 * The cast of each path: `as` has one for each, or null for none.
 * @throws PortolanError BAD_USER_INPUT for another number of casts
 */
export function castsOf(
  what: string,
  paths: readonly string[],
  as: readonly (ValueCast | null | undefined)[] | null | undefined,
): readonly (ValueCast | undefined)[] {
  const casts = as ?? [];
  if (casts.length === 0 || casts.length === paths.length) return paths.map((_, index) => casts[index] ?? undefined);
  throw new PortolanError(
    'BAD_USER_INPUT',
    `\`as\` of ${what} has ${casts.length} types for ${paths.length} paths; write one for each path, null for none.`,
  );
}

/** Fields of an aggregate that measure the values at a path. */
export type Measure = 'sum' | 'avg' | 'min' | 'max';

const found = new WeakMap<readonly unknown[], Map<string, Leaf>>();

/**
 * The leaf that a path names in at least one of the kinds. Objects of the other kinds have no value there.
 * @throws PortolanError BAD_USER_INPUT
 */
export function leafAt({ kinds, operation }: Aggregated, what: string, written: string, cast?: ValueCast): Leaf {
  let known = found.get(kinds);
  if (known === undefined) {
    known = new Map();
    found.set(kinds, known);
  }
  const name = cast === undefined ? written : `${written} as ${cast}`;
  const earlier = known.get(name);
  if (earlier !== undefined) return earlier;
  const resolved = relatedPathIn(kinds, written, 'some', operation.generation.kind, cast);
  const { through } = resolved;
  const leaf: Leaf = {
    path: leafIn(what, resolved),
    type: resolved.type.kind === 'leaf' ? resolved.type.type : 'JSON',
    ...(cast === undefined ? {} : { cast }),
    ...(through === undefined ? {} : { through }),
  };
  known.set(name, leaf);
  return leaf;
}

/**
 * As leafAt. Without a cast, the path may also be that of a map, whose keys are the values: `metadata.labels`.
 * @throws PortolanError BAD_USER_INPUT
 */
export function leafOrKeysAt(aggregated: Aggregated, what: string, written: string, cast?: ValueCast): Leaf {
  const { kinds, operation } = aggregated;
  if (cast !== undefined) return leafAt(aggregated, what, written, cast);
  const { type, path, through } = relatedPathIn(kinds, written, 'some', operation.generation.kind);
  const isMap = type.kind === 'stringMap' || type.kind === 'map';
  if (!isMap || through !== undefined || isThroughLists(path)) return leafAt(aggregated, what, written);
  return { path, type: 'String', keys: true };
}

/**
 * The measurement that the aggregate field `measure(path:, as:)` needs.
 * @throws PortolanError BAD_USER_INPUT for a path that does not exist, or a sum over values that cannot be added.
 */
export function measuredAt(aggregated: Aggregated, measure: Measure, { path: written, as }: MeasuredPath): Measured {
  const leaf = leafAt(aggregated, measure, written, as ?? undefined);
  const sum = measure === 'sum' || measure === 'avg';
  if (sum && !isSummable(leaf.type)) {
    const isFree = leaf.cast === undefined && castType('NUMBER', leaf.type) !== null;
    const hint = isFree ? ' Add as: NUMBER or as: QUANTITY if its values are such.' : '';
    throw new PortolanError(
      'BAD_USER_INPUT',
      `${measure} adds up numbers, quantities and durations, and ${textOfLeaf(leaf)} is ${leaf.type}.${hint}`,
      { details: { path: textOfLeaf(leaf) } },
    );
  }
  return { ...leaf, sum, ends: !sum };
}

/** Merges measurements of the same path: `sum` and `max` of `spec.size` become one entry with both flags. */
export function mergeMeasured(all: readonly Measured[]): readonly Measured[] {
  const merged = new Map<string, Measured>();
  for (const each of all) {
    const text = textOfLeaf(each);
    const known = merged.get(text);
    merged.set(text, {
      ...each,
      sum: each.sum || known?.sum === true,
      ends: each.ends || known?.ends === true,
    });
  }
  return [...merged.values()];
}
