/**
 * Builds filters of one condition in canonical form: equivalent conditions give equal trees. The store answers this form
 * fastest.
 *
 *   spec.containers[].image eq nginx   ->   some (spec.containers, compare (image eq nginx))
 *   metadata.labels["app"] eq web      ->   labels (app In [web])
 */
import type { LeafType } from '../../catalog/tree/field-tree.ts';
import { type Path, type PathStep, pathOf } from '../../catalog/tree/path.ts';
import { type CompareOperator, everything, type Filter, isTextOperator } from './filter.ts';

/**
 * Compares the value at `path` with `values`. Through `each` steps, one matching element suffices. Text operators compare as
 * String, whatever the leaf's type. The caller has already checked the values against the type.
 */
export function comparison(
  path: Path,
  type: LeafType,
  operator: CompareOperator,
  values: readonly unknown[],
  ignoreCase: boolean,
): Filter {
  const compared = isTextOperator(operator) ? 'String' : type;
  return throughLists(path, (below) => {
    const label = labelOf(below);
    if (label !== null && !ignoreCase && (operator === 'eq' || operator === 'in')) {
      return { kind: 'labels', requirements: [{ key: label, operator: 'In', values: values.map(String) }] };
    }
    return { kind: 'compare', path: below, type: compared, operator, values, ignoreCase };
  });
}

/** Matches objects with a value at `path` that is not null. */
export function existence(path: Path): Filter {
  return throughLists(path, (below) => {
    const label = labelOf(below);
    return label === null
      ? { kind: 'exists', path: below }
      : { kind: 'labels', requirements: [{ key: label, operator: 'Exists', values: [] }] };
  });
}

/** Wraps `make`'s condition on the path below the last list: some element of every list on the path must match. */
function throughLists(path: Path, make: (below: Path) => Filter): Filter {
  const each = path.steps.findIndex((step) => step.kind === 'each');
  if (each < 0) return make(path);
  const list = pathOf(path.steps.slice(0, each));
  return { kind: 'some', path: list, of: throughLists(pathOf(path.steps.slice(each + 1)), make) };
}

/** The label key of a path `metadata.labels["key"]` of a whole object; null for any other path. */
function labelOf({ steps }: Path): string | null {
  const [metadata, labels, key] = steps as readonly (PathStep | undefined)[];
  if (steps.length !== 3 || metadata?.kind !== 'field' || labels?.kind !== 'field' || key?.kind !== 'key') return null;
  return metadata.name === 'metadata' && labels.name === 'labels' ? key.key : null;
}

/** Matches the objects that `of` does not match. */
export function negation(of: Filter): Filter {
  return { kind: 'not', of };
}

/** Matches the objects that all filters match; without filters, all objects. */
export function conjunction(of: readonly Filter[]): Filter {
  const [only] = of;
  if (only === undefined) return everything;
  return of.length === 1 ? only : { kind: 'and', of };
}
