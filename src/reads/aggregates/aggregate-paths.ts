/** Looks up the path arguments of aggregates and facets in the connection's kinds, and checks them against the measure. */

import { PortolanError } from '../../base/errors.ts';
import { isSummable } from '../../catalog/values/tally.ts';
import type { Leaf, Measured } from '../../query/plan/aggregate.ts';
import { textOfLeaf } from '../../query/plan/hop.ts';
import { leafIn } from '../paths/kinds-path.ts';
import { relatedPathIn } from '../paths/related-path.ts';
import type { Aggregated } from './aggregated.ts';

/** Fields of an aggregate that measure the values at a path. */
export type Measure = 'sum' | 'avg' | 'min' | 'max';

const found = new WeakMap<readonly unknown[], Map<string, Leaf>>();

/**
 * The leaf that a path names in at least one of the kinds. Objects of the other kinds have no value there.
 * @throws PortolanError BAD_USER_INPUT
 */
export function leafAt({ kinds, operation }: Aggregated, what: string, written: string): Leaf {
  let known = found.get(kinds);
  if (known === undefined) {
    known = new Map();
    found.set(kinds, known);
  }
  const earlier = known.get(written);
  if (earlier !== undefined) return earlier;
  const resolved = relatedPathIn(kinds, written, 'some', operation.generation.kind);
  const { through } = resolved;
  const leaf: Leaf = {
    path: leafIn(what, resolved),
    type: resolved.type.kind === 'leaf' ? resolved.type.type : 'JSON',
    ...(through === undefined ? {} : { through }),
  };
  known.set(written, leaf);
  return leaf;
}

/**
 * The measurement that the aggregate field `measure(path:)` needs.
 * @throws PortolanError BAD_USER_INPUT for a path that does not exist, or a sum over values that cannot be added.
 */
export function measuredAt(aggregated: Aggregated, measure: Measure, written: string): Measured {
  const leaf = leafAt(aggregated, measure, written);
  const sum = measure === 'sum' || measure === 'avg';
  if (sum && !isSummable(leaf.type)) {
    throw new PortolanError(
      'BAD_USER_INPUT',
      `${measure} adds up numbers, quantities and durations, and ${textOfLeaf(leaf)} is ${leaf.type}.`,
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
