/** Filters whose result a write of the status may change. */
import type { Path } from '../../catalog/tree/path.ts';
import type { Filter } from '../../query/plan/filter.ts';

/** Members of metadata that change with each write, also of the status. */
const written = ['resourceVersion', 'managedFields'];

/**
 * May the filter match one of two objects that differ in their status alone, and not the other? A filter inside a list is relative to its
 * elements. A field `status` of an element counts too, which is more than needed.
 */
export function dependsOnStatus(filter: Filter): boolean {
  switch (filter.kind) {
    case 'and':
    case 'or':
      return filter.of.some(dependsOnStatus);
    case 'not':
      return dependsOnStatus(filter.of);
    case 'some':
      return isWithStatus(filter.path) || dependsOnStatus(filter.of);
    case 'compare':
    case 'exists':
      return isWithStatus(filter.path);
    case 'compareFields':
      return isWithStatus(filter.left.path) || isWithStatus(filter.right.path);
    case 'search':
      return filter.paths.some(isWithStatus);
    case 'labels':
    case 'namespaces':
    case 'clusters':
    case 'ids':
    case 'kinds':
      return false;
    case 'related':
    case 'relatedCount':
    case 'used':
      return true;
  }
}

/** Does the path lead into the status, or to a value that is computed from it? */
function isWithStatus({ steps: [first, second] }: Path): boolean {
  if (first?.kind === 'health' || first?.kind === 'rollUp') return true;
  if (first?.kind !== 'field') return false;
  if (first.name === 'metadata') return second?.kind === 'field' && written.includes(second.name);
  return first.name === 'status';
}
