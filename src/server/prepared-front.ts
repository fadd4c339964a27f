/**
 * Answers plain list queries before Yoga hears of them. It takes a POST of JSON whose document has a plan (answer-plan.ts), answers it
 * with text that the store's readers have written, and hands everything else on untouched: other methods and types, whatever is
 * refused, whatever needs code.
 *
 *   headers -> body in one piece -> document known (or parsed and validated, as in Yoga) -> plan for these variables
 *                 otherwise: put back, and Yoga's
 *   plan -> text at once, where the page is short -> else text from a reader thread -> else asked again through Yoga
 *
 * Invariants: an answer is what Yoga would have sent, byte for byte (test/prepared.property.test.ts); an operation is counted once;
 * nothing is read once the client is gone. Caches are bounded, and those of a generation go with it.
 */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { type DocumentNode, getOperationAST, specifiedRules, validate } from 'graphql';
import { BoundedCache } from '../base/bounded-cache.ts';
import { type Clock, systemClock } from '../base/clock.ts';
import type { Generation, GraphQLSource } from '../graphql/generation/generation.ts';
import { type AnswerPlan, type PlannedDocument, planAnswer } from '../graphql/prepared/answer-plan.ts';
import { PreparedAnswers } from '../graphql/prepared/prepared-answers.ts';
import type { PageReader } from '../store/types/page-reader.ts';
import type { OperationMetrics } from './health/operation-metrics.ts';
import { type DocumentLimits, defaultLimits, depthAndAliases, parseWithin } from './plugins/limits-plugin.ts';
import { endpoint, type Yoga } from './yoga-server.ts';

export interface PreparedFrontOptions {
  readonly source: GraphQLSource;
  readonly pages: PageReader;
  readonly metrics?: OperationMetrics;
  readonly clock?: Clock;
  readonly limits?: DocumentLimits;
}

/** Answers the request, through Yoga where it must; null when it is not of a kind to look at: then nothing has been read of it. */
export type PreparedFront = (request: IncomingMessage, response: ServerResponse) => Promise<void> | null;

/** Larger requests come in pieces; no console sends its queries so. */
const mostBytes = 64 * 1024;

export function preparedFront(yoga: Yoga, options: PreparedFrontOptions): PreparedFront {
  const plans = new Plans(options);
  const answers = new PreparedAnswers(options.source, options.pages, options.clock ?? systemClock);
  const { metrics, clock = systemClock } = options;

  const send = (response: ServerResponse, type: string, text: string): void => {
    response.writeHead(200, { 'content-type': type, 'content-length': Buffer.byteLength(text) }).end(text);
  };

  /** False where it takes longer. */
  const answerNow = ({ plan, generation, type }: Asked, response: ServerResponse): boolean => {
    const began = clock.monotonic();
    const text = answers.answerNow(plan, generation);
    if (text === null) return false;
    metrics?.count('query', 'OK');
    metrics?.took('query', (clock.monotonic() - began) / 1000);
    send(response, type, text);
    return true;
  };

  const answer = async (asked: Asked, request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const gone = new AbortController();
    response.once('close', () => {
      // Every response is closed in the end; an abort makes an error each time.
      if (!response.writableFinished) gone.abort();
    });
    const began = clock.monotonic();
    const count = (code: string): void => {
      metrics?.count('query', code);
      metrics?.took('query', (clock.monotonic() - began) / 1000);
    };
    let text: string | null;
    try {
      text = await answers.answer(asked.plan, asked.generation, gone.signal);
    } catch (error) {
      if (!gone.signal.aborted) throw error;
      return count('CANCELLED');
    }
    if (gone.signal.aborted) return count('CANCELLED');
    if (text === null) return throughYoga(yoga, request, response, asked.body, gone.signal);
    count('OK');
    send(response, asked.type, text);
  };

  return (request, response) => {
    const type = answerType(request);
    if (type === null) return null;
    return new Promise((resolve, reject) => {
      const over = (): void => resolve();
      response.once('close', over);
      request.once('readable', () => {
        response.off('close', over);
        const body = request.read() as Buffer | null;
        const found = body === null ? null : plans.find(request, body);
        if (body === null || found === null || !answers.isReady(found.plan)) {
          // In the same turn as it was read, so that the stream has not ended.
          if (body !== null) request.unshift(body);
          Promise.resolve(yoga.handle(request, response)).then(over, reject);
        } else {
          const asked = { ...found, body, type };
          if (answerNow(asked, response)) resolve();
          else answer(asked, request, response).then(over, reject);
        }
      });
    });
  };
}

interface Found {
  readonly plan: AnswerPlan;
  readonly generation: Generation;
}

interface Asked extends Found {
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

/** Documents and plans that are known. */
class Plans {
  readonly #source: GraphQLSource;
  readonly #limits: DocumentLimits;
  /** Null for documents that the executor answers. */
  readonly #documents = new BoundedCache<PlannedDocument | null>({ entries: 1000, weight: 4_000_000 });
  /** By the request's text: clients send the same in the same words. */
  readonly #plans = new BoundedCache<AnswerPlan | null>({ entries: 2000, weight: 16_000_000 });
  #generation: Generation | null = null;

  constructor({ source, limits = defaultLimits }: PreparedFrontOptions) {
    this.#source = source;
    this.#limits = limits;
  }

  /** The plan of a request's body, null where Yoga must answer. */
  find(request: IncomingMessage, body: Buffer): Found | null {
    if (body.length !== Number(request.headers['content-length'])) return null;
    const text = body.toString('utf8');
    try {
      const generation = this.#current();
      let plan = this.#plans.get(text);
      if (plan === undefined) {
        plan = this.#plan(generation, text);
        const weight = (plan?.lists ?? []).reduce((sum, { template }) => sum + 2 * template.length, text.length);
        this.#plans.set(text, plan, weight);
      }
      return plan === null ? null : { plan, generation };
    } catch {
      // Yoga finds the same, and says it.
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

  #plan(generation: Generation, text: string): AnswerPlan | null {
    const params = paramsOf(text);
    if (params === null) return null;
    const { query, operationName, variables } = params;
    const documentKey = `${operationName ?? ''}\n${query}`;
    let document = this.#documents.get(documentKey);
    if (document === undefined) {
      document = this.#read(generation, query, operationName);
      this.#documents.set(documentKey, document, documentKey.length);
    }
    if (document === null) return null;
    const { limits, searchPaths } = this.#source;
    const { maxPageSize, maxCost } = limits;
    return planAnswer(generation, document, variables, { maxPageSize, maxCost, searchPaths });
  }

  /** The document and its operation; null where it breaks a rule, or has no query of that name. */
  #read({ schema }: Generation, query: string, operationName: string | undefined): PlannedDocument | null {
    const document = parseWithin(query, {}, this.#limits) as DocumentNode;
    if (validate(schema, document, [...specifiedRules, depthAndAliases(this.#limits)]).length > 0) return null;
    const operation = getOperationAST(document, operationName);
    return operation?.operation === 'query' ? { document, operation } : null;
  }
}

interface Params {
  readonly query: string;
  readonly operationName: string | undefined;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** What a body asks, null unless it is as plain as GraphQL over HTTP wants it. */
function paramsOf(text: string): Params | null {
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
  body: Buffer,
  signal: AbortSignal,
): Promise<void> {
  const headers = Object.entries(request.headers).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
  );
  const answer = await yoga.fetch(`http://${request.headers.host}${endpoint}`, {
    method: 'POST',
    headers,
    body,
    signal,
  });
  const bytes = Buffer.from(await answer.arrayBuffer());
  if (signal.aborted) return;
  response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(bytes);
}
