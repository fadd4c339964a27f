/**
 * The HTTP front of prepared answers. It handles a POST of JSON whose document has a plan (src/graphql/prepared). The store's
 * readers write the text of the answer. Every other request passes to Yoga unchanged.
 *
 *   headers -> caller -> body in one chunk -> plan -> text at once, if the page is short
 *                                                  -> else text from a reader thread
 *                                                  -> else Yoga, with the body that was read
 *
 * Invariants:
 *   - An answer is byte for byte the answer that Yoga would have sent (test/prepared.property.test.ts).
 *   - An operation is counted once.
 *   - Nothing is read after the client has disconnected.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { parse } from 'graphql';
import type { Caller, Credentials } from '../access/caller.ts';
import { must } from '../base/must.ts';
import type { Span } from '../base/tracing.ts';
import { type DocumentLimits, defaultLimits } from '../graphql/document/document-limits.ts';
import { documentShape } from '../graphql/document/document-shape.ts';
import type { Generation } from '../graphql/generation/generation.ts';
import { type PreparedAnswer, PreparedAnswers, type PreparedQuestion } from '../graphql/prepared/prepared-answers.ts';
import { PreparedQueries, type QueryParameters } from '../graphql/prepared/prepared-queries.ts';
import type { Admission } from '../operation/admission.ts';
import type { PageReader } from '../store/types/page-reader.ts';
import { acceptedJsonType } from './negotiation/accepted-type.ts';
import { type CodedBody, encodeBody } from './negotiation/compression.ts';
import { credentialsOf } from './negotiation/credentials.ts';
import { endpoint, type Yoga } from './yoga-server.ts';

export interface PreparedFrontOptions {
  readonly admission: Admission<Generation>;
  readonly pages: PageReader;
  readonly limits?: DocumentLimits;
}

/** Answers the request, through Yoga if necessary. Null for a request that cannot have a plan; its body is then still unread. */
export type PreparedFront = (request: IncomingMessage, response: ServerResponse, span: Span) => Promise<void> | null;

/** Larger bodies arrive in several chunks; a console's queries are smaller. */
const mostBytes = 64 * 1024;

