/**
 * The HTTP front of answers that need no executor. These are kept ones (src/operation/answers) and prepared ones (src/graphql/prepared).
 * The store's readers write the text of a prepared one. The front handles a POST of JSON and a GET. Every other request passes to Yoga unchanged.
 *
 * The headers give the caller. The question is the body, in one chunk, or the URL. The first of these that there is answers it:
 *
 *   a kept answer                 nothing has changed since
 *   a plan, at once               the page is short
 *   a plan, in a reader thread    the page is longer
 *   Yoga                          with the body that was read
 *
 * Invariants:
 *   - An answer is byte for byte the answer that Yoga would have sent (test/answers/prepared.property.test.ts).
 *   - An operation is counted once.
 *   - Nothing is read after the client has disconnected.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { parse } from 'graphql';
import type { Admission } from '../../admission/admission.ts';
import type { AdmittedRequest } from '../../admission/admitted-request.ts';
import { must } from '../../base/must.ts';
import type { Span } from '../../base/tracing.ts';
import { documentShape } from '../../graphql/document/document-shape.ts';
import type { Charge, Documents } from '../../graphql/document/documents.ts';
import type { Generation } from '../../graphql/generation/generation.ts';
import type { PreparedAnswer, PreparedAnswers, PreparedQuestion } from '../../graphql/prepared/prepared-answers.ts';
import { type FoundQuery, PreparedQueries } from '../../graphql/prepared/prepared-queries.ts';
import type { KeptAnswer } from '../../operation/answers/kept-answers.ts';
import { whenSent } from '../connections/unsent-answers.ts';
import { arrivalOf } from '../negotiation/credentials.ts';
import { type QueryRequest, queryRequest } from './query-request.ts';
import { type Recipient, sendKept, sendTexts } from './send-answer.ts';
import { answerByYoga, endpoint, type Yoga } from './yoga-server.ts';

interface PreparedFrontOptions {
  readonly admission: Admission<Generation>;
  readonly prepared: PreparedAnswers;
  /** Those of Yoga. */
  readonly documents: Documents;
}

/** Answers the request, through Yoga if necessary. Null for a request that cannot have a plan; its body is then still unread. */
type PreparedFront = (request: IncomingMessage, response: ServerResponse, span: Span) => Promise<void> | null;

/** Counts a request as in flight until its answer is sent. @param written resolves when it is made; null when it is made already */
function untilSent(written: Promise<void> | null, { response }: FrontRequest, leave: () => void): Promise<void> | null {
  if (written !== null) return written.finally(() => whenSent(response, leave));
  whenSent(response, leave);
  return null;
}

/** A request whose text was read. */
interface FrontRequest extends Recipient {
  readonly request: IncomingMessage;
  readonly admitted: AdmittedRequest;
  /** The body; null for a GET. */
  readonly body: Buffer | null;
  /** That of the body or the URL. */
  readonly text: string;
  readonly parametersOf: QueryRequest['parametersOf'];
  /** Milliseconds by `Admission.monotonic`. */
  readonly began: number;
  /** Was the caller charged for the document? */
  isCharged: boolean;
}

/** What it asks. */
type FrontQuestion = Omit<PreparedQuestion, 'plan'> & FoundQuery;

