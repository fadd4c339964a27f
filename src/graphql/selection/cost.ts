/**
 * The estimated cost of an operation, in values. Every selected field counts its own cost (field-facts.ts), once for each object
 * that the lists above it may hold. The cost is computed from the document and its variables before anything is read, so that a
 * short document cannot request the whole store. The objects of a connection inside an object (the owners of a Pod) are counted apart,
 * because there are usually few (src/operation/parts/operation-cost.ts).
 *
 * A list inside an object (the containers of a Pod) counts as one value: the API server limits the size of an object.
 *
 *   { pods(first: 10) { totalCount nodes { metadata { name } } } }     1 (pods) + 50 (totalCount) + 10 * (1 + 1 + 1)
 */
import {
  type FieldNode,
  type GraphQLField,
  type GraphQLNamedType,
  getArgumentValues,
  getNamedType,
  isCompositeType,
  type OperationDefinitionNode,
  type SelectionSetNode,
  type VariableValues,
} from 'graphql';
import type { AskedCost } from '../../operation/parts/operation-cost.ts';
import { factsOf } from './field-facts.ts';
import { type SelectionContext, SelectionFold } from './walk.ts';

interface Costed extends SelectionContext {
  /** As getVariableValues coerces them. */
  readonly variableValues: VariableValues;
  /** The most objects on any page. */
  readonly maxPageSize: number;
}

/** The most values that the answer could hold. */
export function costOf(costed: Costed, operation: OperationDefinitionNode): AskedCost {
  const type = costed.schema.getRootType(operation.operation);
  if (type == null) return { outer: 0, most: 0 };
  const cost = (connections: Counted): number =>
    new CostWalk(costed, connections).selection(operation.selectionSet, type);
  return { outer: cost('outer'), most: cost('all') };
}

/**
 * The values of connections that count:
 *   all     all values
 *   outer   all values but the objects of connections that are inside another connection
 *   once    the values that a connection has once, such as its counts
 *   none    no values
 */
type Counted = 'all' | 'outer' | 'once' | 'none';

/**
 * The values of one object with these selections. The objects of connections below it are counted when they are answered.
 * @param connections whether the other values of connections below it count, such as their counts: `once`, or `none`.
 */
export function costOfObject(
  costed: Costed,
  sets: readonly SelectionSetNode[],
  type: GraphQLNamedType,
  connections: 'once' | 'none',
): number {
  if (sets.length === 0) return 0;
  const walk = new CostWalk(costed, connections);
  return sets.reduce((cost, set) => cost + walk.selection(set, type), 1);
}

/** The cost of a connection's selection: for each object of its page, and once. */
interface ConnectionCost {
  readonly object: number;
  readonly once: number;
}

const add = (left: number, right: number): number => left + right;

class CostWalk {
  readonly #costed: Costed;
  readonly #counted: Counted;
  readonly #values: SelectionFold<number>;
  readonly #connections: SelectionFold<ConnectionCost>;
  /** The walk inside connections, if only the outer ones count. */
  #inner: CostWalk | null = null;

  constructor(costed: Costed, counted: Counted) {
    this.#costed = costed;
    this.#counted = counted;
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
    const { schema } = this.#costed;
    // Includes the fields of introspection. They have no facts, so each counts one.
    const field = isCompositeType(parent) ? schema.getField(parent, node.name.value) : undefined;
    if (field === undefined) return 1;
    const { own: ofField, repeats, pageSize } = factsOf(field).cost;
    const own = typeof ofField === 'number' ? ofField : ofField(this.#arguments(field, node));
    if (node.selectionSet === undefined) return own;
    const type = getNamedType(field.type);
    if (repeats === 'once') return own + this.selection(node.selectionSet, type);
    if (repeats !== 'page')
      return own + this.selection(node.selectionSet, type) * repeats(this.#arguments(field, node));
    if (this.#counted === 'none') return own;
    const args = this.#arguments(field, node);
    const page = Math.min(countOf(args['first'] ?? args['last'], pageSize), this.#costed.maxPageSize);
    const { object, once } = this.#inside().#connections.of(node.selectionSet, type);
    const objects = this.#counted === 'once' ? 0 : object * page;
    return own + countOf(args['offset'], 0) + objects + once;
  }

  /** The walk over the selection of a connection. */
  #inside(): CostWalk {
    if (this.#counted !== 'outer') return this;
    this.#inner ??= new CostWalk(this.#costed, 'once');
    return this.#inner;
  }

  /** The executor refuses arguments that cannot be coerced; here they are treated as absent. */
  #arguments(field: GraphQLField<unknown, unknown>, node: FieldNode): Readonly<Record<string, unknown>> {
    try {
      return getArgumentValues(field, node, this.#costed.variableValues);
    } catch {
      return {};
    }
  }
}

/** A numeric argument such as `first`; `otherwise` when it is absent. */
export function countOf(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? Math.max(0, value) : otherwise;
}

/** How many items an argument that is a list has. */
export function lengthOf(value: unknown): number {
  return Array.isArray(value) ? value.length : 0;
}