export function preparedFront(
  yoga: Yoga,
  { admission, pages, limits = defaultLimits }: PreparedFrontOptions,
): PreparedFront {
  const { source } = admission;
  const queries = new PreparedQueries(source, limits);
  const answers = new PreparedAnswers(source, pages);

  const finish = (
    { body, question }: PlannedRequest,
    code: string,
    began: number,
    answer: PreparedAnswer | null,
  ): void => {
    const { rows, plans } = answer ?? { rows: 0, plans: () => [] };
    const { name } = question.plan;
    const { span } = question;
    admission.finish({ type: 'query', code, began, name, document: () => shapeOf(body), rows, plans, span });
  };
  const send = (
    planned: PlannedRequest,
    response: ServerResponse,
    answer: PreparedAnswer,
    began: number,
  ): Promise<void> | null => {
    const { type, acceptEncoding } = planned;
    finish(planned, 'OK', began, answer);
    const write = ({ headers, body }: CodedBody): void => {
      response.writeHead(200, { 'content-type': type, ...headers }).end(body);
    };
    const coded = encodeBody(answer.text, Buffer.byteLength(answer.text), acceptEncoding);
    if (coded instanceof Promise) return coded.then(write);
    write(coded);
    return null;
  };

  const answerLater = async (
    planned: PlannedRequest,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> => {
    const gone = new AbortController();
    response.once('close', () => {
      // 'close' follows every response, and an abort creates an error, so only unfinished responses are aborted.
      if (!response.writableFinished) gone.abort();
    });
    const began = admission.monotonic();
    let answer: PreparedAnswer | null;
    try {
      answer = await answers.answer(planned.question, gone.signal);
    } catch (error) {
      if (!gone.signal.aborted) throw error;
      return finish(planned, 'CANCELLED', began, null);
    }
    if (gone.signal.aborted) return finish(planned, 'CANCELLED', began, null);
    if (answer === null) {
      // Yoga counts it again.
      planned.leave();
      return throughYoga(yoga, request, response, planned, gone.signal);
    }
    await send(planned, response, answer, began);
  };

  /** Counts the request for its caller. Null at a limit of the caller: Yoga makes the error answer. */
  const entered = ({ caller, plan }: PreparedQuestion): (() => void) | null => {
    const { limits } = admission;
    let leave: (() => void) | null = null;
    try {
      leave = limits.enter(caller, 'requests');
      limits.charge(caller, plan.asked);
      return leave;
    } catch {
      leave?.();
      return null;
    }
  };

  /** The request's plan and scopes; null when Yoga must answer, for instance because the body is not complete yet. */
  const questionOf = (
    request: IncomingMessage,
    body: Buffer | null,
    { caller, span }: Pick<PreparedQuestion, 'caller' | 'span'>,
  ): PreparedQuestion | null => {
    if (body === null || body.length !== Number(request.headers['content-length'])) return null;
    const found = queries.find(body.toString('utf8'), parametersOf);
    if (found === null || !answers.isReady(found.plan)) return null;
    const scopes = source.rights.now(caller);
    return scopes === null ? null : { ...found, caller, scopes, span };
  };

  return (request, response, span) => {
    const type = answerType(request);
    if (type === null) return null;
    let known: Caller | Promise<Caller>;
    const credentials = credentialsOf(request);
    try {
      known = admission.callerOf(credentials, span);
    } catch {
      // Yoga authenticates again and creates the error answer.
      return null;
    }
    return new Promise((resolve, reject) => {
      const over = (): void => resolve();
      response.once('close', over);
      const look = (caller: Caller): void => {
        response.off('close', over);
        const body = request.read() as Buffer | null;
        const question = questionOf(request, body, { caller, span });
        const leave = question === null ? null : entered(question);
        if (body === null || question === null || leave === null) {
          // Before the next event-loop turn, while the stream has not ended.
          if (body !== null) request.unshift(body);
          Promise.resolve(yoga.handle(request, response, { caller, credentials, span })).then(over, reject);
        } else {
          const planned = {
            question,
            caller,
            credentials,
            body,
            type,
            acceptEncoding: request.headers['accept-encoding'],
            leave,
          };
          const began = admission.monotonic();
          const answer = answers.answerNow(question);
          const sent =
            answer === null ? answerLater(planned, request, response) : send(planned, response, answer, began);
          if (sent === null) {
            leave();
            resolve();
          } else {
            sent.finally(leave).then(over, reject);
          }
        }
      };
      const whenReadable = (caller: Caller): void => {
        if (request.readableLength > 0) look(caller);
        else request.once('readable', () => look(caller));
      };
      const refused = (): void => void Promise.resolve(yoga.handle(request, response, { span })).then(over, reject);
      if (known instanceof Promise) known.then(whenReadable, refused).catch(reject);
      else request.once('readable', () => look(known));
    });
  };
}

/** A request that has a plan. */
interface PlannedRequest {
  readonly question: PreparedQuestion;
  readonly caller: Caller;
  readonly credentials: Credentials;
  readonly body: Buffer;
  /** Content type of the answer. */
  readonly type: string;
  /** The header of that name. */
  readonly acceptEncoding: string | undefined;
  /** Ends the count of the request for its caller. */
  readonly leave: () => void;
}

/** The content type of the answer; null when the request's method, path or headers rule out a plan. */
function answerType({ method, url, headers }: IncomingMessage): string | null {
  if (method !== 'POST' || url !== endpoint) return null;
  if (!/^application\/json(;\s*charset=utf-8)?$/i.test(headers['content-type'] ?? '')) return null;
  if (headers['content-encoding'] !== undefined || headers['transfer-encoding'] !== undefined) return null;
  const length = Number(headers['content-length']);
  if (!(length > 0 && length <= mostBytes)) return null;
  const accepted = acceptedJsonType(headers.accept ?? null);
  return accepted === null ? null : `${accepted}; charset=utf-8`;
}

/** The query parameters of a body. Null for a malformed body and for one with further members such as `extensions`. */
function parametersOf(text: string): QueryParameters | null {
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch {
    return null;
  }
  if (!isRecord(given)) return null;
  const { query, operationName, variables, ...others } = given;
  if (typeof query !== 'string' || Object.keys(others).length > 0) return null;
  if (
    operationName !== undefined &&
    operationName !== null &&
    (typeof operationName !== 'string' || operationName === '')
  )
    return null;
  if (variables !== undefined && variables !== null && !isRecord(variables)) return null;
  return { query, operationName: operationName ?? undefined, variables: variables ?? {} };
}

/** The document of a request without its values, for the log. */
function shapeOf(body: Buffer): string {
  const { query, operationName } = must(parametersOf(body.toString('utf8')), 'a planned request has a document');
  return documentShape({ document: parse(query, { noLocation: true }), operationName });
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Sends a request through Yoga whose body has been read already. */
async function throughYoga(
  yoga: Yoga,
  request: IncomingMessage,
  response: ServerResponse,
  { body, caller, credentials, question: { span } }: PlannedRequest,
  signal: AbortSignal,
): Promise<void> {
  const headers = Object.entries(request.headers).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
  );
  const url = `http://${request.headers.host}${endpoint}`;
  const init = { method: 'POST', headers, body: new Uint8Array(body), signal };
  const answer = await yoga.fetch(url, init, { caller, credentials, span });
  const bytes = Buffer.from(await answer.arrayBuffer());
  if (signal.aborted) return;
  response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(bytes);
}
