/** Reads the argument `orderBy` of a list. */
import { PortolanError } from '../../base/errors.ts';
import type { CatalogKind } from '../../catalog/resources/catalog.ts';
import type { ValueCast } from '../../catalog/tree/cast.ts';
import { parsePath } from '../../catalog/tree/path.ts';
import { hasTextKey } from '../../catalog/values/values.ts';
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
  readonly ignoreCase?: boolean | null;
  readonly as?: ValueCast | null;
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
  { path: written, direction, nulls, natural, ignoreCase, as }: OrderArgument,
  kindOf: KindOf,
): OrderTerm {
  const cast = as ?? undefined;
  const found = relatedPathIn(kinds, written, 'every', kindOf, cast);
  const path = leafIn('An order', found);
  const type = found.type.kind === 'leaf' ? found.type.type : 'JSON';
  for (const [name, given] of Object.entries({ natural, ignoreCase })) {
    if (given !== true || hasTextKey(type)) continue;
    const is = cast === undefined ? `${path.text} is ${type}` : `as: ${cast} makes ${path.text} none`;
    throw new PortolanError('BAD_USER_INPUT', `${name} orders texts, and ${is}; leave it out.`);
  }
  return {
    path,
    type,
    ...(found.through === undefined ? {} : { through: found.through }),
    direction: direction ?? 'ASC',
    nulls: nulls ?? 'LAST',
    ...(natural === true ? { natural } : {}),
    ...(ignoreCase === true ? { ignoreCase } : {}),
    ...(cast === undefined ? {} : { cast }),
  };
}
