/**
 * The REST verbs of an API server: JSON in both directions, and streams.
 *
 * Owns: the validation of answers. Each of these is an ApiError: a status that is not a success, HTML instead of JSON, a
 * compressed or truncated body. Never: retries (the caller decides what is safe to repeat), and never reads a stream ahead of its
 * consumer.
 *
 * An aborted request rejects with the signal's reason, so a caller can distinguish its own abort from a failure.
 */
import type { Readable } from 'node:stream';
import { PortolanError } from '../../base/errors.ts';
import { ApiError, apiErrorFromAnswer, apiErrorFromNetwork, apiErrorFromNonsense } from '../http/api-error.ts';
import { type Connection, type ConnectionAnswer, discard, type HttpMethod, type RequestSender } from './connection.ts';

/** Query parameters. A list repeats the parameter; undefined omits it. */
export type Query = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

interface RequestOptions {
  readonly query?: Query;
  readonly signal?: AbortSignal | undefined;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  /** The Accept header. Default: `application/json`. */
  readonly accept?: string;
  /** Milliseconds until the answer's headers. Default: the client's limit. */
  readonly headersTimeoutMs?: number;
  /** Milliseconds between two chunks of the body, 0 for no limit. Default: the client's limit. */
  readonly bodyTimeoutMs?: number;
}

/** An answer with its whole body. */
interface TextAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** An answer whose body is still a stream. A truncated body emits an error. Read the body to its end or destroy it. */
export interface StreamAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Readable;
}

/** The content types of PATCH bodies. JSON is valid YAML, so `apply` accepts JSON. */
export const patchTypes = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
} as const;

type PatchType = keyof typeof patchTypes;

export interface RestClientOptions {
  readonly headersTimeoutMs?: number;
  readonly bodyTimeoutMs?: number;
  /** The largest body that is read whole, in bytes. Streams have no limit. */
  readonly maxBodyBytes?: number;
}

const errorBodyLimit = 256 * 1024;

/** Sends as the gateway with a Connection, and as a caller with the sender from `connectAs`. */
export class RestClient<Sender extends RequestSender = Connection> {
  readonly connection: Sender;
  readonly #headersTimeoutMs: number;
  readonly #bodyTimeoutMs: number;
  readonly #maxBodyBytes: number;

  constructor(connection: Sender, options: RestClientOptions = {}) {
    this.connection = connection;
    this.#headersTimeoutMs = options.headersTimeoutMs ?? 60_000;
    this.#bodyTimeoutMs = options.bodyTimeoutMs ?? 60_000;
    this.#maxBodyBytes = options.maxBodyBytes ?? 256 * 1024 * 1024;
  }

  /** The parsed JSON at `path`. Numbers beyond 2^53 are rounded: use `text` or `stream` for objects that are stored. */
  async get<T = unknown>(path: string, options: RequestOptions = {}): Promise<T> {
    return this.#json<T>('GET', path, undefined, options);
  }

  /** The unparsed body at `path`. */
  async text(path: string, options: RequestOptions = {}): Promise<string> {
    return (await this.send('GET', path, undefined, options)).text;
  }

  /** The body as a stream: a large list, a watch, a log. There is no time limit between chunks unless `bodyTimeoutMs` is given. */
  async stream(path: string, query: Query = {}, options: Omit<RequestOptions, 'query'> = {}): Promise<StreamAnswer> {
    const answer = await this.#request('GET', path, undefined, { bodyTimeoutMs: 0, ...options, query });
    return { status: answer.status, headers: answer.headers, body: answer.body };
  }

  async post<T = unknown>(path: string, body: unknown, options: RequestOptions = {}): Promise<T> {
    return this.#json<T>('POST', path, jsonBody(body), options);
  }

  async put<T = unknown>(path: string, body: unknown, options: RequestOptions = {}): Promise<T> {
    return this.#json<T>('PUT', path, jsonBody(body), options);
  }

  /** For server-side apply, put `fieldManager` and, if needed, `force` into the query. */
  async patch<T = unknown>(path: string, type: PatchType, body: unknown, options: RequestOptions = {}): Promise<T> {
    return this.#json<T>('PATCH', path, { text: toText(body), contentType: patchTypes[type] }, options);
  }

  /** `body` is an optional DeleteOptions object. */
  async delete<T = unknown>(path: string, body?: unknown, options: RequestOptions = {}): Promise<T> {
    return this.#json<T>('DELETE', path, body === undefined ? undefined : jsonBody(body), options);
  }

