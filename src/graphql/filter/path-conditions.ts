/** Conditions by path: they reach values without a typed filter field, mainly free JSON. */
import type { ResolvedPath } from '../../catalog/paths/resolve-path.ts';
import type { ValueCast } from '../../catalog/tree/cast.ts';
import type { LeafType } from '../../catalog/tree/field-tree.ts';
import { conjunction } from '../../query/plan/comparison.ts';
import { type Filter, isTextOperator } from '../../query/plan/filter.ts';
import { entriesOf, refuse } from '../../reads/paths/filter-values.ts';
import { leafIn, type PathKind, pathIn } from '../../reads/paths/kinds-path.ts';
import { type FilterClock, leafConditions } from '../../reads/paths/leaf-conditions.ts';

function typeOf({ type }: ResolvedPath): LeafType {
  return type.kind === 'leaf' ? type.type : 'JSON';
}

const withText: ReadonlySet<LeafType> = new Set(['String', 'IP', 'IntOrString', 'ResourceVersion', 'JSON']);

/**
 * The filter of one PathFilter, on these kinds. A list or an object supports only `exists`.
 * @throws PortolanError BAD_USER_INPUT for an unknown path, and for an operator that its type does not support.
 */
export function pathConditions(value: unknown, place: string, kinds: readonly PathKind[], clock: FilterClock): Filter {
  const { path: written, as, ...operators } = Object.fromEntries(entriesOf(value, place));
  if (as === null) refuse(`${place}.as`, 'is null; leave it out');
  const cast = as as ValueCast | undefined;
  const found = pathIn(kinds, String(written), 'some', cast);
  const entries = entriesOf(operators, place);
  if (entries.every(([name]) => name === 'exists')) {
    return conjunction(
      entries.map(([name, item]) => leafConditions(typeOf(found), { [name]: item }, place, found.path, clock)),
    );
  }
  leafIn(`${place} compares; that`, found);
  const type = typeOf(found);
  for (const [operator] of entries) {
    if (isTextOperator(operator) && !withText.has(type)) {
      const is =
        cast === undefined ? `${found.path.text} is ${type}` : `as: ${cast} makes it none; leave one of them out`;
      refuse(`${place}.${operator}`, `compares text, and ${is}`);
    }
  }
  if (cast !== undefined && operators['ignoreCase'] === true) {
    refuse(`${place}.ignoreCase`, `is for texts, and as: ${cast} makes it none; leave one of them out`);
  }
  return leafConditions(type, operators, place, found.path, clock, cast);
}
