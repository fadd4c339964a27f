/**
 * Single conditions as filters, written in the one form that the store answers best: the same question has the same tree, however
 * it was asked.
 */
import type { LeafType } from '../../catalog/tree/field-tree.ts';
import { type Path, type PathStep, pathOf } from '../../catalog/tree/path.ts';
import { type CompareOperator, everything, type Filter, isTextOperator } from './filter.ts';

/**
 * A comparison of what stands at `path`; through `each` steps one value is enough. Text operators look at strings, whatever the
 * leaf. The values are checked against the type before.
 */
export function comparison(
  path: Path,
  type: LeafType,
  operator: CompareOperator,
  values: readonly unknown[],
  ignoreCase: boolean,
): Filter {
  const compared = isTextOperator(operator) ? 'String' : type;
  return throughLists(path, (place) => {
    const label = labelOf(place);
    if (label !== null && !ignoreCase && (operator === 'eq' || operator === 'in')) {
      return { kind: 'labels', requirements: [{ key: label, operator: 'In', values: values.map(String) }] };
    }
    return { kind: 'compare', path: place, type: compared, operator, values, ignoreCase };
  });
}

/** Is there a value that is not null? */
export function existence(path: Path): Filter {
  return throughLists(path, (place) => {
    const label = labelOf(place);
    return label === null
      ? { kind: 'exists', path: place }
      : { kind: 'labels', requirements: [{ key: label, operator: 'Exists', values: [] }] };
  });
}

/** What `make` says of the last part of the path holds for some element of each list on the way. */
function throughLists(path: Path, make: (place: Path) => Filter): Filter {
  const each = path.steps.findIndex((step) => step.kind === 'each');
  if (each < 0) return make(path);
  const list = pathOf(path.steps.slice(0, each));
  return { kind: 'some', path: list, of: throughLists(pathOf(path.steps.slice(each + 1)), make) };
}

/** The key of the label that stands at a path of a whole object. */
function labelOf({ steps }: Path): string | null {
  const [metadata, labels, key] = steps as readonly (PathStep | undefined)[];
  if (steps.length !== 3 || metadata?.kind !== 'field' || labels?.kind !== 'field' || key?.kind !== 'key') return null;
  return metadata.name === 'metadata' && labels.name === 'labels' ? key.key : null;
}

/** It does not hold. */
export function negation(of: Filter): Filter {
  return { kind: 'not', of };
}

/** All of them hold; everything, where there are none. */
export function conjunction(of: readonly Filter[]): Filter {
  const [only] = of;
  if (only === undefined) return everything;
  return of.length === 1 ? only : { kind: 'and', of };
}
