/**
 * Compiles a query to a plan whose answer the store's readers write as text. The operation's selection is walked once for a
 * document and its variables. It becomes page templates (src/store/pages/page-template.ts) and the constant texts around them.
 *
 *   { pods(first: 2) { nodes { kind metadata { name labels } } } }
 *     data        ['{"pods":', list, '}']
 *     pieces      ['{"nodes":', { list: 0 }, '}']
 *     lists[0]    '{"kind":"Pod","metadata":{"name":', column name, ',"labels":', value 0 as record, '}}'
 *     projection  values: [["metadata", "labels"]], objects: [], versions: false, health: false
 *
 * A query has a plan if it selects only lists of kinds. Of a list, it may select nodes, edges, pageInfo and changesCursor. Of an
 * object, it may select fields with a `plain` fact (field-facts.ts). The executor answers all other queries. Arguments become a
 * list plan by the executor's own functions (listPlan, filterFrom), so both refuse the same arguments.
 */

import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLIncludeDirective,
  type GraphQLNamedType,
  type GraphQLObjectType,
  GraphQLSkipDirective,
  getArgumentValues,
  getDirectiveValues,
  getNamedType,
  getVariableValues,
  isAbstractType,
  isObjectType,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';
import { must } from '../../base/must.ts';
import type { CatalogKind } from '../../catalog/resources/catalog.ts';
import { apiVersionOf } from '../../catalog/resources/resource.ts';
import type { FieldType } from '../../catalog/tree/field-tree.ts';
import { OperationCost } from '../../operation/operation-cost.ts';
import { namesIn, readsRelated } from '../../query/plan/filter.ts';
import { type LineList, lineList, rowCursor, templateText } from '../../query/read/line-page.ts';
import { readinessStatement } from '../../query/read/readiness.ts';
import { findSearch } from '../../query/sql/search.ts';
import type { PageProjection } from '../../store/pages/page-select.ts';
import type { ObjectMember, RowPart, ValueShape } from '../../store/pages/page-template.ts';
import type { Statement } from '../../store/types/statement.ts';
import { askCost } from '../document/ask-cost.ts';
import { filterFrom } from '../filter/read-filter.ts';
import type { Generation, GraphQLSource } from '../generation/generation.ts';
import { type ListArguments, listPlan } from '../schema/list-field.ts';
import { factsOf, type PlainField } from '../selection/field-facts.ts';
import { costOfNodes } from '../selection/list-selection.ts';
import { documentFragments, selectedFields, type WalkOptions } from '../selection/walk.ts';
import { identityParts, NotPlain, RowTemplate } from './row-template.ts';

/** A constant text, or a part that the page fills in: a list of the template, or a field such as hasNextPage (`next`). */
export type AnswerPiece =
  | string
  | { readonly list: number }
  | { readonly count: number | null }
  | 'next'
  | 'previous'
  | 'start'
  | 'end'
  | 'changes';

export interface PlannedList {
  readonly kind: CatalogKind;
  readonly list: LineList;
  readonly projection: PageProjection;
  readonly template: string;
  readonly pieces: readonly AnswerPiece[];
  /** Values that the selection reads from each object of the page; 0 when it selects neither rows nor pageInfo. */
  readonly objectCost: number;
  /** Does the filter name clusters or namespaces? */
  readonly namesPlaces: boolean;
  /** Is the total count selected? */
  readonly counts: boolean;
}

export interface AnswerPlan {
  /** The value of `data`: constant texts and lists, in the order of the answer. */
  readonly data: readonly (string | PlannedList)[];
  readonly lists: readonly PlannedList[];
  /** The statement that reads whether the lists' kinds are ready (src/query/read/readiness.ts); read in the same snapshot. */
  readonly readiness: Statement;
  /** The operation's estimated cost, in values; within the limit. */
  readonly asked: number;
}

/** The settings that a plan depends on, besides the document and its variables. */
export type PlanOptions = Pick<GraphQLSource, 'limits' | 'searchPaths'>;

