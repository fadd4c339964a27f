/**
 * Size limits of a filter. Each condition becomes SQL text that SQLite evaluates for every row. SQLite limits the length of a
 * statement, its depth and its number of parameters.
 */
import { PortolanError } from '../../base/errors.ts';
import { isListStep, isRolledUp, type Path } from '../../catalog/tree/path.ts';
import type { Filter } from './filter.ts';

/** Nodes of the filter tree. Each requirement of a label selector counts as one. */
const mostConditions = 500;
/** Levels of nested filters. */
const deepestFilter = 50;
/** Values of the whole filter: all `in` lists, names and ids together. */
const mostValues = 10_000;

/** Conditions through relations. Each runs for every row, and through the related objects of that row. */
const mostRelated = 10;
/** Levels of conditions through relations inside each other. */
export const deepestRelated = 3;
/** Lists inside each other whose elements a condition looks at, by `some` and by paths together. */
const deepestLists = 12;

/** @throws PortolanError QUERY_TOO_COSTLY naming the limit, the size of the filter and the allowed size. */
export function checkFilter(filter: Filter): void {
  const size = sizeOf(filter);
  refuseBeyond('conditions', size.conditions, mostConditions, 'has', 'conditions');
  refuseBeyond('filterDepth', size.depth, deepestFilter, 'nests', 'levels');
  refuseBeyond('relations', size.related, mostRelated, 'has', 'conditions through relations');
  refuseBeyond('relationDepth', size.relatedDepth, deepestRelated, 'goes through', 'relations, one after another');
  refuseBeyond('listDepth', size.lists, deepestLists, 'looks into', 'lists inside each other');
  refuseBeyond('values', size.values, mostValues, 'names', 'values');
}

/** Counts the conditions of a filter while it is read: each is looked up in all queried kinds, so reading ends at the limit. */
export class ConditionCount {
  #conditions = 0;

  /** Counts a part of the filter, and returns it. @throws PortolanError QUERY_TOO_COSTLY for more conditions than checkFilter allows. */
  add(part: Filter): Filter {
    this.#conditions += sizeOf(part).conditions;
    refuseBeyond('conditions', this.#conditions, mostConditions, 'has at least', 'conditions');
    return part;
  }
}

function sizeOf(filter: Filter): Size {
  const size: Size = { conditions: 0, depth: 0, values: 0, related: 0, relatedDepth: 0, lists: 0 };
  measure(filter, 1, size, { related: 0, lists: 0 });
  return size;
}

interface Size {
  conditions: number;
  depth: number;
  values: number;
  related: number;
  relatedDepth: number;
  lists: number;
}

/** The surroundings of a filter. */
interface Around {
  /** Conditions through relations. */
  readonly related: number;
  /** Lists whose elements it is about. */
  readonly lists: number;
}

function measure(filter: Filter, depth: number, size: Size, around: Around): void {
  size.depth = Math.max(size.depth, depth);
  size.conditions += filter.kind === 'labels' ? filter.requirements.length : 1;
  switch (filter.kind) {
    case 'and':
    case 'or':
      for (const part of filter.of) measure(part, depth + 1, size, around);
      return;
    case 'related':
      size.related += 1;
      size.relatedDepth = Math.max(size.relatedDepth, around.related + 1);
      measure(filter.of, depth + 1, size, { ...around, related: around.related + 1 });
      return;
    case 'not':
      measure(filter.of, depth + 1, size, around);
      return;
    case 'some': {
      const lists = around.lists + 1 + listSteps(filter.path);
      size.lists = Math.max(size.lists, lists);
      measure(filter.of, depth + 1, size, { ...around, lists });
      return;
    }
    case 'exists':
      if (isRolledUp(filter.path)) size.related += 1;
      size.lists = Math.max(size.lists, around.lists + listSteps(filter.path));
      return;
    case 'used':
      size.related += 1;
      return;
    case 'relatedCount':
      size.related += 1;
      size.relatedDepth = Math.max(size.relatedDepth, around.related + 1);
      size.values += filter.values.length;
      return;
    case 'compareFields':
      size.related += [filter.left, filter.right].filter(({ path }) => isRolledUp(path)).length;
      return;
    case 'compare':
      if (isRolledUp(filter.path)) size.related += 1;
      size.lists = Math.max(size.lists, around.lists + listSteps(filter.path));
      size.values += filter.values.length;
      return;
    case 'labels':
      for (const { values } of filter.requirements) size.values += values.length;
      return;
    case 'namespaces':
    case 'clusters':
    case 'ids':
    case 'kinds':
      size.values += filter.in.length;
  }
}

function listSteps({ steps }: Path): number {
  return steps.filter(isListStep).length;
}

function refuseBeyond(limit: string, asked: number, allowed: number, does: string, what: string): void {
  if (asked <= allowed) return;
  throw new PortolanError('QUERY_TOO_COSTLY', `The filter ${does} ${asked} ${what}; at most ${allowed} are allowed.`, {
    details: { limit, asked, allowed },
  });
}
