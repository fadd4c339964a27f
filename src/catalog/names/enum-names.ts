/**
 * The GraphQL names of the enums of kinds. An enum belongs to a field at its kind's root, which is a column of an abstract kind.
 *
 *   AppInstance.state   ->   AppInstanceState, with the filter AppInstanceStateFilter
 *
 * Kinds have their names first. An enum whose name or filter's name belongs to another type is named as an object at its place would be
 * (shape-names.ts): `AppInstance_state`. Names are compared without letter case, because code generators may fold it.
 */
import { upperFirst } from '../../base/text/upper-first.ts';
import { type FieldTree, shapeOf } from '../tree/field-tree.ts';
import { definitionsOf } from '../tree/share-definitions.ts';
import { definitionName } from './kind-names.ts';
import { builtInKinds } from './reserved-names.ts';
import { mayBeOfKind } from './shape-names.ts';

interface NamedTree {
  /** resourceKey */
  readonly key: string;
  /** The kind's type without the prefix of --type-prefix. */
  readonly type: string;
  readonly tree: FieldTree;
}

/** The name of the filter of an enum. */
export function enumFilterName(name: string): string {
  return `${name}Filter`;
}

/**
 * The names of the enums of each kind by their fields, by resourceKey. A kind without enums is left out.
 * @param kinds in the order in which they came: of two enums with one name, the first has it
 * @param isTaken whether a name, in lower case, belongs to the static schema or to a kind
 */
export function nameEnums(
  kinds: readonly NamedTree[],
  isTaken: (name: string) => boolean,
): ReadonlyMap<string, Readonly<Record<string, string>>> {
  const found = kinds
    .map((kind) => ({ ...kind, fields: enumFields(kind.tree) }))
    .filter(({ fields }) => fields.length > 0);
  if (found.length === 0) return new Map();
  const taken = new Set([...builtInKinds].map((name) => name.toLowerCase()));
  for (const { tree } of kinds) {
    for (const { key, definition = key } of definitionsOf(tree)) taken.add(definitionName(definition).toLowerCase());
  }
  const folded = (name: string): readonly string[] => [name.toLowerCase(), enumFilterName(name).toLowerCase()];
  const isFree = (name: string): boolean => folded(name).every((each) => !taken.has(each) && !isTaken(each));
  const nameOf = (type: string, field: string): string => {
    const plain = type + field.split('_').map(upperFirst).join('');
    // A name with "_" may be the one of an object inside a kind.
    if (!type.includes('_') && isFree(plain)) return plain;
    let name = `${type}_${field}`;
    for (let n = 2; mayBeOfKind(name, type) || !isFree(name); n++) name = `${type}_${field}_${n}`;
    return name;
  };
  return new Map(
    found.map(({ key, type, fields }) => {
      const names = fields.map((field): [string, string] => {
        const name = nameOf(type, field);
        for (const each of folded(name)) taken.add(each);
        return [field, name];
      });
      return [key, Object.fromEntries(names)];
    }),
  );
}

function enumFields(tree: FieldTree): readonly string[] {
  return shapeOf(tree, tree.root).fields.flatMap(({ name, type }) =>
    type.kind === 'leaf' && type.values !== undefined ? [name] : [],
  );
}
