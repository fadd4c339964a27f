/**
 * The HTTP front of prepared answers. It takes a POST of JSON whose document has a plan (src/graphql/prepared), answers it with text
 * that the store's readers write, and hands every other request on to Yoga untouched.
 *
 *   headers -> caller -> body in one piece -> plan -> text at once, where the page is short
 *                                                  -> else text from a reader thread
 *                                                  -> else Yoga, with the body that was read
 *
 * Invariants: an answer is what Yoga would have sent, byte for byte (test/prepared.property.test.ts); an operation is counted once;
 * nothing is read once the client is gone.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Caller } from '../access/caller.ts';
import { type DocumentLimits, defaultLimits } from '../graphql/document/document-limits.ts';
import type { Generation } from '../graphql/generation/generation.ts';
import { type PreparedAnswer, PreparedAnswers, type PreparedQuestion } from '../graphql/prepared/prepared-answers.ts';
import { PreparedQueries, type QueryParameters } from '../graphql/prepared/prepared-queries.ts';
import type { Admission } from '../operation/admission.ts';
import type { PageReader } from '../store/types/page-reader.ts';
import { credentialsOf } from './credentials.ts';
import { endpoint, type Yoga } from './yoga-server.ts';

export interface PreparedFrontOptions {
  readonly admission: Admission<Generation>;
  readonly pages: PageReader;
  readonly limits?: DocumentLimits;
}

/** Answers the request, through Yoga where it must; null when it is not of a kind to look at: then nothing has been read of it. */
export type PreparedFront = (request: IncomingMessage, response: ServerResponse) => Promise<void> | null;

/** Larger requests come in pieces; no console sends its queries so. */
const mostBytes = 64 * 1024;

export function preparedFront(
  yoga: Yoga,
  { admission, pages, limits = defaultLimits }: PreparedFrontOptions,
): PreparedFront {
  const { source } = admission;
  const queries = new PreparedQueries(source, limits);
  const answers = new PreparedAnswers(source, pages);

  const finish = (code: string, began: number, answer: PreparedAnswer | null): void => {
    const { rows, plans } = answer ?? { rows: 0, plans: () => [] };
    admission.finish({ type: 'query', code, began, name: null, rows, plans });
  };
  const send = (response: ServerResponse, type: string, answer: PreparedAnswer, began: number): void => {
    finish('OK', began, answer);
    const { text } = answer;
    response.writeHead(200, { 'content-type': type, 'content-length': Buffer.byteLength(text) }).end(text);
  };

  /** False where it takes longer. */
  const answerNow = (asked: Asked, response: ServerResponse): boolean => {
    const began = admission.monotonic();
    const answer = answers.answerNow(asked.question);
    if (answer === null) return false;
    send(response, asked.type, answer, began);
    return true;
  };

  const answerLater = async (asked: Asked, request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const gone = new AbortController();
    response.once('close', () => {
      // Every response is closed in the end; an abort makes an error each time.
      if (!response.writableFinished) gone.abort();
    });
    const began = admission.monotonic();
    let answer: PreparedAnswer | null;
    try {
      answer = await answers.answer(asked.question, gone.signal);
    } catch (error) {
      if (!gone.signal.aborted) throw error;
      return finish('CANCELLED', began, null);
    }
    if (gone.signal.aborted) return finish('CANCELLED', began, null);
    if (answer === null) return throughYoga(yoga, request, response, asked, gone.signal);
    send(response, asked.type, answer, began);
  };

  /** What the request asks, as far as it has arrived; null where Yoga must answer. */
  const questionOf = (request: IncomingMessage, body: Buffer | null, caller: Caller): PreparedQuestion | null => {
    if (body === null || body.length !== Number(request.headers['content-length'])) return null;
    const found = queries.find(body.toString('utf8'), parametersOf);
    if (found === null || !answers.isReady(found.plan)) return null;
    return { ...found, scopes: source.scopesOf(caller) };
  };

  return (request, response) => {
    const type = answerType(request);
    if (type === null) return null;
    let known: Caller | Promise<Caller>;
    try {
      known = admission.callerOf(credentialsOf(request.headers));
    } catch {
      // Yoga asks again, and words the refusal.
      return null;
    }
    return new Promise((resolve, reject) => {
      const over = (): void => resolve();
      response.once('close', over);
      const look = (caller: Caller): void => {
        response.off('close', over);
        const body = request.read() as Buffer | null;
        const question = questionOf(request, body, caller);
        if (body === null || question === null) {
          // In the same turn as it was read, so that the stream has not ended.
          if (body !== null) request.unshift(body);
          Promise.resolve(yoga.handle(request, response, { caller })).then(over, reject);
        } else {
          const asked = { question, caller, body, type };
          if (answerNow(asked, response)) resolve();
          else answerLater(asked, request, response).then(over, reject);
        }
      };
      const whenReadable = (caller: Caller): void => {
        if (request.readableLength > 0) look(caller);
        else request.once('readable', () => look(caller));
      };
      const refused = (): void => void Promise.resolve(yoga.handle(request, response, {})).then(over, reject);
      if (known instanceof Promise) known.then(whenReadable, refused).catch(reject);
      else request.once('readable', () => look(known));
    });
  };
}

interface Asked {
  readonly question: PreparedQuestion;
  readonly caller: Caller;
  readonly body: Buffer;
  /** Content type of the answer. */
  readonly type: string;
}

/** The content type to answer with, if the request's head is of the kind that is looked at. */
function answerType({ method, url, headers }: IncomingMessage): string | null {
  if (method !== 'POST' || url !== endpoint) return null;
  if (!/^application\/json(;\s*charset=utf-8)?$/i.test(headers['content-type'] ?? '')) return null;
  if (headers['content-encoding'] !== undefined || headers['transfer-encoding'] !== undefined) return null;
  const length = Number(headers['content-length']);
  if (!(length > 0 && length <= mostBytes)) return null;
  const accepted = acceptedType(headers.accept ?? '*/*');
  return accepted === null ? null : `${accepted}; charset=utf-8`;
}

/** What Yoga answers with: of the accepted types the first that it has. Null where that is not plain to see. */
function acceptedType(accept: string): string | null {
  for (const each of accept.toLowerCase().replace(/\s/g, '').split(',')) {
    const [type, ...parameters] = each.split(';');
    if (parameters.some((parameter) => parameter.startsWith('charset='))) return null;
    switch (type) {
      case 'application/graphql-response+json':
      case 'application/json':
        return type;
      case '*/*':
      case 'application/*':
        return 'application/json';
      case 'text/event-stream':
      case 'multipart/mixed':
      case 'application/graphql+json':
      case 'text/html':
        continue;
      default:
        return null;
    }
  }
  return null;
}

/** What a body asks, null unless it is as plain as GraphQL over HTTP wants it. */
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

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A request whose body has been read already. */
async function throughYoga(
  yoga: Yoga,
  request: IncomingMessage,
  response: ServerResponse,
  { body, caller }: Asked,
  signal: AbortSignal,
): Promise<void> {
  const headers = Object.entries(request.headers).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
  );
  const url = `http://${request.headers.host}${endpoint}`;
  const init = { method: 'POST', headers, body: new Uint8Array(body), signal };
  const answer = await yoga.fetch(url, init, { caller });
  const bytes = Buffer.from(await answer.arrayBuffer());
  if (signal.aborted) return;
  response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(bytes);
}