  /**
   * Any verb; the whole body as text, with status and headers. For answers that must stay exact, and for conditional requests:
   * only these accept a 304.
   */
  async send(
    method: HttpMethod,
    path: string,
    body: { readonly text: string; readonly contentType: string } | undefined,
    options: RequestOptions = {},
  ): Promise<TextAnswer> {
    const answer = await this.#request(method, path, body, options);
    const text = await this.#read(answer, `${method} ${path}`, this.#maxBodyBytes, options.signal);
    return { status: answer.status, headers: answer.headers, text };
  }

  async #json<T>(
    method: HttpMethod,
    path: string,
    body: { readonly text: string; readonly contentType: string } | undefined,
    options: RequestOptions,
  ): Promise<T> {
    const answer = await this.send(method, path, body, options);
    try {
      return JSON.parse(answer.text) as T;
    } catch {
      throw apiErrorFromNonsense(`${method} ${path}`, answer.status, 'a body that is not JSON');
    }
  }

  async #request(
    method: HttpMethod,
    path: string,
    body: { readonly text: string; readonly contentType: string } | undefined,
    options: RequestOptions,
  ): Promise<ConnectionAnswer> {
    const what = `${method} ${path}`;
    const accept = options.accept ?? 'application/json';
    const headers: Record<string, string | string[]> = { accept, 'user-agent': 'portolan', ...options.headers };
    if (body !== undefined) headers['content-type'] = body.contentType;
    let answer: ConnectionAnswer;
    try {
      answer = await this.connection.request({
        method,
        path: path + queryText(options.query),
        headers,
        body: body?.text,
        signal: options.signal,
        headersTimeoutMs: options.headersTimeoutMs ?? this.#headersTimeoutMs,
        bodyTimeoutMs: options.bodyTimeoutMs ?? this.#bodyTimeoutMs,
      });
    } catch (error) {
      throw failure(error, what, options.signal);
    }
    const conditional = answer.status === 304 && 'if-none-match' in (options.headers ?? {});
    if ((answer.status < 200 || answer.status > 299) && !conditional) {
      const text = await this.#read(answer, what, errorBodyLimit, options.signal, 'cut');
      throw apiErrorFromAnswer({ what, httpStatus: answer.status, headers: answer.headers, text });
    }
    const problem = unexpected(answer, accept);
    if (problem !== undefined) {
      discard(answer.body);
      throw apiErrorFromNonsense(what, answer.status, problem);
    }
    return answer;
  }

  async #read(
    answer: ConnectionAnswer,
    what: string,
    limit: number,
    signal: AbortSignal | undefined,
    beyond: 'cut' | 'refuse' = 'refuse',
  ): Promise<string> {
    const chunks: Buffer[] = [];
    let size = 0;
    try {
      for await (const chunk of answer.body as AsyncIterable<Buffer>) {
        size += chunk.length;
        chunks.push(chunk);
        if (size <= limit) continue;
        if (beyond === 'cut') break;
        throw new ApiError({
          code: 'UPSTREAM_UNAVAILABLE',
          httpStatus: answer.status,
          reason: 'BodyTooLarge',
          message: `${what} was answered with more than ${limit} bytes: ask for less at a time.`,
        });
      }
    } catch (error) {
      throw failure(error, what, signal);
    }
    return Buffer.concat(chunks).toString('utf8');
  }
}

/** Classifies the error of a request: the caller's abort, an unchanged ApiError or PortolanError, or a network failure. */
function failure(error: unknown, what: string, signal: AbortSignal | undefined): unknown {
  if (signal?.aborted) return signal.reason;
  return error instanceof PortolanError ? error : apiErrorFromNetwork(error, what);
}

function unexpected(answer: ConnectionAnswer, accept: string): string | undefined {
  const encoding = answer.headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') return `a body encoded as ${String(encoding)}`;
  const type = String(answer.headers['content-type'] ?? '').toLowerCase();
  if (type.startsWith('text/html') && !accept.includes('text/html')) return 'an HTML page';
  return undefined;
}

function jsonBody(body: unknown): { text: string; contentType: string } {
  return { text: toText(body), contentType: 'application/json' };
}

/** A string is sent as JSON text without encoding it again, so that numbers beyond 2^53 stay exact. */
function toText(body: unknown): string {
  return typeof body === 'string' ? body : JSON.stringify(body);
}

function queryText(query: Query | undefined): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value === undefined) continue;
    if (typeof value === 'object') for (const each of value) parameters.append(name, each);
    else parameters.append(name, String(value));
  }
  const text = parameters.toString();
  return text === '' ? '' : `?${text}`;
}
