/**
 * What an operation may cost, in values. Every field that an answer could have counts what it is worth (selection/field-facts.ts), those
 * below a list as often as the list may have objects. Counted from the document and its variables before anything is read, so that a
 * short document cannot ask for everything.
 *
 * Lists inside an object (the containers of a Pod) count as one: their size is bounded by the object, which is bounded by its API server.
 *
 *   { pods(first: 10) { totalCount nodes { metadata { name } } } }     1 (pods) + 50 (totalCount) + 10 * (1 + 1 + 1)
 */
import {
  type FieldNode,
  type GraphQLField,
  type GraphQLNamedType,
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
import { factsOf } from './field-facts.ts';
import { type SelectionContext, SelectionFold } from './walk.ts';

export interface Costed extends SelectionContext {
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

/** Of a connection: what comes with each object of its page, and what comes once. */
interface ConnectionCost {
  readonly object: number;
  readonly once: number;
}

const add = (left: number, right: number): number => left + right;

class CostWalk {
  readonly #costed: Costed;
  /** Count what is below lists? */
  readonly #lists: boolean;
  readonly #values: SelectionFold<number>;
  readonly #connections: SelectionFold<ConnectionCost>;

  constructor(costed: Costed, lists: boolean) {
    this.#costed = costed;
    this.#lists = lists;
    this.#values = new SelectionFold(costed, { nothing: 0, add, field: (node, parent) => this.#field(node, parent) });
    this.#connections = new SelectionFold(costed, {
      nothing: { object: 0, once: 0 },
      add: (left, right) => ({ object: left.object + right.object, once: left.once + right.once }),
      field: (node, type) => {
        const { value: name } = node.name;
        const cost = this.#field(node, type);
        return name === 'nodes' || name === 'edges' ? { object: cost, once: 0 } : { object: 0, once: cost };
      },
    });
  }

  selection(set: SelectionSetNode, parent: GraphQLNamedType): number {
    return this.#values.of(set, parent);
  }

  #field(node: FieldNode, parent: GraphQLNamedType): number {
    const field = isObjectType(parent) || isInterfaceType(parent) ? parent.getFields()[node.name.value] : undefined;
    if (field === undefined) return 1 + (node.selectionSet === undefined ? 0 : introspectionCost(node.selectionSet));
    const { own, repeats } = factsOf(field).cost;
    if (node.selectionSet === undefined) return own;
    const type = getNamedType(field.type);
    if (repeats === 'once') return own + this.selection(node.selectionSet, type);
    if (repeats !== 'page')
      return own + this.selection(node.selectionSet, type) * repeats(this.#arguments(field, node));
    if (!this.#lists) return own;
    const args = this.#arguments(field, node);
    const page = Math.min(countOf(args['first'] ?? args['last'], defaultPageSize), this.#costed.maxPageSize);
    const { object, once } = this.#connections.of(node.selectionSet, type);
    return own + object * page + once;
  }

  /** Arguments that cannot be read are refused by the executor; here they count for nothing. */
  #arguments(field: GraphQLField<unknown, unknown>, node: FieldNode): Readonly<Record<string, unknown>> {
    try {
      return getArgumentValues(field, node, this.#costed.variableValues);
    } catch {
      return {};
    }
  }
}

/** Fields of introspection have no facts: each counts one. */
function introspectionCost({ selections }: SelectionSetNode): number {
  return selections.reduce((cost, node) => {
    if (node.kind !== Kind.FIELD) return cost;
    return cost + 1 + (node.selectionSet === undefined ? 0 : introspectionCost(node.selectionSet));
  }, 0);
}

/** An argument that is a number of things; `otherwise` where it is not given. */
export function countOf(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? Math.max(0, value) : otherwise;
}

/** How many items an argument that is a list has. */
export function lengthOf(value: unknown): number {
  return Array.isArray(value) ? value.length : 0;
}
