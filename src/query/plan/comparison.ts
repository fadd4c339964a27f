/**
 * Builds filters of one condition in canonical form: equivalent conditions give equal trees. The store answers this form
 * fastest.
 *
 *   spec.containers[].image eq nginx   ->   some (spec.containers, compare (image eq nginx))
 *   metadata.labels["app"] eq web      ->   labels (app In [web])
 */
import type { LeafType } from '../../catalog/tree/field-tree.ts';
import { identityIn, isThroughLists, type Path, type PathStep, pathOf } from '../../catalog/tree/path.ts';
import { type CompareOperator, conjuncts, everything, type Filter, isTextOperator } from './filter.ts';

/**
 * Compares the value at `path` with `values`. Through `each` steps, one matching element suffices. Text operators compare as
 * String, whatever the leaf's type. The caller has already checked the values against the type.
 * @param more `relative`: the values as the caller wrote them, if some are relative to now; `cast`: `type` is that of this cast
 */
export function comparison(
  path: Path,
  type: LeafType,
  operator: CompareOperator,
  values: readonly unknown[],
  ignoreCase: boolean,
  more: Pick<Extract<Filter, { kind: 'compare' }>, 'relative' | 'cast'> = {},
): Filter {
  const compared = isTextOperator(operator) ? 'String' : type;
  if (identityIn(path) === 'cluster' && !ignoreCase && (operator === 'eq' || operator === 'in')) {
    return { kind: 'clusters', in: values.map(String) };
  }
  return throughLists(path, (below) => {
    const label = labelOf(below);
    if (label !== null && !ignoreCase && more.cast === undefined && (operator === 'eq' || operator === 'in')) {
      return { kind: 'labels', requirements: [{ key: label, operator: 'In', values: values.map(String) }] };
    }
    const compare: Filter = { kind: 'compare', path: below, type: compared, operator, values, ignoreCase, ...more };
    const mayBeOther = compared !== type && (type === 'JSON' || type === 'IntOrString');
    return mayBeOther ? conjunction([compare, isText(below, type)]) : compare;
  });
}

/** Only texts: their keys come after those of booleans and numbers. */
function isText(path: Path, type: LeafType): Filter {
  return { kind: 'compare', path, type, operator: 'gte', values: [''], ignoreCase: false };
}

/** Matches objects with a value at `path` that is not null. @param type of the folded value at a path with a fold. */
export function existence(path: Path, type?: LeafType): Filter {
  if (path.fold !== undefined && type !== undefined) return { kind: 'exists', path, type };
  return throughLists(path, (below) => {
    const label = labelOf(below);
    return label === null
      ? { kind: 'exists', path: below }
      : { kind: 'labels', requirements: [{ key: label, operator: 'Exists', values: [] }] };
  });
}

/** Wraps `make`'s condition on the path below the last list: some element of every list on the path must match. */
function throughLists(path: Path, make: (below: Path) => Filter): Filter {
  if (!isThroughLists(path)) return make(path);
  const each = path.steps.findIndex((step) => step.kind === 'each');
  const list = pathOf(path.steps.slice(0, each));
  return { kind: 'some', path: list, of: throughLists(pathOf(path.steps.slice(each + 1)), make) };
}

/** The label key of a path `metadata.labels["key"]` of an object, or of an element of a list; null for any other path. */
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

/** At least one of the filters; one filter alone is that filter itself. */
export function disjunction(of: readonly Filter[]): Filter {
  const [only] = of;
  return only !== undefined && of.length === 1 ? only : { kind: 'or', of };
}

/**
 * The filter in which letter case of ASCII does not count; null if it counts in no text that every match has.
 *
 *   status.phase eq running, spec.size eq 5   ->   status.phase eq running (ignoreCase), spec.size eq 5
 */
export function withoutLetterCase(filter: Filter): Filter | null {
  const parts = conjuncts(filter);
  const folded = parts.map((part) => (hasLetterCase(part) ? { ...part, ignoreCase: true } : part));
  return folded.every((part, index) => part === parts[index]) ? null : conjunction(folded);
}

/** The top-level conditions in whose texts letter case counts. */
export function conditionsOnLetterCase(filter: Filter): readonly (Filter & { readonly kind: 'compare' })[] {
  return conjuncts(filter).filter(hasLetterCase);
}

function hasLetterCase(part: Filter): part is Filter & { readonly kind: 'compare' } {
  if (part.kind !== 'compare' || part.type !== 'String' || part.ignoreCase) return false;
  return part.operator !== 'matches' && part.values.some((value) => /[A-Za-z]/.test(String(value)));
}
