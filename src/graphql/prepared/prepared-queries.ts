/**
 * The caches of plans and documents.
 *
 *   request text -> cached plan
 *   not cached: request text -> cached document (parsed and validated once for all variables) -> planAnswer with the variables -> plan
 *
 * Invariants: the caches are bounded and are cleared when the generation changes. A plan does not depend on the caller. Its cost was
 * checked against the limit of now.
 */
import { type DocumentNode, getOperationAST, specifiedRules, validate } from 'graphql';
import { BoundedCache } from '../../base/bounded-cache.ts';
import { type DocumentLimits, depthAndAliases, parseWithin } from '../document/document-limits.ts';
import type { Generation, GraphQLSource } from '../generation/generation.ts';
import { type AnswerPlan, type PlannedDocument, planAnswer } from './answer-plan.ts';

/** A request of GraphQL over HTTP. */
export interface QueryParameters {
  readonly query: string;
  readonly operationName: string | undefined;
  readonly variables: Readonly<Record<string, unknown>>;
}

export class PreparedQueries {
  readonly #source: GraphQLSource;
  readonly #limits: DocumentLimits;
  /** Null for documents that the executor answers. */
  readonly #documents = new BoundedCache<PlannedDocument | null>({ entries: 1000, weight: 4_000_000 });
  /** By the request's text: clients repeat requests byte for byte. */
  readonly #plans = new BoundedCache<AnswerPlan | null>({ entries: 2000, weight: 16_000_000 });
  #generation: Generation | null = null;
  /** The limit against which the plans were checked. */
  #maxCost: number | null = null;

  constructor(source: GraphQLSource, limits: DocumentLimits) {
    this.#source = source;
    this.#limits = limits;
  }

  /**
   * The plan of a request; null when the executor must answer or report an error.
   * @param read parses the text; null for a text that is not a request.
   */
  find(
    text: string,
    read: (text: string) => QueryParameters | null,
  ): { readonly plan: AnswerPlan; readonly generation: Generation } | null {
    try {
      const generation = this.#current();
      let plan = this.#plans.get(text);
      if (plan === undefined) {
        const parameters = read(text);
        plan = parameters === null ? null : this.#plan(generation, parameters);
        const weight = (plan?.lists ?? []).reduce((sum, { template }) => sum + 2 * template.length, text.length);
        this.#plans.set(text, plan, weight);
      }
      return plan === null ? null : { plan, generation };
    } catch {
      // The executor gets the same error and reports it.
      return null;
    }
  }

  #current(): Generation {
    const generation = this.#source.generation();
    const { maxCost } = this.#source.limits;
    if (generation !== this.#generation) this.#documents.clear();
    if (generation !== this.#generation || maxCost !== this.#maxCost) this.#plans.clear();
    this.#generation = generation;
    this.#maxCost = maxCost;
    return generation;
  }

  #plan(generation: Generation, { query, operationName, variables }: QueryParameters): AnswerPlan | null {
    const key = `${operationName ?? ''}\n${query}`;
    let document = this.#documents.get(key);
    if (document === undefined) {
      document = this.#read(generation, query, operationName);
      this.#documents.set(key, document, key.length);
    }
    return document === null ? null : planAnswer(generation, document, variables, this.#source);
  }

  /** The document and its operation; null when it breaks a validation rule or has no query of that name. */
  #read({ schema }: Generation, query: string, operationName: string | undefined): PlannedDocument | null {
    const document = parseWithin(query, {}, this.#limits) as DocumentNode;
    if (validate(schema, document, [...specifiedRules, depthAndAliases(this.#limits)]).length > 0) return null;
    const operation = getOperationAST(document, operationName);
    return operation?.operation === 'query' ? { document, operation } : null;
  }
}
