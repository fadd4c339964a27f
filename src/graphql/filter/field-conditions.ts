/**
 * Field selectors on any leaf. An absent leaf equals the zero value of its type, as on the API server.
 *
 *   status.phase=Running     status.phase eq "Running"
 *   spec.nodeName=           spec.nodeName eq "", or spec.nodeName does not exist
 */
import type { FieldTree, LeafType } from '../../catalog/tree/field-tree.ts';
import type { Path } from '../../catalog/tree/path.ts';
import { checkValue } from '../../catalog/values/values.ts';
import { comparison, conjunction, existence, negation } from '../../query/plan/comparison.ts';
import { parseFieldSelector } from '../../query/plan/field-selector.ts';
import { everything, type Filter } from '../../query/plan/filter.ts';
import { refuse } from './filter-values.ts';
import { leafIn, pathIn } from './kinds-path.ts';

/**
 * The filter of a field selector, on kinds with these trees.
 * @throws PortolanError BAD_USER_INPUT for a selector that cannot be parsed, and for an unknown path.
 */
export function fieldConditions(text: string, place: string, trees: readonly FieldTree[]): Filter {
  const requirements = parseFieldSelector(text);
  if (requirements.length === 0) return everything;
  return conjunction(
    requirements.map(({ path: written, value, negated }) => {
      const found = pathIn(trees, written, 'some');
      const path = leafIn('A field selector', found);
      const type = found.type.kind === 'leaf' ? found.type.type : 'JSON';
      const equal = equalTo(path, type, value, place);
      return negated ? negation(equal) : equal;
    }),
  );
}

function equalTo(path: Path, type: LeafType, written: string, place: string): Filter {
  const given = typedValue(type, written);
  const zero = written === '' || given === false || given === 0;
  if (checkValue(type, given) !== null) {
    if (written === '') return negation(existence(path));
    return refuse(place, `compares ${path.text}: ${checkValue(type, given)}`);
  }
  const equal = comparison(path, type, 'eq', [given], false);
  return zero ? { kind: 'or', of: [equal, negation(existence(path))] } : equal;
}

/** The value of a text in a leaf of this type: `"3"` is 3 in an Int leaf. A text that is not a value of the type stays a text. */
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
