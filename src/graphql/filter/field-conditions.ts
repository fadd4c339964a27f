/**
 * Field selectors on any leaf, with the answers of the API server on the leaves that it supports.
 *
 * A selector compares texts. For the kinds of kube-apiserver itself an absent leaf has the zero value of its type (Go structs). For
 * custom resources an absent leaf is the empty text (KEP-4358).
 *
 *   status.phase=Running     status.phase eq "Running"
 *   spec.nodeName=           spec.nodeName eq "", or spec.nodeName does not exist
 *   spec.n=0                 spec.n eq 0; of a built-in kind also where spec.n does not exist
 */
import { isOwnGroup } from '../../catalog/names/reserved-names.ts';
import type { CatalogKind } from '../../catalog/resources/catalog.ts';
import type { LeafType } from '../../catalog/tree/field-tree.ts';
import type { Path } from '../../catalog/tree/path.ts';
import { checkValue } from '../../catalog/values/values.ts';
import { comparison, conjunction, existence, negation } from '../../query/plan/comparison.ts';
import { parseFieldSelector } from '../../query/plan/field-selector.ts';
import { everything, type Filter, nothing } from '../../query/plan/filter.ts';
import { refuse } from '../../reads/paths/filter-values.ts';
import { leafIn, pathIn } from '../../reads/paths/kinds-path.ts';

/** The parts of a CatalogKind that filters are compiled with. */
export type FilteredKind = Pick<CatalogKind, 'key' | 'resource' | 'tree'>;

/**
 * The filter of a field selector, on these kinds.
 * @throws PortolanError BAD_USER_INPUT for a selector that cannot be parsed, and for an unknown path.
 */
export function fieldConditions(text: string, place: string, kinds: readonly FilteredKind[]): Filter {
  const requirements = parseFieldSelector(text);
  if (requirements.length === 0) return everything;
  const builtIn = kinds.filter(({ resource }) => isOwnGroup(resource.group));
  return conjunction(
    requirements.map(({ path: written, value, negated }) => {
      const found = pathIn(kinds, written, 'some');
      const path = leafIn('A field selector', found);
      const type = found.type.kind === 'leaf' ? found.type.type : 'JSON';
      const ofBuiltIn = (): Filter => equalToZeroable(path, type, value, place);
      const equal =
        builtIn.length === kinds.length ? ofBuiltIn() : byKind(builtIn, ofBuiltIn, equalToText(path, type, value));
      return negated ? negation(equal) : equal;
    }),
  );
}

/** `inside` for objects of these kinds, `outside` for the others. */
function byKind(kinds: readonly FilteredKind[], inside: () => Filter, outside: Filter): Filter {
  if (kinds.length === 0) return outside;
  const isInside: Filter = { kind: 'kinds', in: kinds.map(({ key }) => key) };
  return {
    kind: 'or',
    of: [
      { kind: 'and', of: [isInside, inside()] },
      { kind: 'and', of: [negation(isInside), outside] },
    ],
  };
}

/** An absent leaf has the zero value of its type. */
function equalToZeroable(path: Path, type: LeafType, written: string, place: string): Filter {
  const given = typedValue(type, written);
  const zero = written === '' || given === false || given === 0;
  if (checkValue(type, given) !== null) {
    if (written === '') return negation(existence(path));
    return refuse(place, `compares ${path.text}: ${checkValue(type, given)}`);
  }
  const equal = comparison(path, type, 'eq', [given], false);
  return zero ? { kind: 'or', of: [equal, negation(existence(path))] } : equal;
}

/** Types whose values are strings that a selector compares as they are written. */
const textTypes: ReadonlySet<LeafType> = new Set(['String', 'DateTime', 'Duration', 'IP']);
const canonicalInteger = /^(0|-?[1-9][0-9]*)$/;

/** An absent leaf is the empty text. A text that no value of the type is written as equals none. */
function equalToText(path: Path, type: LeafType, written: string): Filter {
  const equal = (as: LeafType, value: unknown): Filter => comparison(path, as, 'eq', [value], false);
  if (written === '') {
    const absent = negation(existence(path));
    return textTypes.has(type) ? { kind: 'or', of: [equal('String', ''), absent] } : absent;
  }
  if (textTypes.has(type)) return equal('String', written);
  const isInteger = type === 'Int' || type === 'Int64';
  const given = typedValue(type, written);
  if ((isInteger && !canonicalInteger.test(written)) || checkValue(type, given) !== null) return nothing;
  return equal(type, given);
}

/** The value of a text in a leaf of this type: `"3"` is 3 in an Int leaf. A text that is no such value stays a text. */
function typedValue(type: LeafType, written: string): unknown {
  switch (type) {
    case 'Boolean':
      return written === 'true' ? true : written === 'false' ? false : written;
    case 'Int':
    case 'Float':
      return /^-?[0-9]+(\.[0-9]+)?$/.test(written) ? Number(written) : written;
    case 'Int64':
      return written === '0' ? 0 : written;
    case 'IntOrString':
      return /^[0-9]{1,9}$/.test(written) ? Number(written) : written;
    default:
      return written;
  }
}
