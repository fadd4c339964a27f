/** Reads the argument `orderBy` of a list. */
import { PortolanError } from '../../base/errors.ts';
import type { CatalogKind } from '../../catalog/resources/catalog.ts';
import { parsePath } from '../../catalog/tree/path.ts';
import type { Filter } from '../../query/plan/filter.ts';
import type { OrderTerm } from '../../query/plan/plan.ts';
import { searchesIn } from '../../query/sql/search.ts';
import { leafIn } from './kinds-path.ts';
import { type KindOf, relatedPathIn } from './related-path.ts';

export interface OrderArgument {
  readonly path: string;
  readonly direction?: 'ASC' | 'DESC' | null;
  readonly nulls?: 'FIRST' | 'LAST' | null;
  readonly natural?: boolean | null;
}

/**
 * The order terms of the argument. A search without `orderBy` is ordered by rank.
 * @throws PortolanError BAD_USER_INPUT for a path that cannot be ordered by.
 */
export function orderTerms(
  kinds: readonly CatalogKind[],
  filter: Filter,
  given: readonly OrderArgument[],
  kindOf: KindOf,
): OrderTerm[] {
  const terms = [...new Set(searchesIn(filter).flatMap((search) => search.terms))];
  if (given.length > 0 || terms.length === 0) return given.map((term) => orderTerm(kinds, term, kindOf));
  return [{ path: parsePath('metadata.name'), type: 'Int', direction: 'ASC', nulls: 'LAST', rank: terms }];
}

function orderTerm(
  kinds: readonly CatalogKind[],
  { path: written, direction, nulls, natural }: OrderArgument,
  kindOf: KindOf,
): OrderTerm {
  const found = relatedPathIn(kinds, written, 'every', kindOf);
  const path = leafIn('An order', found);
  const type = found.type.kind === 'leaf' ? found.type.type : 'JSON';
  if (natural === true && type !== 'String') {
    throw new PortolanError('BAD_USER_INPUT', `natural orders texts, and ${path.text} is ${type}; leave it out.`);
  }
  return {
    path,
    type,
    ...(found.through === undefined ? {} : { through: found.through }),
    direction: direction ?? 'ASC',
    nulls: nulls ?? 'LAST',
    ...(natural === true ? { natural } : {}),
  };
}