export interface PlannedDocument {
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
}

/**
 * The plan for these variables; null when the executor must answer. The document must have been validated against the generation.
 * @throws PortolanError BAD_USER_INPUT for arguments that cannot be used, QUERY_TOO_COSTLY for a cost over the limit.
 */
export function planAnswer(
  generation: Generation,
  { document, operation }: PlannedDocument,
  variables: Readonly<Record<string, unknown>>,
  options: PlanOptions,
): AnswerPlan | null {
  const { schema } = generation;
  const { variableValues } = getVariableValues(schema, operation.variableDefinitions ?? [], variables);
  if (variableValues === undefined) return null;
  try {
    return new Planner(generation, document, variables, variableValues, options).plan(operation);
  } catch (error) {
    if (error instanceof NotPlain) return null;
    throw error;
  }
}

type Variables = NonNullable<ReturnType<typeof getVariableValues>['variableValues']>;
type Fields = ReadonlyMap<string, readonly [FieldNode, ...FieldNode[]]>;
type Names = readonly string[];

class Planner {
  readonly #generation: Generation;
  readonly #fragments: Readonly<Record<string, FragmentDefinitionNode>>;
  readonly #document: DocumentNode;
  /** Raw, as the request carries them. */
  readonly #rawVariables: Readonly<Record<string, unknown>>;
  /** Coerced. */
  readonly #variables: Variables;
  readonly #options: PlanOptions;

  constructor(
    generation: Generation,
    document: DocumentNode,
    rawVariables: Readonly<Record<string, unknown>>,
    variables: Variables,
    options: PlanOptions,
  ) {
    this.#generation = generation;
    this.#document = document;
    this.#rawVariables = rawVariables;
    this.#variables = variables;
    this.#options = options;
    this.#fragments = documentFragments(document);
  }

