/** Filters and orders as text for people, in logs and explanations. The text never contains the compared values. */
import type { Filter } from './filter.ts';
import { textOfLeaf } from './hop.ts';
import type { OrderTerm } from './plan.ts';

/** For example `spec.nodeName eq and not (status.phase in)`; empty for a filter that matches everything. */
export function shapeOfFilter(filter: Filter): string {
  switch (filter.kind) {
    case 'and':
      return filter.of
        .map((part) => (part.kind === 'or' ? `(${shapeOfFilter(part)})` : shapeOfFilter(part)))
        .join(' and ');
    case 'or':
      return filter.of
        .map((part) => (part.kind === 'and' ? `(${shapeOfFilter(part)})` : shapeOfFilter(part)))
        .join(' or ');
    case 'not':
      return `not (${shapeOfFilter(filter.of)})`;
    case 'compare':
      return `${textOfLeaf(filter)} ${filter.operator}${filter.ignoreCase ? ' ignoreCase' : ''}`.trim();
    case 'compareFields': {
      const times = filter.times === null ? '' : `${filter.times} x `;
      return `${filter.left.path.text} ${filter.operator} ${times}${filter.right.path.text}`;
    }
    case 'exists':
      return `${filter.path.text} exists`.trim();
    case 'some':
      return `${filter.path.text} some (${shapeOfFilter(filter.of)})`.trim();
    case 'related': {
      const inner = shapeOfFilter(filter.of);
      return inner === '' ? `${filter.hop.name} exists` : `${filter.hop.name} some (${inner})`;
    }
    case 'relatedCount':
      return `count(${filter.hop.name}) ${filter.operator}`;
    case 'labels':
      return filter.requirements.map(({ key, operator }) => `labels[${JSON.stringify(key)}] ${operator}`).join(' and ');
    case 'used':
    case 'search':
    case 'namespaces':
    case 'clusters':
    case 'ids':
    case 'kinds':
      return filter.kind;
  }
}

/** For example `status.phase ASC, metadata.name DESC`; empty for the identity order. */
export function shapeOfOrder(orderBy: readonly OrderTerm[]): string {
  return orderBy
    .map((term) => {
      const { direction, natural, ignoreCase, rank } = term;
      if (rank !== undefined) return 'rank';
      return `${textOfLeaf(term)} ${direction}${natural === true ? ' natural' : ''}${ignoreCase === true ? ' ignoreCase' : ''}`;
    })
    .join(', ');
}
