/** Which members of an object a filter reads. Live changes parse only these. */
import type { Path } from '../../catalog/tree/path.ts';
import type { Filter } from '../plan/filter.ts';

/** Names of members of an object; `all` for the whole object. */
export type Members = readonly string[] | 'all';

const known = new WeakMap<Filter, Members>();

/** The members of the object that `matches` may read for this filter. */
export function membersRead(filter: Filter): Members {
  const found = known.get(filter) ?? membersIn(filter);
  known.set(filter, found);
  return found;
}

/** The members that reading this path needs. */
export function membersOfPath({ steps: [first] }: Pick<Path, 'steps'>): Members {
  if (first?.kind === 'identity') return [];
  return first?.kind === 'field' ? [first.name] : 'all';
}

function membersIn(filter: Filter): Members {
  switch (filter.kind) {
    case 'and':
    case 'or':
      return union(filter.of.map(membersIn));
    case 'not':
      return membersIn(filter.of);
    case 'compare':
    case 'exists':
    case 'some':
      return membersOfPath(filter.path);
    case 'compareFields':
      return union([membersOfPath(filter.left.path), membersOfPath(filter.right.path)]);
    case 'labels':
      return ['metadata'];
    case 'namespaces':
    case 'clusters':
    case 'kinds':
    case 'ids':
      return [];
    case 'search':
    case 'related':
    case 'used':
    case 'relatedCount':
      return 'all';
  }
}

function union(parts: readonly Members[]): Members {
  const names = new Set<string>();
  for (const part of parts) {
    if (part === 'all') return 'all';
    for (const name of part) names.add(name);
  }
  return [...names];
}
