/**
 * Field selectors on any leaf, with the answers of the API server on the leaves that it supports.
 *
 * A selector compares texts. For the kinds of kube-apiserver itself an absent leaf has the zero value of its type (Go structs). For
 * custom resources an absent leaf is the empty text (KEP-4358).
 *
 *   status.phase=Running     status.phase eq "Running"
 *   spec.nodeName=           spec.nodeName eq "", or spec.nodeName does not exist
 *   spec.hostNetwork=        nothing: a boolean of a built-in kind is written as true or false
 *   spec.n=0                 spec.n eq 0; of a built-in kind also where spec.n does not exist
 */
import { codeOf } from '../../base/errors.ts';
import { isOwnGroup } from '../../catalog/names/reserved-names.ts';
import type { CatalogKind } from '../../catalog/resources/catalog.ts';
import type { LeafType } from '../../catalog/tree/field-tree.ts';
import type { Path } from '../../catalog/tree/path.ts';
import { checkValue, parseExact, scalarText } from '../../catalog/values/values.ts';
import { comparison, conjunction, existence, negation } from '../../query/plan/comparison.ts';
import { parseFieldSelector } from '../../query/plan/field-selector.ts';
import { everything, type Filter, nothing } from '../../query/plan/filter.ts';
import { leafIn, pathIn } from '../../reads/paths/kinds-path.ts';
import { pathsOfLabel } from './selector-labels.ts';

/** The parts of a CatalogKind that filters are compiled with. */
export type FilteredKind = Pick<CatalogKind, 'key' | 'resource' | 'tree'>;

/**
 * The filter of a field selector, on these kinds.
 * @throws PortolanError BAD_USER_INPUT for a selector that cannot be parsed, and for an unknown path.
 */
export function fieldConditions(text: string, kinds: readonly FilteredKind[]): Filter {
  const requirements = parseFieldSelector(text);
  if (requirements.length === 0) return everything;
  return conjunction(
    requirements.map(({ path, value, negated }) => {
      const equal = equalIn(kinds, path, value);
      return negated ? negation(equal) : equal;
    }),
  );
}

function equalIn(kinds: readonly FilteredKind[], label: string, value: string): Filter {
  const labelled = kinds.find(({ key }) => pathsOfLabel(key, label) !== null);
  const paths = labelled === undefined ? null : pathsOfLabel(labelled.key, label);
  if (labelled === undefined || paths === null) return equalAt(kinds, label, value);
  const inside = equalToFirst(labelled, paths, value);
  const others = kinds.filter(({ key }) => key !== labelled.key);
  return others.length === 0 ? inside : byKind([labelled], inside, equalIfKnown(others, label, value));
}

/** As equalAt. In kinds without the path, its value is the empty text. */
function equalIfKnown(kinds: readonly FilteredKind[], path: string, value: string): Filter {
  try {
    return equalAt(kinds, path, value);
  } catch (error) {
    if (codeOf(error) !== 'BAD_USER_INPUT') throw error;
    return value === '' ? everything : nothing;
  }
}

/** The first of the values that is not empty equals the text. Without paths, that is the empty text. */
function equalToFirst(kind: FilteredKind, [path, ...rest]: readonly string[], value: string): Filter {
  if (path === undefined) return value === '' ? everything : nothing;
  const equal = equalAt([kind], path, value);
  if (rest.length === 0) return equal;
  const otherwise = conjunction([equalAt([kind], path, ''), equalToFirst(kind, rest, value)]);
  return value === '' ? otherwise : { kind: 'or', of: [equal, otherwise] };
}

function equalAt(kinds: readonly FilteredKind[], written: string, value: string): Filter {
  const builtIn = kinds.filter(({ resource }) => isOwnGroup(resource.group));
  const found = pathIn(kinds, written, 'some');
  const path = leafIn('A field selector', found);
  const type = found.type.kind === 'leaf' ? found.type.type : 'JSON';
  const ofBuiltIn = equalToZeroable(path, type, value);
  return builtIn.length === kinds.length ? ofBuiltIn : byKind(builtIn, ofBuiltIn, equalToText(path, type, value));
}

/** `inside` for objects of these kinds, `outside` for the others. */
function byKind(kinds: readonly FilteredKind[], inside: Filter, outside: Filter): Filter {
  if (kinds.length === 0) return outside;
  const isInside: Filter = { kind: 'kinds', in: kinds.map(({ key }) => key) };
  return {
    kind: 'or',
    of: [
      { kind: 'and', of: [isInside, inside] },
      { kind: 'and', of: [negation(isInside), outside] },
    ],
  };
}

/** An absent leaf has the zero value of its type. A text that no value of the type is written as equals none. */
function equalToZeroable(path: Path, type: LeafType, written: string): Filter {
  const given = typedValue(type, written);
  const zero = written === '' || given === false || given === 0;
  if (checkValue(type, given) !== null || isOtherInteger(type, written)) {
    // The zero values of these types are not written as the empty text.
    return written !== '' || neverEmpty.has(type) ? nothing : negation(existence(path));
  }
  const equal = comparison(path, type, 'eq', [given], false);
  return zero ? { kind: 'or', of: [equal, negation(existence(path))] } : equal;
}

/** Types whose values are strings that a selector compares as they are written. */
const textTypes: ReadonlySet<LeafType> = new Set(['String', 'DateTime', 'Duration', 'IP', 'ResourceVersion']);
/** Types whose values are texts or other scalars. */
const freeTypes: ReadonlySet<LeafType> = new Set(['JSON', 'IntOrString']);
/** Types whose zero value in Go is false or 0. */
const neverEmpty: ReadonlySet<LeafType> = new Set(['Boolean', 'Int', 'Int64', 'Float']);
const canonicalInteger = /^(0|-?[1-9][0-9]*)$/;

/** Is the text no integer, or one that is written otherwise, such as 05? */
function isOtherInteger(type: LeafType, written: string): boolean {
  return (type === 'Int' || type === 'Int64') && !canonicalInteger.test(written);
}

/** An absent leaf is the empty text. A text that no value of the type is written as equals none. */
function equalToText(path: Path, type: LeafType, written: string): Filter {
  const equal = (as: LeafType, value: unknown): Filter => comparison(path, as, 'eq', [value], false);
  if (written === '') {
    const absent = negation(existence(path));
    const text = textTypes.has(type) ? 'String' : freeTypes.has(type) ? type : null;
    return text === null ? absent : { kind: 'or', of: [equal(text, ''), absent] };
  }
  if (textTypes.has(type)) return equal('String', written);
  if (freeTypes.has(type)) {
    return comparison(
      path,
      type,
      'in',
      scalarsOf(written).filter((value) => checkValue(type, value) === null),
      false,
    );
  }
  const given = typedValue(type, written);
  if (isOtherInteger(type, written) || checkValue(type, given) !== null) return nothing;
  return equal(type, given);
}

/** The scalars that are displayed as this text: the text, and perhaps a number or a boolean. 1 is not displayed as 1.0. */
function scalarsOf(written: string): readonly unknown[] {
  if (written === 'true' || written === 'false') return [written, written === 'true'];
  if (!/^-?(0|[1-9][0-9]*)(\.[0-9]+)?$/.test(written)) return [written];
  const number = parseExact(written);
  return scalarText(number) === written ? [written, number] : [written];
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
