/** Reads the selections of one operation for the planner (answer-plan.ts): the fields that are selected, their facts and arguments. */
import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  GraphQLIncludeDirective,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  GraphQLSkipDirective,
  getArgumentValues,
  getDirectiveValues,
  getNamedType,
  type getVariableValues,
  isAbstractType,
  isObjectType,
  type SelectionSetNode,
} from 'graphql';
import { factsOf, type PlainField } from '../selection/field-facts.ts';
import type { ListSelection } from '../selection/list-selection.ts';
import { documentFragments, selectedFields, type WalkOptions } from '../selection/walk.ts';
import { NotPlain } from './row-template.ts';

/** Coerced variables. */
export type Variables = NonNullable<ReturnType<typeof getVariableValues>['variableValues']>;
/** The nodes of one response key. */
export type FieldNodes = readonly [FieldNode, ...FieldNode[]];
/** By response key, in the order of the answer. */
export type Fields = ReadonlyMap<string, FieldNodes>;

/** A field with a `plain` fact. */
export interface PlannedField {
  readonly field: GraphQLField<unknown, unknown>;
  readonly plain: PlainField;
  /** The named type of its values. */
  readonly type: GraphQLNamedType;
}

export class DocumentFields {
  readonly #schema: GraphQLSchema;
  readonly #fragments: Readonly<Record<string, FragmentDefinitionNode>>;
  readonly #variables: Variables;

  constructor(schema: GraphQLSchema, document: DocumentNode, variables: Variables) {
    this.#schema = schema;
    this.#fragments = documentFragments(document);
    this.#variables = variables;
  }

  /** The fields selected from `type`, by response key, in the order of the answer (GraphQL's CollectFields). */
  fields(type: GraphQLObjectType, sets: readonly SelectionSetNode[]): Fields {
    const found = new Map<string, [FieldNode, ...FieldNode[]]>();
    const options: WalkOptions<GraphQLObjectType> = {
      typeOf: (condition) => (this.#applies(condition, type) ? type : null),
      includes: (node) => this.#isIncluded(node),
    };
    for (const { node } of selectedFields(this.#fragments, sets, type, options)) {
      const key = node.alias?.value ?? node.name.value;
      const known = found.get(key);
      if (known === undefined) found.set(key, [node]);
      else known.push(node);
    }
    return found;
  }

  /** @throws NotPlain for a field without a `plain` fact. */
  field(parent: GraphQLObjectType, [{ name }]: FieldNodes): PlannedField {
    const field = parent.getFields()[name.value];
    const plain = field === undefined ? null : factsOf(field).plain;
    if (field === undefined || plain === null) throw new NotPlain();
    return { field, plain, type: getNamedType(field.type) };
  }

  argumentsOf(field: GraphQLField<unknown, unknown>, [node]: FieldNodes): Readonly<Record<string, unknown>> {
    return getArgumentValues(field, node, this.#variables);
  }

  /** @throws NotPlain when the argument is no text. */
  textArgument(parent: GraphQLObjectType, nodes: FieldNodes, name: string): string {
    const value = this.argumentsOf(this.field(parent, nodes).field, nodes)[name];
    if (typeof value !== 'string') throw new NotPlain();
    return value;
  }

  /** The selection of a connection, as a resolver's `info` would have it. */
  selection(fieldNodes: FieldNodes, returnType: GraphQLOutputType): ListSelection {
    return {
      schema: this.#schema,
      fragments: this.#fragments,
      variableValues: this.#variables,
      fieldNodes,
      returnType,
    };
  }

  #isIncluded(node: SelectionSetNode['selections'][number]): boolean {
    if (node.directives === undefined || node.directives.length === 0) return true;
    if (getDirectiveValues(GraphQLSkipDirective, node, this.#variables)?.['if'] === true) return false;
    return getDirectiveValues(GraphQLIncludeDirective, node, this.#variables)?.['if'] !== false;
  }

  #applies(condition: string, type: GraphQLObjectType): boolean {
    if (condition === type.name) return true;
    const named = this.#schema.getType(condition);
    return isAbstractType(named) && this.#schema.isSubType(named, type);
  }
}

/** The text of a JSON object, `{"key":…,…}`: constant texts, and between them the parts that `write` returns for each field. */
export function objectText<Part>(
  fields: Fields,
  write: (name: string, nodes: FieldNodes) => readonly Part[],
): readonly (Part | string)[] {
  const parts: (Part | string)[] = [];
  let before = '{';
  for (const [key, nodes] of fields) {
    parts.push(`${before}${JSON.stringify(key)}:`, ...write(nodes[0].name.value, nodes));
    before = ',';
  }
  parts.push(fields.size === 0 ? '{}' : '}');
  return parts;
}

/** The selection sets of all nodes of a field. */
export function setsOf(nodes: FieldNodes): readonly SelectionSetNode[] {
  return nodes.flatMap(({ selectionSet }) => (selectionSet === undefined ? [] : [selectionSet]));
}

/** The object type of a field. @throws NotPlain for a field of another type. */
export function objectTypeOf(parent: GraphQLObjectType, name: string): GraphQLObjectType {
  const field = parent.getFields()[name];
  const type = field === undefined ? undefined : getNamedType(field.type);
  if (!isObjectType(type)) throw new NotPlain();
  return type;
}
