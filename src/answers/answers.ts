/**
 * Answers queries without the executor. Every entry point asks here:
 *
 *   HTTP                          src/server/plugins/answers-plugin.ts
 *   WebSockets, event streams     src/server/websocket/operations-protocol.ts
 *   runs of live queries          src/server/plugins/prepared-run.ts
 *
 *   what a request says -> question -> the first of these that there is:
 *
 *     a kept answer                 nothing has changed since                    src/operation/answers
 *     a plan, at once               the page is short                            src/graphql/prepared
 *     a plan, in a reader thread    the page is longer
 *     null                          the executor answers, or reports the error; keep-result.ts keeps its answer
 *
 * Invariants:
 *   - An answer is byte for byte the answer of the executor (test/answers/prepared.property.test.ts).
 *   - An operation is counted once, and is in flight until its answer is sent.
 *   - Nothing is read after the client has disconnected.
 */
import { parse } from 'graphql';
import type { Admission } from '../admission/admission.ts';
import type { AdmittedRequest } from '../admission/admitted-request.ts';
import { must } from '../base/must.ts';
import { documentShape } from '../graphql/document/document-shape.ts';
import type { Documents } from '../graphql/document/documents.ts';
import type { Generation } from '../graphql/generation/generation.ts';
import type { PreparedAnswer, PreparedQuestion } from '../graphql/prepared/prepared-answers.ts';
import type { PreparedCell, PreparedCells } from '../graphql/prepared/prepared-cells.ts';
import { type FoundQuery, PreparedQueries, type QueryParameters } from '../graphql/prepared/prepared-queries.ts';
import type { AnswerTexts } from '../operation/answers/answer-text.ts';
import type { KeptAnswer } from '../operation/answers/kept-answers.ts';

/** A request of a query. */
export interface AskedQuery {
  readonly admitted: AdmittedRequest;
  /** The content of the request, equal for requests that say the same. */
  readonly text: string;
  /** Parses the text; null for one that only the executor reads. */
  readonly parametersOf: (text: string) => QueryParameters | null;
  /** Aborts when the client has gone. */
  readonly signal: AbortSignal;
}

/** Longer texts are not kept with a plan. A console's queries are shorter. */
const mostCharacters = 64 * 1024;

type Question = Omit<PreparedQuestion, 'plan'> & FoundQuery & { readonly cell: PreparedCell };

/** An answer. Its request is in flight until `leave` is called. */
export type Answered = { readonly leave: () => void } & (
  | { readonly kept: null; readonly texts: AnswerTexts }
  | {
      readonly kept: KeptAnswer;
      /** Keeps a compressed form of its body with it. */
      readonly keepCoded: (coding: string, coded: Uint8Array) => void;
    }
);

export class Answers {
  readonly #admission: Admission<Generation>;
  readonly #prepared: PreparedCells;
  readonly #queries: PreparedQueries;

  /** @param documents those of the executor */
  constructor(admission: Admission<Generation>, prepared: PreparedCells, documents: Documents) {
    this.#admission = admission;
    this.#prepared = prepared;
    this.#queries = new PreparedQueries(admission.source, documents);
  }

  /**
   * Null when the executor must answer, or report an error. At once if that is possible.
   * @throws the signal's reason, and nothing else.
   */
  answer(asked: AskedQuery): Answered | null | Promise<Answered | null> {
    const began = this.#admission.monotonic();
    const question = asked.text.length > mostCharacters ? null : this.#questionOf(asked);
    if (question === null) return null;
    const kept = this.#admission.source.answers.find(question);
    return kept === null ? this.#planned(asked, question, began) : this.#kept(asked, question, kept, began);
  }

  /**
   * The answer to a planned query. Null when the executor must answer.
   * @throws the signal's reason, and nothing else.
   */
  prepared(question: PreparedQuestion, signal: AbortSignal): PreparedAnswer | null | Promise<PreparedAnswer | null> {
    const answers = this.#prepared.of(question.plan)?.answers;
    if (answers?.isReady(question.plan) !== true) return null;
    return answers.answerNow(question) ?? answers.answer(question, signal);
  }