  plan(operation: OperationDefinitionNode): AnswerPlan {
    const query = this.#generation.schema.getQueryType();
    if (operation.operation !== 'query' || query === null || query === undefined) throw new NotPlain();
    const { limits } = this.#options;
    const { schema } = this.#generation;
    const cost = new OperationCost(limits);
    askCost(cost, { schema, document: this.#document, operation, variables: this.#rawVariables }, limits);
    const data: (string | PlannedList)[] = [];
    const lists: PlannedList[] = [];
    let before = '{';
    for (const [key, nodes] of this.#fields(query, [operation.selectionSet])) {
      before += `${JSON.stringify(key)}:`;
      if (nodes[0].name.value === '__typename') {
        before += JSON.stringify(query.name);
      } else {
        const list = this.#list(query, nodes);
        lists.push(list);
        data.push(before, list);
        before = '';
      }
      before += ',';
    }
    if (lists.length === 0) throw new NotPlain();
    data.push(`${before.replace(/,$/, '')}}`);
    return { data, lists, readiness: readinessStatement(lists.map(({ kind }) => kind.key)), asked: cost.asked ?? 0 };
  }

  #list(query: GraphQLObjectType, nodes: readonly [FieldNode, ...FieldNode[]]): PlannedList {
    const { field, plain, type } = this.#field(query, nodes[0]);
    if (plain.is !== 'list' || !isObjectType(type)) throw new NotPlain();
    const { kind } = plain;
    const args = getArgumentValues(field, nodes[0], this.#variables);
    const filter = filterFrom(plain.filter, args['filter'], {
      kinds: [kind],
      searchPaths: this.#options.searchPaths,
      // A plan is kept, and a relative time is another time at each request.
      now: notPlain,
      weakPlaces: notPlain,
    });
    // A search needs another statement, which checks that the search index is complete. A relation may not be ready.
    const skips = typeof args['offset'] === 'number' && args['offset'] > 0;
    if (findSearch(filter) !== null || readsRelated(filter) || skips) throw new NotPlain();
    const { maxPageSize } = this.#options.limits;
    const planned = listPlan([kind], filter, args as ListArguments, { maxPageSize, kindOf: this.#generation.kind });
    if (planned.orderBy.some(({ through }) => through !== undefined)) throw new NotPlain();
    const list = lineList(kind.key, planned);
    const rows = new RowTemplate(list.plan.orderBy.length);
    const cursor = rowCursor(list);
    const pieces: AnswerPiece[] = [];
    const lists: (readonly RowPart[])[] = [];
    const ends = new Set<string>();
    let readsPage = false;
    let counts = false;
    writeObject(this.#fields(type, setsOf(nodes)), pieces, (name, inner) => {
      readsPage ||= name === 'nodes' || name === 'edges' || name === 'pageInfo';
      switch (name) {
        case '__typename':
          return [JSON.stringify(type.name)];
        case 'nodes':
          lists.push(this.#node(kind, namedType(type, name), setsOf(inner), rows));
          return [{ list: lists.length - 1 }];
        case 'edges':
          lists.push(this.#edge(kind, namedType(type, name), setsOf(inner), rows, cursor));
          return [{ list: lists.length - 1 }];
        case 'pageInfo': {
          const info: AnswerPiece[] = [];
          const infoType = namedType(type, name);
          writeObject(this.#fields(infoType, setsOf(inner)), info, (of) => {
            ends.add(of);
            return [pageInfoPiece(of, infoType)];
          });
          return info;
        }
        case 'totalCount': {
          const limit = getArgumentValues(must(type.getFields()[name], 'totalCount'), inner[0], this.#variables)[
            'limit'
          ];
          if (typeof limit === 'number' && limit < 0) throw new NotPlain();
          counts = true;
          return [{ count: typeof limit === 'number' ? limit : null }];
        }
        case 'changesCursor':
          return ['changes'];
        default:
          throw new NotPlain();
      }
    });
    // Without rows the executor reads the count alone.
    if (counts && !readsPage) throw new NotPlain();
    const { values, objects, versions, health, columns } = rows;
    const names = namesIn(filter);
    const template = {
      lists,
      first: ends.has('startCursor') ? cursor : null,
      last: ends.has('endCursor') ? cursor : null,
      columns,
      values,
      objects,
    };
    const selection = {
      schema: this.#generation.schema,
      fragments: this.#fragments,
      variableValues: this.#variables,
      fieldNodes: nodes,
      returnType: field.type,
    };
    return {
      kind,
      list,
      pieces,
      projection: { values, objects, versions, health },
      template: templateText(template),
      objectCost: readsPage ? costOfNodes(selection, this.#options.limits.maxPageSize) : 0,
      namesPlaces: [...names.clusters, ...names.namespaces].length > 0,
      counts,
    };
  }

  #edge(
    kind: CatalogKind,
    type: GraphQLObjectType,
    sets: readonly SelectionSetNode[],
    rows: RowTemplate,
    cursor: readonly RowPart[],
  ): readonly RowPart[] {
    const parts: RowPart[] = [];
    writeRow(this.#fields(type, sets), parts, (name, inner) => {
      switch (name) {
        case '__typename':
          return [constant(type.name)];
        case 'cursor':
          return cursor;
        case 'node':
          return this.#node(kind, namedType(type, name), setsOf(inner), rows);
        default:
          throw new NotPlain();
      }
    });
    return parts;
  }

  /** The parts that write an object of the kind. */
  #node(
    kind: CatalogKind,
    type: GraphQLObjectType,
    sets: readonly SelectionSetNode[],
    rows: RowTemplate,
  ): readonly RowPart[] {
    return this.#object({ kind, rows, path: [], level: 'object' }, type, sets);
  }

  /** The parts that write the selected fields of the object at `context.path`. */
  #object(context: ObjectContext, type: GraphQLObjectType, sets: readonly SelectionSetNode[]): readonly RowPart[] {
    const parts: RowPart[] = [];
    writeRow(this.#fields(type, sets), parts, (name, nodes) => {
      if (name === '__typename') return [constant(type.name)];
      const { plain, type: below } = this.#field(type, nodes[0]);
      const { kind, rows, path } = context;
      if (plain.is === 'member') {
        if (plain.type.kind !== 'object' || !isObjectType(below)) {
          return [rows.value([...path, plain.name], this.#shape(plain.type, below, setsOf(nodes)))];
        }
        const inner = [...path, plain.name];
        return [rows.object(inner, this.#object({ kind, rows, path: inner, level: 'shape' }, below, setsOf(nodes)))];
      }
      if (plain.is === 'flag') return [rows.value([...path, plain.name], { is: 'flag' })];
      if (plain.is === 'healthPart') return [rows.healthPart(plain.of)];
      // Only objects of kinds and their metadata have the fields below.
      if (context.level === 'shape') throw new NotPlain();
      switch (plain.is) {
        case 'identity':
          return identityParts(kind, plain.of, rows);
        case 'kind':
          return [constant(kind.resource.kind)];
        case 'apiVersion': {
          const otherwise = JSON.stringify(apiVersionOf(kind.resource));
          return [rows.value(['apiVersion'], { is: 'leaf', type: 'String', otherwise })];
        }
        case 'redacted':
          return [constant(kind.redacted)];
        case 'metadata':
          if (!isObjectType(below)) throw new NotPlain();
          return this.#object({ kind, rows, path: ['metadata'], level: 'metadata' }, below, setsOf(nodes));
        case 'health':
          if (!isObjectType(below)) throw new NotPlain();
          return this.#object({ kind, rows, path: [], level: 'shape' }, below, setsOf(nodes));
        case 'entry': {
          const key = this.#textArgument(type, nodes[0], 'key');
          return [rows.value([...path, plain.of], { is: 'entry', name: key, of: { is: 'leaf', type: 'String' } })];
        }
        case 'condition': {
          const equal = this.#textArgument(type, nodes[0], 'type');
          const of = this.#shape({ kind: 'object', shape: '' }, below, setsOf(nodes));
          return [rows.value(['status', 'conditions'], { is: 'first', name: 'type', equal, of })];
        }
        default:
          throw new NotPlain();
      }
    });
    return parts;
  }

  /** How a value of this type is written when `sets` are selected from it. */
  #shape(type: FieldType, named: GraphQLNamedType, sets: readonly SelectionSetNode[]): ValueShape {
    switch (type.kind) {
      case 'leaf':
        return { is: 'leaf', type: type.type };
      case 'stringMap':
        return { is: 'record' };
      case 'map':
        return { is: 'any' };
      case 'list':
        return { is: 'list', of: this.#shape(type.of, named, sets) };
      case 'object': {
        // An object without fields is free JSON.
        if (!isObjectType(named)) return { is: 'record' };
        const members: ObjectMember[] = [];
        for (const [response, nodes] of this.#fields(named, sets)) {
          members.push(this.#member(JSON.stringify(response), named, nodes));
        }
        return { is: 'object', members };
      }
    }
  }

  #member(key: string, parent: GraphQLObjectType, nodes: readonly [FieldNode, ...FieldNode[]]): ObjectMember {
    if (nodes[0].name.value === '__typename') return { key, name: null, value: JSON.stringify(parent.name) };
    const { plain, type } = this.#field(parent, nodes[0]);
    if (plain.is === 'flag') return { key, name: plain.name, value: { is: 'flag' } };
    if (plain.is !== 'member') throw new NotPlain();
    return { key, name: plain.name, value: this.#shape(plain.type, type, setsOf(nodes)) };
  }

  #field(parent: GraphQLObjectType, node: FieldNode) {
    const field = parent.getFields()[node.name.value];
    const plain: PlainField | null = field === undefined ? null : factsOf(field).plain;
    if (field === undefined || plain === null) throw new NotPlain();
    return { field, plain, type: getNamedType(field.type) };
  }

  #textArgument(parent: GraphQLObjectType, node: FieldNode, name: string): string {
    const { field } = this.#field(parent, node);
    const value = getArgumentValues(field, node, this.#variables)[name];
    if (typeof value !== 'string') throw new NotPlain();
    return value;
  }

  /** The fields selected from `type`, by response key, in the order of the answer (GraphQL's CollectFields). */
  #fields(type: GraphQLObjectType, sets: readonly SelectionSetNode[]): Fields {
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

  #isIncluded(node: SelectionSetNode['selections'][number]): boolean {
    if (node.directives === undefined || node.directives.length === 0) return true;
    if (getDirectiveValues(GraphQLSkipDirective, node, this.#variables)?.['if'] === true) return false;
    return getDirectiveValues(GraphQLIncludeDirective, node, this.#variables)?.['if'] !== false;
  }

  #applies(condition: string, type: GraphQLObjectType): boolean {
    if (condition === type.name) return true;
    const { schema } = this.#generation;
    const named = schema.getType(condition);
    return isAbstractType(named) && schema.isSubType(named, type);
  }
}

interface ObjectContext {
  readonly kind: CatalogKind;
  readonly rows: RowTemplate;
  readonly path: Names;
  /** Decides which fields exist: those of a kind's object, of its metadata, or of a shape below them. */
  readonly level: 'object' | 'metadata' | 'shape';
}

function constant(value: unknown): RowPart {
  return { is: 'text', text: JSON.stringify(value) };
}

function pageInfoPiece(name: string, type: GraphQLObjectType): AnswerPiece {
  switch (name) {
    case '__typename':
      return JSON.stringify(type.name);
    case 'hasNextPage':
      return 'next';
    case 'hasPreviousPage':
      return 'previous';
    case 'startCursor':
      return 'start';
    case 'endCursor':
      return 'end';
    default:
      throw new NotPlain();
  }
}

function setsOf(nodes: readonly FieldNode[]): readonly SelectionSetNode[] {
  return nodes.flatMap(({ selectionSet }) => (selectionSet === undefined ? [] : [selectionSet]));
}

function namedType(parent: GraphQLObjectType, name: string): GraphQLObjectType {
  const field = parent.getFields()[name];
  const type = field === undefined ? undefined : getNamedType(field.type);
  if (!isObjectType(type)) throw new NotPlain();
  return type;
}

type Write<T> = (name: string, nodes: readonly [FieldNode, ...FieldNode[]]) => readonly T[];

/** A JSON object: `{"key":…,…}` with the pieces that `write` returns for each field. */
function writeObject(fields: Fields, pieces: AnswerPiece[], write: Write<AnswerPiece>): void {
  let before = '{';
  for (const [key, nodes] of fields) {
    pieces.push(`${before}${JSON.stringify(key)}:`, ...write(nodes[0].name.value, nodes));
    before = ',';
  }
  pieces.push(fields.size === 0 ? '{}' : '}');
}

/** Like writeObject, for row parts. Adjacent constant texts are joined. */
function writeRow(fields: Fields, parts: RowPart[], write: Write<RowPart>): void {
  let before = '{';
  for (const [key, nodes] of fields) {
    append(parts, { is: 'text', text: `${before}${JSON.stringify(key)}:` });
    for (const part of write(nodes[0].name.value, nodes)) append(parts, part);
    before = ',';
  }
  append(parts, { is: 'text', text: fields.size === 0 ? '{}' : '}' });
}

/** Joins a constant text with the constant text before it. */
function append(parts: RowPart[], part: RowPart): void {
  const last = parts.at(-1);
  if (part.is === 'text' && last?.is === 'text') parts[parts.length - 1] = { is: 'text', text: last.text + part.text };
  else parts.push(part);
}

function notPlain(): never {
  throw new NotPlain();
}
