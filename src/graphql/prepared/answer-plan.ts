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
 * object, it may select fields with a `plain` fact (field-facts.ts), which relations have too. The executor answers all other queries.
 * Arguments become a list plan by the executor's own functions (listPlan, filterFrom), so both refuse the same arguments.
 *
 *   document-fields.ts    the fields that are selected, with their facts and arguments
 *   object-parts.ts       an object            -> parts of a row
 *   connection-pieces.ts  a connection         -> pieces of a page
 *   this file             lists and relations  -> plans, templates
 */

import {
  type DocumentNode,
  type GraphQLInputObjectType,
  type GraphQLObjectType,
  getVariableValues,
  isObjectType,
  type OperationDefinitionNode,
} from 'graphql';
import type { CatalogKind } from '../../catalog/resources/catalog.ts';
import { isRolledUp } from '../../catalog/tree/path.ts';
import { OperationCost } from '../../operation/parts/operation-cost.ts';
import { checkPage } from '../../query/plan/check-page.ts';
import { withoutLetterCase } from '../../query/plan/comparison.ts';
import { everything, type Filter, namesIn, readsRelated } from '../../query/plan/filter.ts';
import type { OrderTerm } from '../../query/plan/plan.ts';
import { type LineList, lineList, rowCursor, templateText } from '../../query/read/line-page.ts';
import { readinessStatement } from '../../query/read/readiness.ts';
import { type RelatedLineList, relatedLineList } from '../../query/related/related-lines.ts';
import { findSearch } from '../../query/sql/search.ts';
import { listPlan } from '../../reads/lists/list.ts';
import { type OrderArgument, orderTerms } from '../../reads/paths/order-terms.ts';
import type { PageProjection } from '../../store/pages/page-select.ts';
import type { PagePiece, RelatedTemplate, RowPart } from '../../store/pages/page-template.ts';
import type { Statement } from '../../store/types/statement.ts';
import { askCost } from '../document/ask-cost.ts';
import { filterFrom } from '../filter/read-filter.ts';
import type { Generation, GraphQLSource } from '../generation/generation.ts';
import type { ListArguments } from '../schema/list-field.ts';
import { relatedPageOf } from '../schema/relation-fields.ts';
import { costOfNodes } from '../selection/list-selection.ts';
import { type AnswerPiece, connectionPieces } from './connection-pieces.ts';
import { DocumentFields, type FieldNodes, setsOf, type Variables } from './document-fields.ts';
import { ObjectParts, type SelectedRelation } from './object-parts.ts';
import { NotPlain, RowTemplate } from './row-template.ts';

export interface PlannedList {
  readonly kind: CatalogKind;
  readonly list: LineList;
  readonly projection: PageProjection;
  readonly template: string;
  readonly pieces: readonly AnswerPiece[];
  /** Values that the selection reads from each object of the page; 0 when it selects neither rows nor pageInfo. */
  readonly objectCost: number;
  /** May a list without a match have a warning (src/operation/unknown-names.ts)? */
  readonly mayWarn: boolean;
  /** Is the total count selected? */
  readonly counts: boolean;
  /** How the related pages of its template are read, in their order. */
  readonly related: readonly PlannedRelated[];
}

/** Pages of related objects inside the objects of a list. */
export interface PlannedRelated {
  /** That of its template. */
  readonly number: number;
  readonly list: RelatedLineList;
  readonly projection: PageProjection;
  /** Values that the selection reads from each related object. Zero for a relation to one object, whose values the outer list counts. */
  readonly objectCost: number;
  readonly related: readonly PlannedRelated[];
}

export interface AnswerPlan {
  /** The value of `data`: constant texts and lists, in the order of the answer. */
  readonly data: readonly (string | PlannedList)[];
  readonly lists: readonly PlannedList[];
  /** The statement that reads whether the lists' kinds are ready (src/query/read/readiness.ts); read in the same snapshot. */
  readonly readiness: Statement;
  /** The resourceKeys of these kinds. */
  readonly keys: readonly string[];
  /** Does the data contain the revision of the snapshot? */
  readonly showsRevision: boolean;
  /** The operation's name in its document. */
  readonly name: string | null;
  /** The operation's estimated cost, in values; within the limit. */
  readonly asked: number;
}

