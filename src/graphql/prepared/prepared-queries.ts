/**
 * The cache of plans.
 *
 *   request text -> cached plan, and the key of the question
 *   not cached: request text -> document (src/graphql/document/documents.ts) -> planAnswer with the variables -> plan
 *
 * Invariants: the cache is bounded and is cleared when the generation changes. A plan does not depend on the caller. Its cost was
 * checked against the limit of now.
 */
import { createHash } from 'node:crypto';
import { type DocumentNode, getOperationAST } from 'graphql';
import { BoundedCache } from '../../base/bounded-cache.ts';
import { exactJson } from '../../catalog/values/raw-json.ts';
import { disjunction } from '../../query/plan/comparison.ts';
import type { Filter } from '../../query/plan/filter.ts';
import type { Documents, Payer } from '../document/documents.ts';
import type { Generation, GraphQLSource } from '../generation/generation.ts';
import { hasLive } from '../types/live-directive.ts';
import { type AnswerPlan, type PlannedDocument, type PlannedRelated, planAnswer } from './answer-plan.ts';

/** The parameters of a request. */
export interface QueryParameters {
  readonly query: string;
  readonly operationName: string | undefined;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** A valid query without @live, with its plan if it has one. It has one answer, which may be kept. */
export interface FoundQuery {
  /** Of the question, for kept answers. */
  readonly key: string;
  /** Null when the executor must answer or report an error. */
  readonly plan: AnswerPlan | null;
}

/** The key of a question: equal for the same document, operation and variables, however they were sent. */
export function questionKey({ query, operationName, variables }: QueryParameters): string {
  const text = exactJson([query, operationName ?? null, variables]);
  return createHash('sha256').update(text).digest('base64url');
}

/** The plan of a document; null if the executor must answer it, or reports an error. */
export function planOf(
  generation: Generation,
  document: PlannedDocument,
  variables: Readonly<Record<string, unknown>>,
  source: GraphQLSource,
): AnswerPlan | null {
  try {
    return planAnswer(generation, document, variables, source);
  } catch {
    return null;
  }
}

/** The kinds that a query reads only by lists, each with the filter of its lists. */
export function filteredLists(plan: AnswerPlan): readonly { readonly key: string; readonly filter: Filter }[] {
  const others = new Set(plan.lists.flatMap(({ related }) => relatedKeys(related)));
  return [...Map.groupBy(plan.lists, ({ list }) => list.key)]
    .filter(([key]) => !others.has(key))
    .map(([key, lists]) => ({ key, filter: disjunction(lists.map(({ list }) => list.plan.filter)) }));
}

function relatedKeys(related: readonly PlannedRelated[]): readonly string[] {
  return related.flatMap((each) => [each.list.key, ...relatedKeys(each.related)]);
}

export class PreparedQueries {
  readonly #source: GraphQLSource;
  readonly #documents: Documents;
  /** By the request's text: clients repeat requests byte for byte. */
  readonly #plans = new BoundedCache<FoundQuery>({ entries: 2000, weight: 16_000_000 });
  #generation: Generation | null = null;
  /** The limit against which the plans were checked. */
  #maxCost: number | null = null;

  constructor(source: GraphQLSource, documents: Documents) {
    this.#source = source;
    this.#documents = documents;
  }

  /**
   * Null for a text that is no such query, and before the first generation.
   * @param text equal for requests with equal parameters
   * @param read parses the text; null for a text that is not a request.
   * @param payer pays for a document that is not known
   */
  find(
    text: string,
    read: (text: string) => QueryParameters | null,
    payer: Payer,
  ): (FoundQuery & { readonly generation: Generation }) | null {
    let generation: Generation;
    try {
      generation = this.#current();
    } catch {
      // The executor gets the same error and reports it.
      return null;
    }
    const known = this.#plans.get(text);
    if (known !== undefined) return { ...known, generation };
    const parameters = read(text);
    const found = parameters === null ? null : this.#found(generation, parameters, payer);
    if (found === null) return null;
    const weight = (found.plan?.lists ?? []).reduce((sum, { template }) => sum + 2 * template.length, text.length);
    this.#plans.set(text, found, weight);
    return { ...found, generation };
  }

  #current(): Generation {
    const generation = this.#source.generation();
    const { maxCost } = this.#source.limits;
    if (generation !== this.#generation || maxCost !== this.#maxCost) this.#plans.clear();
    this.#generation = generation;
    this.#maxCost = maxCost;
    return generation;
  }

  #found(generation: Generation, parameters: QueryParameters, payer: Payer): FoundQuery | null {
    const { query, operationName, variables } = parameters;
    let document: DocumentNode;
    try {
      document = this.#documents.parse(query, payer);
    } catch {
      // The executor gets the same error and reports it.
      return null;
    }
    if (this.#documents.validate(generation.schema, document).length > 0) return null;
    const operation = getOperationAST(document, operationName);
    if (operation?.operation !== 'query' || hasLive(operation)) return null;
    const plan = planOf(generation, { document, operation }, variables, this.#source);
    return { key: questionKey(parameters), plan };
  }
}
