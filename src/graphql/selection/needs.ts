/**
 * What a selection needs of an object's body, so that the store projects just that.
 *
 * Every field of an object type says its need in `extensions.portolan`; the walk below collects needs over aliases, fragments
 * and interfaces into one Projection. Reading too much is harmless, too little would show null: @skip and @include are
 * therefore ignored, and a need that depends on a variable takes the whole body.
 */
import {
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  isInterfaceType,
  isObjectType,
  Kind,
  type SelectionSetNode,
} from 'graphql';
import type { Projection, ProjectionTree } from '../../query/plan/plan.ts';

export type Need =
  /** Nothing of the body. */
  | { readonly kind: 'none' }
  /** All of it. */
  | { readonly kind: 'whole' }
  /** The places at these paths below the enclosing object; with `deep`, only what is selected below the (single) path. */
  | { readonly kind: 'paths'; readonly paths: readonly (readonly string[])[]; readonly deep: boolean };

export const nothing: Need = { kind: 'none' };
export const wholeBody: Need = { kind: 'whole' };
export const at = (...path: string[]): Need => ({ kind: 'paths', paths: [path], deep: false });
export const below = (...path: string[]): Need => ({ kind: 'paths', paths: [path], deep: true });

/** The value for a field's `extensions`. */
export function needing(need: Need): { portolan: Need } {
  return { portolan: need };
}

function needOf(field: GraphQLField<unknown, unknown>): Need {
  return (field.extensions['portolan'] as Need | undefined) ?? nothing;
}

interface MutableTree {
  [field: string]: true | MutableTree;
}

function add(tree: MutableTree, path: readonly string[]): void {
  let node = tree;
  for (const [index, name] of path.entries()) {
    const known = Object.hasOwn(node, name) ? node[name] : undefined;
    if (known === true) return;
    if (index === path.length - 1) {
      node[name] = true;
    } else {
      const next: MutableTree = known ?? Object.create(null);
      node[name] = next;
      node = next;
    }
  }
}

export interface Selection {
  readonly schema: GraphQLSchema;
  readonly fragments: Readonly<Record<string, FragmentDefinitionNode>>;
}

/** The projection that answers `selectionSets`, all of them on `type` (an object type or an interface). */
export function projectionOf(
  { schema, fragments }: Selection,
  selectionSets: readonly SelectionSetNode[],
  type: GraphQLNamedType,
): Projection {
  const tree: MutableTree = Object.create(null);
  let whole = false;

  const visitField = (node: FieldNode, parent: GraphQLNamedType, base: readonly string[]): boolean => {
    if (!isObjectType(parent) && !isInterfaceType(parent)) return false;
    const field = parent.getFields()[node.name.value];
    if (field === undefined) return false;
    const need = needOf(field);
    if (need.kind === 'none') return true;
    if (need.kind === 'whole') {
      whole = true;
      return true;
    }
    for (const path of need.paths) {
      const place = [...base, ...path];
      const deeper = need.deep && node.selectionSet !== undefined;
      if (!deeper || !visit(node.selectionSet, getNamedType(field.type), place)) add(tree, place);
    }
    return true;
  };

  const visit = (set: SelectionSetNode, parent: GraphQLNamedType, base: readonly string[]): boolean => {
    let found = false;
    for (const node of set.selections) {
      if (node.kind === Kind.FIELD) {
        found = visitField(node, parent, base) || found;
      } else {
        const fragment = node.kind === Kind.INLINE_FRAGMENT ? node : fragments[node.name.value];
        const condition = fragment?.typeCondition?.name.value;
        const target = condition === undefined ? parent : schema.getType(condition);
        if (fragment !== undefined && target !== undefined) found = visit(fragment.selectionSet, target, base) || found;
      }
    }
    return found;
  };

  for (const set of selectionSets) visit(set, type, []);
  return whole ? 'whole' : (tree as ProjectionTree);
}

/** The selection sets found under `path` (field names, aliases ignored) below these nodes, through fragments. */
export function selectionsAt(
  fragments: Readonly<Record<string, FragmentDefinitionNode>>,
  nodes: readonly (SelectionSetNode | undefined)[],
  path: readonly string[],
): readonly SelectionSetNode[] {
  let sets = nodes.filter((node) => node !== undefined);
  for (const name of path) {
    const next: SelectionSetNode[] = [];
    const visit = (set: SelectionSetNode): void => {
      for (const node of set.selections) {
        if (node.kind === Kind.FIELD) {
          if (node.name.value === name && node.selectionSet !== undefined) next.push(node.selectionSet);
        } else {
          const fragment = node.kind === Kind.INLINE_FRAGMENT ? node : fragments[node.name.value];
          if (fragment !== undefined) visit(fragment.selectionSet);
        }
      }
    };
    for (const set of sets) visit(set);
    sets = next;
  }
  return sets;
}

/** Is a field of this name selected directly below these selection sets (through fragments)? */
export function isSelected(
  fragments: Readonly<Record<string, FragmentDefinitionNode>>,
  sets: readonly (SelectionSetNode | undefined)[],
  name: string,
): boolean {
  return sets.some((set) =>
    set?.selections.some((node) => {
      if (node.kind === Kind.FIELD) return node.name.value === name;
      const fragment = node.kind === Kind.INLINE_FRAGMENT ? node : fragments[node.name.value];
      return fragment !== undefined && isSelected(fragments, [fragment.selectionSet], name);
    }),
  );
}
