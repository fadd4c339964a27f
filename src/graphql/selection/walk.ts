/**
 * The walk over a document's selections, in two forms:
 *
 *   selectedFields   the fields of one selection set, with its fragments expanded, each fragment once
 *   SelectionFold    a value folded from all fields below a selection set; each fragment is folded once, however often it is spread
 *
 *   { a ...F } fragment F on Query { b ...G } fragment G on Query { c }     selectedFields: a, b, c
 *
 * Invariant: the time is linear in the document's length, also for a chain of fragments that each spread the next one twice.
 * Precondition: no cycles of fragments, which validation guarantees.
 */
import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLNamedType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  Kind,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';

export type Fragments = Readonly<Record<string, FragmentDefinitionNode>>;

/** The schema and the fragments that give selections their meaning. */
export interface SelectionContext {
  readonly schema: GraphQLSchema;
  readonly fragments: Fragments;
}

interface SelectedField<T> {
  readonly node: FieldNode;
  /** The type that the field belongs to: that of the innermost fragment, or of the selection sets. */
  readonly parent: T;
}

export interface WalkOptions<T> {
  /** The type that a fragment's fields belong to; null where the fragment does not apply. */
  readonly typeOf: (condition: string, parent: T) => T | null;
  /** Whether a selection is included. Default: all are, whatever their @skip and @include. */
  readonly includes?: (node: SelectionNode) => boolean;
}

/** The fields that these selection sets of one type select, in the order of the document. */
export function* selectedFields<T>(
  fragments: Fragments,
  sets: readonly SelectionSetNode[],
  type: T,
  { typeOf, includes = () => true }: WalkOptions<T>,
): Generator<SelectedField<T>, void, undefined> {
  const spread = new Set<string>();
  const visit = function* (set: SelectionSetNode, parent: T): Generator<SelectedField<T>, void, undefined> {
    for (const node of set.selections) {
      if (!includes(node)) continue;
      if (node.kind === Kind.FIELD) {
        yield { node, parent };
        continue;
      }
      if (node.kind === Kind.FRAGMENT_SPREAD) {
        if (spread.has(node.name.value)) continue;
        spread.add(node.name.value);
      }
      const fragment = node.kind === Kind.INLINE_FRAGMENT ? node : fragments[node.name.value];
      const condition = fragment?.typeCondition?.name.value;
      const target = condition === undefined ? parent : typeOf(condition, parent);
      if (fragment !== undefined && target !== null) yield* visit(fragment.selectionSet, target);
    }
  };
  for (const set of sets) yield* visit(set, type);
}

/** The selection sets at `path` (field names, not aliases) below `sets`, whatever the types are. */
export function selectionsAt(
  fragments: Fragments,
  sets: readonly (SelectionSetNode | undefined)[],
  path: readonly string[],
): readonly SelectionSetNode[] {
  let found = sets.filter((set) => set !== undefined);
  for (const name of path) {
    const fields = [...selectedFields(fragments, found, '', { typeOf: (condition) => condition })];
    found = fields.flatMap(({ node }) =>
      node.name.value === name && node.selectionSet !== undefined ? [node.selectionSet] : [],
    );
  }
  return found;
}

/** The fragments of a resolver's `info`. */
export function fragmentsOf({ fragments }: Pick<GraphQLResolveInfo, 'fragments'>): Fragments {
  return fragments as Fragments;
}

/** How fields become a value: a monoid (`nothing`, `add`) and the value of one field. */
interface Folding<T> {
  readonly nothing: T;
  add(left: T, right: T): T;
  field(node: FieldNode, parent: GraphQLNamedType): T;
}

export class SelectionFold<T> {
  readonly #context: SelectionContext;
  readonly #folding: Folding<T>;
  readonly #known = new Map<string, T>();

  constructor(context: SelectionContext, folding: Folding<T>) {
    this.#context = context;
    this.#folding = folding;
  }

  /** The value of all fields that `set` selects from `parent`. */
  of(set: SelectionSetNode, parent: GraphQLNamedType): T {
    const { add, nothing } = this.#folding;
    return set.selections.reduce((sum, node) => add(sum, this.#selection(node, parent)), nothing);
  }

  #selection(node: SelectionNode, parent: GraphQLNamedType): T {
    if (node.kind === Kind.FIELD) return this.#folding.field(node, parent);
    const { schema, fragments } = this.#context;
    if (node.kind === Kind.INLINE_FRAGMENT) {
      const condition = node.typeCondition?.name.value;
      const type = condition === undefined ? parent : schema.getType(condition);
      return type === undefined ? this.#folding.nothing : this.of(node.selectionSet, type);
    }
    const { value: name } = node.name;
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const fragment = fragments[name];
    const type = fragment === undefined ? undefined : schema.getType(fragment.typeCondition.name.value);
    if (fragment === undefined || type === undefined) return this.#folding.nothing;
    const made = this.of(fragment.selectionSet, type);
    this.#known.set(name, made);
    return made;
  }
}

/** A document's fragments by name. The record has no prototype, because callers choose the names. */
export function documentFragments({ definitions }: DocumentNode): Readonly<Record<string, FragmentDefinitionNode>> {
  const fragments: Record<string, FragmentDefinitionNode> = Object.create(null);
  for (const each of definitions) if (each.kind === Kind.FRAGMENT_DEFINITION) fragments[each.name.value] = each;
  return fragments;
}
