/**
 * What an operation may cost, in values: every field that an answer could have counts one, those below a list as often as the list may
 * have objects. Counted from the document and its variables before anything is read, so that a few lines cannot ask for everything.
 *
 * Lists inside an object (the containers of a Pod) count as one: their size is bounded by the object, which is bounded by its API server.
 */
import {
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  getArgumentValues,
  getNamedType,
  isInterfaceType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  type VariableValues,
} from 'graphql';
import { defaultPageSize } from '../../query/plan/check-page.ts';
import { type CostRole, roleOf, weightOf } from './cost-weights.ts';

export interface Costed {
  readonly schema: GraphQLSchema;
  readonly fragments: Readonly<Record<string, FragmentDefinitionNode>>;
  /** As getVariableValues coerces them. */
  readonly variableValues: VariableValues;
  /** No list gives more on a page. */
  readonly maxPageSize: number;
}

/** The most values that the operation could give. */
export function costOf(costed: Costed, operation: OperationDefinitionNode): number {
  const type = costed.schema.getRootType(operation.operation);
  return type == null ? 0 : new CostWalk(costed, true).selection(operation.selectionSet, type);
}

/** The values of one object with these selections, without what further lists in it give: those are counted when they are answered. */
export function costOfObject(costed: Costed, sets: readonly SelectionSetNode[], type: GraphQLNamedType): number {
  const walk = new CostWalk(costed, false);
  return sets.reduce((cost, set) => cost + walk.selection(set, type), 1);
}

interface ConnectionCost {
  readonly object: number;
  readonly once: number;
}

class CostWalk {
  readonly #costed: Costed;
  readonly #known = new Map<string, number>();
  readonly #connections = new Map<string, ConnectionCost>();
  /** Count what is below lists? */
  readonly #lists: boolean;

  constructor(costed: Costed, lists: boolean) {
    this.#costed = costed;
    this.#lists = lists;
  }

  selection(set: SelectionSetNode, parent: GraphQLNamedType): number {
    let cost = 0;
    for (const node of set.selections) {
      if (node.kind === Kind.FIELD) cost += this.#field(node, parent);
      else if (node.kind === Kind.INLINE_FRAGMENT) {
        const condition = node.typeCondition?.name.value;
        const type = condition === undefined ? parent : this.#costed.schema.getType(condition);
        if (type !== undefined) cost += this.selection(node.selectionSet, type);
      } else cost += this.#fragment(node.name.value);
    }
    return cost;
  }

  /** A fragment costs the same wherever it is spread. */
  #fragment(name: string): number {
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const fragment = this.#costed.fragments[name];
    const type = fragment === undefined ? undefined : this.#costed.schema.getType(fragment.typeCondition.name.value);
    if (fragment === undefined || type === undefined) return 0;
    const cost = this.selection(fragment.selectionSet, type);
    this.#known.set(name, cost);
    return cost;
  }

  #field(node: FieldNode, parent: GraphQLNamedType): number {
    const name = node.name.value;
    const role = roleOf(parent, this.#costed.schema);
    const own = weightOf(role, name);
    if (node.selectionSet === undefined || !(isObjectType(parent) || isInterfaceType(parent))) return own;
    const field = parent.getFields()[name];
    if (field === undefined) return own + this.#introspection(node.selectionSet);
    const type = getNamedType(field.type);
    if (roleOf(type, this.#costed.schema) === 'connection') {
      if (!this.#lists) return own;
      const args = this.#arguments(field, node);
      const page = Math.min(numberOf(args['first'] ?? args['last'], defaultPageSize), this.#costed.maxPageSize);
      const { object, once } = this.#connection(node.selectionSet, type);
      return own + object * page + once;
    }
    return own + this.selection(node.selectionSet, type) * this.#times(role, field, node);
  }

  /** Of a connection: what comes with each object of its page, and what comes once. */
  #connection(set: SelectionSetNode, type: GraphQLNamedType): ConnectionCost {
    const cost = { object: 0, once: 0 };
    for (const node of set.selections) {
      if (node.kind === Kind.FIELD) {
        const { value: name } = node.name;
        cost[name === 'nodes' || name === 'edges' ? 'object' : 'once'] += this.#field(node, type);
        continue;
      }
      const inner =
        node.kind === Kind.INLINE_FRAGMENT
          ? this.#connection(node.selectionSet, type)
          : this.#connectionFragment(node.name.value, type);
      cost.object += inner.object;
      cost.once += inner.once;
    }
    return cost;
  }

  #connectionFragment(name: string, type: GraphQLNamedType): ConnectionCost {
    const known = this.#connections.get(name);
    if (known !== undefined) return known;
    const fragment = this.#costed.fragments[name];
    const cost = fragment === undefined ? { object: 0, once: 0 } : this.#connection(fragment.selectionSet, type);
    this.#connections.set(name, cost);
    return cost;
  }

  /** How often what is selected below may come. */
  #times(role: CostRole, field: GraphQLField<unknown, unknown>, node: FieldNode): number {
    if (role === 'data') return 1;
    const args = this.#arguments(field, node);
    switch (field.name) {
      case 'objectsById':
        return listLength(args['ids']);
      case 'facets':
        return listLength(args['paths']) * numberOf(args['first'], 20);
      case 'groups':
        return numberOf(args['first'], 100);
      default:
        return 1;
    }
  }

  /** Arguments that cannot be read are refused by the executor; here they count for nothing. */
  #arguments(field: GraphQLField<unknown, unknown>, node: FieldNode): Readonly<Record<string, unknown>> {
    try {
      return getArgumentValues(field, node, this.#costed.variableValues);
    } catch {
      return {};
    }
  }

  #introspection(set: SelectionSetNode): number {
    let cost = 0;
    for (const node of set.selections) {
      if (node.kind === Kind.FIELD)
        cost += 1 + (node.selectionSet === undefined ? 0 : this.#introspection(node.selectionSet));
    }
    return cost;
  }
}

function numberOf(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? Math.max(0, value) : otherwise;
}

function listLength(value: unknown): number {
  return Array.isArray(value) ? value.length : 0;
}