export function preparedFront(yoga: Yoga, { admission, prepared, documents }: PreparedFrontOptions): PreparedFront {
  const { source } = admission;
  const queries = new PreparedQueries(source, documents);

  const finish = (
    { text, parametersOf, began, admitted: { span } }: FrontRequest,
    name: string | null,
    code: string,
    answer: PreparedAnswer | null,
  ): void => {
    const { rows, plans } = answer ?? { rows: 0, plans: () => [] };
    const document = (): string => shapeOf(text, parametersOf);
    admission.finish({ type: 'query', code, began, name, document, rows, plans, span });
  };

  /** Lets Yoga answer. The body is given back before the next turn of the event loop, while the stream has not ended. */
  const pass = (given: FrontRequest, isLookedUp: boolean): Promise<void> => {
    const { request, response, body, admitted, isCharged } = given;
    if (body !== null) request.unshift(body);
    return answerByYoga(yoga, request, response, { admitted, span: admitted.span, isLookedUp, isCharged });
  };

  const send = (
    given: FrontRequest,
    question: PreparedQuestion & FoundQuery,
    answer: PreparedAnswer,
  ): Promise<void> | null => {
    const { name, asked } = question.plan;
    finish(given, name, 'OK', answer);
    const { answers } = source;
    if (answers.wants(question)) {
      answers.keep(question, question.generation, { texts: answer.texts, made: answer.made, asked, name });
    }
    return sendTexts(answer.texts, given);
  };

  const answerLater = async (
    given: FrontRequest,
    question: PreparedQuestion & FoundQuery,
    leave: () => void,
  ): Promise<void> => {
    const { response } = given;
    const { name } = question.plan;
    const gone = new AbortController();
    response.once('close', () => {
      // 'close' follows every response, and an abort creates an error, so only unfinished responses are aborted.
      if (!response.writableFinished) gone.abort();
    });
    let answer: PreparedAnswer | null;
    try {
      answer = await prepared.answer(question, gone.signal);
    } catch (error) {
      if (!gone.signal.aborted) throw error;
      return finish(given, name, 'CANCELLED', null);
    }
    if (gone.signal.aborted) return finish(given, name, 'CANCELLED', null);
    if (answer === null) {
      // Yoga counts it again.
      leave();
      return given.body === null ? pass(given, true) : throughYoga(yoga, given, given.body, gone.signal);
    }
    await send(given, question, answer);
  };

  /** Counts the request for its caller. Null at a limit of the caller: Yoga makes the error answer. @param asked its cost */
  const entered = ({ admitted }: FrontRequest, asked: number): (() => void) | null => {
    let leave: (() => void) | null = null;
    try {
      leave = admitted.enter('requests');
      admitted.charge(asked);
      return leave;
    } catch {
      leave?.();
      return null;
    }
  };

  /** What the request asks; null when Yoga must answer, for instance because the body is not complete yet. */
  const questionOf = (given: FrontRequest): FrontQuestion | null => {
    const { request, body, text, parametersOf, admitted } = given;
    const { caller, span } = admitted;
    const charge: Charge = (values) => {
      admitted.charge(values);
      given.isCharged = true;
    };
    if (body !== null && body.length !== Number(request.headers['content-length'])) return null;
    const found = queries.find(text, parametersOf, charge);
    const scopes = found === null ? null : source.rights.now(caller);
    return found === null || scopes === null ? null : { ...found, caller, scopes, span };
  };

  const answerKept = (given: FrontRequest, question: FrontQuestion, answer: KeptAnswer): Promise<void> | null => {
    const leave = entered(given, answer.asked);
    if (leave === null) return pass(given, true);
    finish(given, answer.name, 'OK', null);
    return untilSent(sendKept(answer, given, source.answers, question), given, leave);
  };

  /** Null when it was answered at once. */
  const answer = (given: FrontRequest): Promise<void> | null => {
    const question = questionOf(given);
    if (question === null) return pass(given, false);
    const kept = source.answers.find(question);
    if (kept !== null) return answerKept(given, question, kept);
    const { plan } = question;
    if (plan === null || !prepared.isReady(plan)) return pass(given, true);
    const leave = entered(given, plan.asked);
    if (leave === null) return pass(given, true);
    const planned = { ...question, plan };
    const now = prepared.answerNow(planned);
    const sent = now === null ? answerLater(given, planned, leave) : send(given, planned, now);
    return untilSent(sent, given, leave);
  };

  return (request, response, span) => {
    const found = queryRequest(request);
    if (found === null) return null;
    const { method, type, parametersOf } = found;
    let known: AdmittedRequest | Promise<AdmittedRequest>;
    try {
      known = admission.admit(arrivalOf(request, span));
    } catch (refused) {
      return answerByYoga(yoga, request, response, { span, refused });
    }
    return new Promise((resolve, reject) => {
      const over = (): void => resolve();
      response.once('close', over);
      const look = (admitted: AdmittedRequest): void => {
        response.off('close', over);
        if (response.closed) {
          resolve();
          return;
        }
        const body = method === 'GET' ? null : (request.read() as Buffer | null);
        const { headers } = request;
        const text = body === null ? must(request.url, 'the URL of a request') : body.toString('utf8');
        const began = admission.monotonic();
        const given = {
          request,
          response,
          headers,
          method,
          type,
          admitted,
          body,
          text,
          parametersOf,
          began,
          isCharged: false,
        };
        const isUnread = method === 'POST' && body === null;
        const sent = isUnread ? pass(given, false) : answer(given);
        if (sent === null) resolve();
        else sent.then(over, reject);
      };
      const begin = (admitted: AdmittedRequest): void =>
        admission.turns.enter(admitted.caller.name, () => {
          try {
            look(admitted);
          } catch (error) {
            reject(error);
          }
        });
      const whenReadable = (admitted: AdmittedRequest): void => {
        if (method === 'GET' || request.readableLength > 0) begin(admitted);
        else request.once('readable', () => begin(admitted));
      };
      const refuse = (refused: unknown): void =>
        void answerByYoga(yoga, request, response, { span, refused }).then(over, reject);
      if (known instanceof Promise) known.then(whenReadable, refuse).catch(reject);
      else whenReadable(known);
    });
  };
}

/** The document of a request without its values, for the log. */
function shapeOf(text: string, parametersOf: QueryRequest['parametersOf']): string {
  const { query, operationName } = must(parametersOf(text), 'a planned request has a document');
  return documentShape({ document: parse(query, { noLocation: true }), operationName });
}

/** Sends a POST through Yoga whose body has been read already. */
async function throughYoga(
  yoga: Yoga,
  { request, response, admitted, isCharged }: FrontRequest,
  body: Buffer,
  signal: AbortSignal,
): Promise<void> {
  const headers = Object.entries(request.headers).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
  );
  const url = `http://${request.headers.host}${endpoint}`;
  const init = { method: 'POST', headers, body: new Uint8Array(body), signal };
  const context = { admitted, span: admitted.span, isLookedUp: true, isCharged, res: response };
  const answer = await yoga.fetch(url, init, context);
  const bytes = Buffer.from(await answer.arrayBuffer());
  if (signal.aborted) return;
  response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(bytes);
}
