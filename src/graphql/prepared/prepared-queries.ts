/**
 * Documents and plans that are known: a request's text becomes a plan once, and the same text finds it again.
 *
 *   text of the request -> plan
 *   otherwise: document (parsed and validated once for all variables) -> planAnswer for these variables -> plan
 *
 * Caches are bounded, and go with their generation. A plan depends on no caller.
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
  /** By the request's text: clients send the same query in the same words. */
  readonly #plans = new BoundedCache<AnswerPlan | null>({ entries: 2000, weight: 16_000_000 });
  #generation: Generation | null = null;

  constructor(source: GraphQLSource, limits: DocumentLimits) {
    this.#source = source;
    this.#limits = limits;
  }

  /**
   * The plan of a request; null where the executor must answer, also with an error.
   * @param read takes the text apart; null where it is no request.
   */
  find(
    text: string,
    read: (text: string) => QueryParameters | null,
  ): { readonly plan: AnswerPlan; readonly generation: Generation } | null {
    try {
      const generation = this.#current();
      let plan = this.#plans.get(text);
      if (plan === undefined) {
        const asked = read(text);
        plan = asked === null ? null : this.#plan(generation, asked);
        const weight = (plan?.lists ?? []).reduce((sum, { template }) => sum + 2 * template.length, text.length);
        this.#plans.set(text, plan, weight);
      }
      return plan === null ? null : { plan, generation };
    } catch {
      // The executor finds the same error, and says it.
      return null;
    }
  }

  #current(): Generation {
    const generation = this.#source.generation();
    if (generation !== this.#generation) {
      this.#documents.clear();
      this.#plans.clear();
      this.#generation = generation;
    }
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

  /** The document and its operation; null where it breaks a rule, or has no query of that name. */
  #read({ schema }: Generation, query: string, operationName: string | undefined): PlannedDocument | null {
    const document = parseWithin(query, {}, this.#limits) as DocumentNode;
    if (validate(schema, document, [...specifiedRules, depthAndAliases(this.#limits)]).length > 0) return null;
    const operation = getOperationAST(document, operationName);
    return operation?.operation === 'query' ? { document, operation } : null;
  }
}
