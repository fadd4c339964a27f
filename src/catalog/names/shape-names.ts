/**
 * The GraphQL type names of the shapes inside a kind.
 *
 * Definitions of core/v1 and meta/v1 keep their short names and are the same type in every kind (assemble.ts makes their
 * structure equal). The name of any other shape is the kind's type and the path of the shape's first location, joined by "_". A
 * breadth-first walk with fields in alphabetical order finds the first location. A name that a kind may have gets a number, so these
 * names cannot equal another kind's.
 */
import { type FieldTree, type FieldType, shapeOf } from '../tree/field-tree.ts';
import { legalName } from './field-names.ts';
import { definitionName } from './kind-names.ts';

/**
 * The names of a tree's shapes, cached by the tree. Trees are immutable, and several steps of building a schema need the names.
 */
const known = new WeakMap<FieldTree, { readonly type: string; readonly names: ReadonlyMap<string, string> }>();

/**
 * Names by shape key; the kind's own name is under the root's key. Shapes that occur only below maps have none: maps are shown as
 * JSON. Names that differ only in letter case conflict, because generated code may fold it. The later one gets a number.
 */
export function nameShapes(type: string, tree: FieldTree): ReadonlyMap<string, string> {
  const found = known.get(tree);
  if (found?.type === type) return found.names;
  const names = namesOf(type, tree);
  known.set(tree, { type, names });
  return names;
}

function namesOf(type: string, tree: FieldTree): ReadonlyMap<string, string> {
  const names = new Map<string, string>([[tree.root, type]]);
  const taken = new Set<string>([type.toLowerCase()]);
  const queue: { readonly key: string; readonly prefix: string }[] = [{ key: tree.root, prefix: type }];
  for (const { key, prefix } of queue) {
    for (const field of shapeOf(tree, key).fields) {
      const shapeKey = shownShape(field.type);
      if (shapeKey === null || names.has(shapeKey)) continue;
      const shape = shapeOf(tree, shapeKey);
      const path = `${prefix}_${legalName(field.name)}`;
      const name = shape.definition === undefined ? untaken(path, taken, type) : definitionName(shape.definition);
      taken.add(name.toLowerCase());
      names.set(shapeKey, name);
      queue.push({ key: shapeKey, prefix: path });
    }
  }
  return names;
}

/** The name, with a number if it is taken, or if it may be the type of another kind. `type` is that of this kind. */
function untaken(name: string, taken: ReadonlySet<string>, type: string): string {
  let free = name;
  for (let n = 2; taken.has(free.toLowerCase()) || mayBeOfKind(free, type); n++) free = `${name}_${n}`;
  return free;
}

/** Whether a name that begins with a kind's type may be the type of another kind. */
export function mayBeOfKind(name: string, type: string): boolean {
  return otherKinds.test(name.slice(type.length));
}

/** Text after a kind's type in the type of another kind: FooFilter is `Foo_Filter`, Foo-bar is `Foo__bar`. */
const otherKinds = /^_(?:_.*|connection|edge|filter|changes?|payload|input)$/i;

/** The shape that a field shows as a GraphQL object, itself or in lists. */
function shownShape(type: FieldType): string | null {
  if (type.kind === 'list') return shownShape(type.of);
  return type.kind === 'object' ? type.shape : null;
}

/** The names of the filter inputs of a shape. There is one for an object, one for a list of them, and one for an entry of a map of them. */
export interface FilterNames {
  /** The name of the filtered value: the object type, or the path of a shape without one. */
  readonly of: string;
  readonly object: string;
  readonly list: string;
  readonly mapEntry: string;
}

const knownFilters = new WeakMap<
  FieldTree,
  { readonly type: string; readonly names: ReadonlyMap<string, FilterNames> }
>();

/**
 * The names of the filter inputs of a tree's shapes, by shape key. They begin with the name of the shape's object type. A shape that
 * occurs only below maps has no object type: there the kind's type and the shape's path take its place. A name that an object type
 * has (in any letter case) gets the suffix `Input`. Names of two kinds differ for the same reason as those of their object types.
 *
 *   PodSpec           PodSpec_Filter, PodSpec_ListFilter, PodSpec_MapFilter
 *   Deployment_spec   Deployment_spec_Filter, …
 */
export function nameFilters(type: string, tree: FieldTree): ReadonlyMap<string, FilterNames> {
  const found = knownFilters.get(tree);
  if (found?.type === type) return found.names;
  const shapes = nameShapes(type, tree);
  const taken = new Set([...shapes.values()].map((name) => name.toLowerCase()));
  const free = (name: string): string => {
    let found = name;
    while (taken.has(found.toLowerCase())) found += 'Input';
    taken.add(found.toLowerCase());
    return found;
  };
  const bases = new Set(taken);
  const names = new Map<string, FilterNames>();
  for (const { key, definition, path } of Object.values(tree.shapes)) {
    const unnamed = definition === undefined ? [type, ...path.map(legalName)].join('_') : definitionName(definition);
    const base = shapes.get(key) ?? (definition === undefined ? untaken(unnamed, bases, type) : unnamed);
    bases.add(base.toLowerCase());
    names.set(key, {
      of: base,
      object: free(`${base}_Filter`),
      list: free(`${base}_ListFilter`),
      mapEntry: free(`${base}_MapFilter`),
    });
  }
  knownFilters.set(tree, { type, names });
  return names;
}
