/**
 * How large a filter may be. Each condition becomes a piece of SQL, whose length, depth and number of parameters SQLite bounds, and is
 * looked at for every row.
 */
import { PortolanError } from '../../base/errors.ts';
import type { Filter } from './filter.ts';

/** Nodes of the tree, each requirement of a label selector being one. */
export const mostConditions = 500;
/** Filters within filters. */
export const deepestFilter = 50;
/** Values of all `in` lists, names and ids together. */
export const mostValues = 10_000;

/** @throws PortolanError QUERY_TOO_COSTLY saying which limit and by how much. */
export function checkFilter(filter: Filter): void {
  const size = { conditions: 0, depth: 0, values: 0 };
  measure(filter, 1, size);
  refuseBeyond('conditions', size.conditions, mostConditions, 'has', 'conditions');
  refuseBeyond('filterDepth', size.depth, deepestFilter, 'nests', 'levels');
  refuseBeyond('values', size.values, mostValues, 'names', 'values');
}

function measure(filter: Filter, depth: number, size: { conditions: number; depth: number; values: number }): void {
  size.depth = Math.max(size.depth, depth);
  size.conditions += filter.kind === 'labels' ? filter.requirements.length : 1;
  switch (filter.kind) {
    case 'and':
    case 'or':
      for (const part of filter.of) measure(part, depth + 1, size);
      return;
    case 'not':
    case 'some':
      measure(filter.of, depth + 1, size);
      return;
    case 'compare':
      size.values += filter.values.length;
      return;
    case 'labels':
      for (const { values } of filter.requirements) size.values += values.length;
      return;
    case 'namespaces':
    case 'clusters':
    case 'ids':
      size.values += filter.in.length;
  }
}

function refuseBeyond(limit: string, asked: number, allowed: number, does: string, what: string): void {
  if (asked <= allowed) return;
  throw new PortolanError('QUERY_TOO_COSTLY', `The filter ${does} ${asked} ${what}; at most ${allowed} are allowed.`, {
    details: { limit, asked, allowed },
  });
}