  #questionOf({ admitted, text, parametersOf }: AskedQuery): Question | null {
    const found = this.#queries.find(text, parametersOf, admitted);
    if (found === null) return null;
    const { caller, span } = admitted;
    const cell = this.#prepared.of(found.plan);
    const scopes = cell?.source.rights.now(caller) ?? null;
    return cell === null || scopes === null ? null : { ...found, caller, scopes, span, cell };
  }

  #kept(asked: AskedQuery, question: Question, kept: KeptAnswer, began: number): Answered | null {
    const { answers } = this.#admission.source;
    const leave = entered(asked, kept.asked);
    if (leave === null) return null;
    this.#finish(asked, kept.name, 'OK', began);
    return { kept, keepCoded: (coding, coded) => answers.keepCoded(question, kept, coding, coded), leave };
  }

  #planned(asked: AskedQuery, question: Question, began: number): Answered | null | Promise<Answered | null> {
    const { plan, cell } = question;
    if (plan === null || !cell.answers.isReady(plan)) return null;
    const leave = entered(asked, plan.asked);
    if (leave === null) return null;
    const planned = { ...question, plan };
    const now = cell.answers.answerNow(planned);
    return now === null
      ? this.#later(asked, planned, leave, began)
      : this.#answered(asked, planned, now, { leave, began });
  }

  async #later(
    asked: AskedQuery,
    question: PreparedQuestion & Question,
    leave: () => void,
    began: number,
  ): Promise<Answered | null> {
    const { signal } = asked;
    try {
      const answer = await question.cell.answers.answer(question, signal);
      signal.throwIfAborted();
      if (answer !== null) return this.#answered(asked, question, answer, { leave, began });
      // The executor counts and charges it again.
      leave();
      asked.admitted.add(-question.plan.asked);
      return null;
    } catch (error) {
      leave();
      this.#finish(asked, question.plan.name, 'CANCELLED', began);
      throw error;
    }
  }

  #answered(
    asked: AskedQuery,
    question: PreparedQuestion & FoundQuery,
    answer: PreparedAnswer,
    { leave, began }: { readonly leave: () => void; readonly began: number },
  ): Answered {
    const { name, asked: cost } = question.plan;
    const { texts, made } = answer;
    this.#finish(asked, name, 'OK', began, answer);
    const { answers } = this.#admission.source;
    if (answers.wants(question)) answers.keep(question, question.generation, { texts, made, asked: cost, name });
    return { kept: null, texts, leave };
  }

  #finish(
    { text, parametersOf, admitted: { span } }: AskedQuery,
    name: string | null,
    code: string,
    began: number,
    { rows, plans }: Pick<PreparedAnswer, 'rows' | 'plans'> = nothingRead,
  ): void {
    const document = (): string => shapeOf(text, parametersOf);
    this.#admission.finish({ type: 'query', code, began, name, document, rows, plans, span });
  }
}

const nothingRead: Pick<PreparedAnswer, 'rows' | 'plans'> = { rows: 0, plans: () => [] };

/** Counts the request for its caller. Null at a limit of the caller: the executor makes the error answer. @param cost in values */
function entered({ admitted }: AskedQuery, cost: number): (() => void) | null {
  let leave: (() => void) | null = null;
  try {
    leave = admitted.enter('requests');
    admitted.charge(cost);
    return leave;
  } catch {
    leave?.();
    return null;
  }
}

/** The document of a request without its values, for the log. */
function shapeOf(text: string, parametersOf: AskedQuery['parametersOf']): string {
  const { query, operationName } = must(parametersOf(text), 'an answered request has a document');
  return documentShape({ document: parse(query, { noLocation: true }), operationName });
}
