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
import { GraphQLError, getOperationAST } from 'graphql';
import { BoundedCache } from '../../base/bounded-cache.ts';
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

/** A request, with its plan if it has one. */
export interface FoundQuery {
  /** Of the question, for kept answers. */
  readonly key: string;
  /** Null when the executor must answer or report an error. */
  readonly plan: AnswerPlan | null;
  /** Is it a valid query without @live? Then it has one answer, which may be kept. */
  readonly isOnce: boolean;
}

type Planned = Omit<FoundQuery, 'key'>;

const unplanned: Planned = { plan: null, isOnce: false };

/** The key of a question: equal for the same document, operation and variables, however they were sent. */
export function questionKey({ query, operationName, variables }: QueryParameters): string {
  const text = JSON.stringify([query, operationName ?? null, variables]);
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
  readonly #plans = new BoundedCache<FoundQuery | null>({ entries: 2000, weight: 16_000_000 });
  #generation: Generation | null = null;
  /** The limit against which the plans were checked. */
  #maxCost: number | null = null;

  constructor(source: GraphQLSource, documents: Documents) {
    this.#source = source;
    this.#documents = documents;
  }

  /**
   * A request's key and plan; null for a text that is not a request, and before the first generation.
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
    let found = this.#plans.get(text);
    if (found === undefined) {
      const parameters = read(text);
      const planned = parameters === null ? null : this.#planned(generation, parameters, payer);
      // The executor answers with the refusal. The same text may be charged later.
      if (planned === 'refused') return null;
      found = parameters === null || planned === null ? null : { key: questionKey(parameters), ...planned };
      const weight = (found?.plan?.lists ?? []).reduce((sum, { template }) => sum + 2 * template.length, text.length);
      this.#plans.set(text, found, weight);
    }
    return found === null ? null : { ...found, generation };
  }

  /** No plan for a document with an error too: the executor gets the same error and reports it. */
  #planned(generation: Generation, parameters: QueryParameters, payer: Payer): Planned | 'refused' {
    try {
      return this.#plan(generation, parameters, payer);
    } catch (error) {
      const isRefused = error instanceof GraphQLError && error.extensions['code'] === 'TOO_MANY_REQUESTS';
      return isRefused ? 'refused' : unplanned;
    }
  }

  #current(): Generation {
    const generation = this.#source.generation();
    const { maxCost } = this.#source.limits;
    if (generation !== this.#generation || maxCost !== this.#maxCost) this.#plans.clear();
    this.#generation = generation;
    this.#maxCost = maxCost;
    return generation;
  }

  #plan(generation: Generation, { query, operationName, variables }: QueryParameters, payer: Payer): Planned {
    const document = this.#documents.parse(query, payer);
    if (this.#documents.validate(generation.schema, document).length > 0) return unplanned;
    const operation = getOperationAST(document, operationName);
    // The executor checks the arguments of @live.
    if (operation?.operation !== 'query' || hasLive(operation)) return unplanned;
    return { plan: planOf(generation, { document, operation }, variables, this.#source), isOnce: true };
  }
}
