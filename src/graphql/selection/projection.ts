/**
 * The projection of a selection: the paths of an object's body that its fields need (field-facts.ts), collected over aliases, fragments
 * and interfaces.
 *
 *   { metadata { name labels } status { phase } s: status { podIP } }
 *     { metadata: { labels: true }, status: { phase: true, podIP: true } }     the name is a column of the row
 *
 * Reading too much is harmless; reading too little would show null. So @skip and @include are ignored, and a need that depends on a
 * variable takes the whole body.
 */
import {
  type FieldNode,
  type GraphQLNamedType,
  getNamedType,
  isInterfaceType,
  isObjectType,
  type SelectionSetNode,
} from 'graphql';
import type { Projection, ProjectionTree } from '../../query/plan/plan.ts';
import { factsOf } from './field-facts.ts';
import { type SelectionContext, selectedFields } from './walk.ts';

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

/** The projection that answers `sets`, all of them on `type` (an object type or an interface). */
export function projectionOf(
  { schema, fragments }: SelectionContext,
  sets: readonly SelectionSetNode[],
  type: GraphQLNamedType,
): Projection {
  const typeOf = (condition: string): GraphQLNamedType | null => schema.getType(condition) ?? null;
  const tree: MutableTree = Object.create(null);
  let whole = false;

  /** Adds the field's need to the tree; false for a field without facts, such as __typename. */
  const visitField = (node: FieldNode, parent: GraphQLNamedType, base: readonly string[]): boolean => {
    if (!isObjectType(parent) && !isInterfaceType(parent)) return false;
    const field = parent.getFields()[node.name.value];
    if (field === undefined) return false;
    const { need } = factsOf(field);
    if (need.kind === 'none') return true;
    if (need.kind === 'whole') {
      whole = true;
      return true;
    }
    for (const path of need.paths) {
      const target = [...base, ...path];
      const set = need.deep ? node.selectionSet : undefined;
      if (set === undefined || !visit([set], getNamedType(field.type), target)) add(tree, target);
    }
    return true;
  };

  const visit = (inner: readonly SelectionSetNode[], parent: GraphQLNamedType, base: readonly string[]): boolean => {
    let found = false;
    for (const each of selectedFields(fragments, inner, parent, { typeOf })) {
      found = visitField(each.node, each.parent, base) || found;
    }
    return found;
  };

  visit(sets, type, []);
  return whole ? 'whole' : (tree as ProjectionTree);
}