/** The settings that a plan depends on, besides the document and its variables. */
type PlanOptions = Pick<GraphQLSource, 'limits' | 'searchPaths' | 'isConfigured'>;

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

class Planner {
  readonly #generation: Generation;
  readonly #document: DocumentNode;
  readonly #fields: DocumentFields;
  readonly #objects: ObjectParts;
  /** Raw, as the request carries them. */
  readonly #variables: Readonly<Record<string, unknown>>;
  readonly #options: PlanOptions;
  /** The related pages of a row template, in its order. */
  readonly #related = new WeakMap<RowTemplate, PlannedRelated[]>();
  /** The related templates of the list that is being planned. */
  #relatedTemplates = 0;

  constructor(
    generation: Generation,
    document: DocumentNode,
    variables: Readonly<Record<string, unknown>>,
    coerced: Variables,
    options: PlanOptions,
  ) {
    this.#generation = generation;
    this.#document = document;
    this.#variables = variables;
    this.#options = options;
    this.#fields = new DocumentFields(generation.schema, document, coerced);
    this.#objects = new ObjectParts(this.#fields, (selected) => this.#relation(selected));
  }

  plan(operation: OperationDefinitionNode): AnswerPlan {
    const query = this.#generation.schema.getQueryType();
    if (operation.operation !== 'query' || query === null || query === undefined) throw new NotPlain();
    const { limits } = this.#options;
    const { schema } = this.#generation;
    const cost = new OperationCost(limits);
    askCost(cost, { schema, document: this.#document, operation, variables: this.#variables }, limits);
    const data: (string | PlannedList)[] = [];
    const lists: PlannedList[] = [];
    let before = '{';
    for (const [key, nodes] of this.#fields.fields(query, [operation.selectionSet])) {
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
    const keys = [...new Set(lists.flatMap(kindsOf))];
    const readiness = readinessStatement(keys);
    const showsRevision = lists.some(({ pieces }) => pieces.includes('changes'));
    const name = operation.name?.value ?? null;
    return { data, lists, readiness, keys, showsRevision, name, asked: cost.asked ?? 0 };
  }

  #list(query: GraphQLObjectType, nodes: FieldNodes): PlannedList {
    const { field, plain, type } = this.#fields.field(query, nodes);
    if (plain.is !== 'list' || !isObjectType(type)) throw new NotPlain();
    const { kind } = plain;
    const args = this.#fields.argumentsOf(field, nodes);
    const filter = this.#filter(kind, plain.filter, args['filter']);
    if (typeof args['offset'] === 'number' && args['offset'] > 0) throw new NotPlain();
    // A prepared list is FORBIDDEN where nothing is visible.
    if (args['orEmpty'] === true) throw new NotPlain();
    const { maxPageSize } = this.#options.limits;
    const planned = listPlan([kind], filter, args as ListArguments, { maxPageSize, kindOf: this.#generation.kind });
    refuseRelated(planned.orderBy);
    const list = lineList(kind.key, planned);
    const rows = new RowTemplate(list.plan.orderBy.length);
    this.#relatedTemplates = 0;
    const found = connectionPieces(this.#fields, type, setsOf(nodes), {
      node: (of, sets) => this.#objects.node(kind, of, sets, rows),
      cursor: rowCursor(list),
    });
    const { pieces, lists, readsPage, counts } = found;
    // Without rows the executor reads the count alone.
    if (counts && !readsPage) throw new NotPlain();
    const related = this.#related.get(rows) ?? [];
    if (list.plan.page.limit * relatedPerRow(related) >= mostRelated) throw new NotPlain();
    const names = namesIn(filter);
    return {
      kind,
      list,
      pieces,
      projection: rows.projection,
      template: templateText(rows.template(lists, found)),
      objectCost: readsPage ? costOfNodes(this.#fields.selection(nodes, field.type), maxPageSize) : 0,
      mayWarn: [...names.clusters, ...names.namespaces].length > 0 || withoutLetterCase(filter) !== null,
      counts,
      related,
    };
  }

  /** The part that writes the related pages. Plans how they are read. */
  #relation({ field, plain, type, nodes, rows }: SelectedRelation): RowPart {
    const { hop, to } = plain;
    if (!isObjectType(type)) throw new NotPlain();
    const { maxPageSize } = this.#options.limits;
    const args = this.#fields.argumentsOf(field, nodes);
    // Events about owned objects are no related objects of this one.
    if (args['includeOwned'] === true) throw new NotPlain();
    const filter = plain.filter === null ? everything : this.#filter(to, plain.filter, args['filter']);
    const order = (args['orderBy'] ?? []) as readonly OrderArgument[];
    const orderBy = orderTerms([to], filter, order, this.#generation.kind);
    refuseRelated(orderBy);
    const page = plain.filter === null ? { first: 1, after: null } : relatedPageOf(args);
    const { limit } = checkPage(page, { maximum: maxPageSize });
    const list = relatedLineList({ hop, filter, orderBy }, limit, page.after);
    const inner = new RowTemplate(orderBy.length);
    inner.ids = true;
    const number = this.#relatedTemplates;
    this.#relatedTemplates += 1;
    let template: Omit<RelatedTemplate, 'number'>;
    let objectCost = 0;
    if (plain.filter === null) {
      const parts = this.#objects.node(to, type, setsOf(nodes), inner);
      template = { pieces: [{ only: 0 }], of: inner.template([parts], { first: null, last: null }) };
    } else {
      const found = connectionPieces(this.#fields, type, setsOf(nodes), {
        node: (of, sets) => this.#objects.node(to, of, sets, inner),
        cursor: rowCursor(list),
      });
      const pieces = found.pieces.map((piece) => pieceOfRelated(piece, page.after));
      template = { pieces, of: inner.template(found.lists, found) };
      if (!found.readsPage) throw new NotPlain();
      if (found.lists.length > 0)
        objectCost = costOfNodes(this.#fields.selection(nodes, field.type), maxPageSize, 'inner');
    }
    const known = this.#related.get(rows) ?? [];
    const related = this.#related.get(inner) ?? [];
    this.#related.set(rows, [...known, { number, list, projection: inner.projection, objectCost, related }]);
    return rows.relatedPages({ number, ...template });
  }

  /** @throws NotPlain for a filter that needs other statements than a plan has. */
  #filter(kind: CatalogKind, type: GraphQLInputObjectType, value: unknown): Filter {
    const filter = filterFrom(type, value, {
      kinds: [kind],
      operation: { generation: this.#generation, source: this.#options },
      searchPaths: this.#options.searchPaths,
      // A plan is kept, and a relative time is another time at each request.
      now: notPlain,
      weakPlaces: notPlain,
    });
    // A search needs another statement, which checks that the search index is complete. A relation may not be ready.
    if (findSearch(filter) !== null || readsRelated(filter)) throw new NotPlain();
    return filter;
  }
}

/** Objects that one list may show below its rows. The executor reads more in several steps and stops at its limits. */
const mostRelated = 100_000;

/** The most objects that are read below one row: one more than a page shows. */
function relatedPerRow(related: readonly PlannedRelated[]): number {
  return related.reduce(
    (sum, { list: { limit }, related: below }) => sum + (limit + 1) * (1 + relatedPerRow(below)),
    0,
  );
}

/** The resourceKeys that a list reads. */
function kindsOf({ kind, related }: Pick<PlannedList, 'related'> & { readonly kind: CatalogKind }): readonly string[] {
  const below = (some: readonly PlannedRelated[]): readonly string[] =>
    some.flatMap((each) => [each.list.key, ...below(each.related)]);
  return [kind.key, ...below(related)];
}

/** A page of related objects has no count and no cursor of changes: those are other statements. */
function pieceOfRelated(piece: AnswerPiece, after: string | null): PagePiece {
  if (piece === 'previous') return String(after !== null);
  if (piece === 'changes' || (typeof piece === 'object' && 'count' in piece)) throw new NotPlain();
  return piece;
}

/** Other objects would decide the order. */
function refuseRelated(orderBy: readonly OrderTerm[]): void {
  if (orderBy.some(({ path, through }) => through !== undefined || isRolledUp(path))) throw new NotPlain();
}

function notPlain(): never {
  throw new NotPlain();
}
