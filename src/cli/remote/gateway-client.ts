/**
 * Requests of the command line to a running gateway.
 *
 * Never: follows a redirect, and never sends a token over plain HTTP to another machine.
 */
import { z } from 'zod';
import { messageOf, PortolanError } from '../../base/errors.ts';
import { isLoopback } from '../../base/is-loopback.ts';
import { parsedJson } from '../../base/json.ts';
import type { Config } from '../../config/options.ts';
import { BearerToken } from '../../kube/credentials/bearer-token.ts';

/** The options of every command that asks a running gateway. */
export type RemoteConfig = Pick<Config, 'url' | 'token'>;

/** Milliseconds to wait for each answer of the gateway. */
const patience = 10_000;

/** Errors that the same question has again. */
const ofQuestion = ['BAD_USER_INPUT', 'FORBIDDEN', 'NOT_FOUND', 'QUERY_TOO_COSTLY'] as const;

const refusal = z.object({ error: z.string() });

const answerShape = z.looseObject({
  errors: z
    .array(z.object({ message: z.string(), extensions: z.object({ code: z.string() }).partial().optional() }))
    .optional(),
});

export class GatewayClient {
  /** The GraphQL endpoint. */
  readonly endpoint: URL;
  /** The headers of every request. A WebSocket has them in the payload of connection_init. */
  readonly headers: Readonly<Record<string, string>>;

  /**
   * `url` is the endpoint, or the gateway's root.
   * @throws PortolanError UNAUTHENTICATED for text that is no token; CONFIGURATION for a token that others could read on its way.
   */
  constructor({ url, token }: RemoteConfig) {
    this.endpoint = new URL(url);
    if (this.endpoint.pathname === '/') this.endpoint.pathname = '/graphql';
    const { protocol, hostname, href } = this.endpoint;
    if (token !== undefined && protocol === 'http:' && !isLoopback(hostname)) {
      throw new PortolanError(
        'CONFIGURATION',
        `The token is not sent to ${href}, because everybody on the way could read it there: give an https address, or use kubectl portolan.`,
      );
    }
    // A file of a token ends with a newline. An invalid token is not in the message.
    this.headers = token === undefined ? {} : { authorization: `Bearer ${new BearerToken(token.trim()).reveal()}` };
  }

  /**
   * The data of a query; null while the gateway has no schema yet.
   * @param shape of the data.
   * @throws PortolanError UPSTREAM_UNAVAILABLE or UNAUTHENTICATED, with a message that contains instructions; an error of the question in the
   * words of the gateway.
   */
  async ask<T>(query: string, shape: z.ZodType<T>): Promise<T | null> {
    const text = await this.post(JSON.stringify({ query }));
    const found = z.object({ data: shape }).safeParse(parsedJson(text));
    if (found.success) return found.data.data;
    const { errors = [] } = this.#checked(text, answerShape);
    if (errors.some(({ extensions }) => extensions?.code === 'CACHE_NOT_READY')) return null;
    const [error] = errors;
    if (error === undefined) throw this.notPortolan(text);
    const { message: why, extensions } = error;
    const code = ofQuestion.find((each) => each === extensions?.code);
    if (code !== undefined) throw new PortolanError(code, why);
    const { href } = this.endpoint;
    throw new PortolanError(
      'UPSTREAM_UNAVAILABLE',
      `Ask again: the gateway at ${href} answers ${JSON.stringify(why)}.`,
    );
  }

  /**
   * The text of the answer to a GraphQL request.
   * @param milliseconds to wait for it.
   * @throws PortolanError UPSTREAM_UNAVAILABLE, or UNAUTHENTICATED where the gateway does not accept the token.
   */
  async post(body: string, milliseconds = patience): Promise<string> {
    const headers = { ...this.headers, 'content-type': 'application/json', accept: 'application/json' };
    const text = await this.#text(this.endpoint, { method: 'POST', headers, body }, milliseconds);
    this.#requireAccepted(text);
    return text;
  }

  #requireAccepted(text: string): void {
    const [error] = answerShape.safeParse(parsedJson(text)).data?.errors ?? [];
    if (error?.extensions?.code === 'UNAUTHENTICATED') throw this.needsToken(error.message);
  }

  /**
   * The texts of the messages that answer a subscription (GraphQL over Server-Sent Events); the one answer if it is refused.
   * @param silence milliseconds that the gateway, which sends signs of life, may say nothing.
   * @throws PortolanError UPSTREAM_UNAVAILABLE, or UNAUTHENTICATED where the gateway does not accept the token.
   */
  async *events(body: string, silence: number): AsyncGenerator<string, void, undefined> {
    const headers = { ...this.headers, 'content-type': 'application/json', accept: 'text/event-stream' };
    const silent = new AbortController();
    const timer = setTimeout(() => silent.abort(new Error(`no answer for ${silence / 1000} s`)), silence);
    try {
      const answer = await this.#answer(this.endpoint, { method: 'POST', headers, body }, silent.signal);
      if (answer.headers.get('content-type')?.startsWith('text/event-stream') !== true) {
        const text = await answer.text();
        this.#requireAccepted(text);
        yield text;
        return;
      }
      for await (const data of dataOfEvents(answer.body ?? [], () => timer.refresh())) {
        this.#requireAccepted(data);
        yield data;
      }
    } catch (error) {
      throw this.#unreachable(error);
    } finally {
      clearTimeout(timer);
      silent.abort();
    }
  }

  /** The error for credentials that the gateway does not accept. */
  needsToken(why: string): PortolanError {
    return new PortolanError(
      'UNAUTHENTICATED',
      `The gateway at ${this.endpoint.href} needs a valid token (${why}); give one with PORTOLAN_TOKEN or --token, such as that of kubectl create token NAME.`,
    );
  }

  /** The JSON answer of a path beside the endpoint. @throws PortolanError UPSTREAM_UNAVAILABLE, with a message that contains instructions. */
  async get<T>(path: string, shape: z.ZodType<T>): Promise<T> {
    const text = await this.#text(new URL(path, this.endpoint), { headers: this.headers }, patience);
    return this.#checked(text, shape);
  }

  /** The answer in this shape, with its other members. */
  #checked<T>(text: string, shape: z.ZodType<T>): T {
    const found = shape.safeParse(parsedJson(text));
    if (found.success) return { ...(parsedJson(text) as object), ...found.data };
    throw this.notPortolan(text);
  }

  /** The error for an answer that no gateway gives. */
  notPortolan(text: string): PortolanError {
    const refused = refusal.safeParse(parsedJson(text));
    const detail = refused.success ? `, it answers ${JSON.stringify(refused.data.error)}` : '';
    return new PortolanError(
      'UPSTREAM_UNAVAILABLE',
      `The server at ${this.endpoint.href} cannot be queried as a Portolan gateway${detail}; name the endpoint with --url.`,
    );
  }

  /** The token and the question are for the server that the user named. */
  #redirected({ status, headers }: Response): PortolanError {
    const { href } = this.endpoint;
    const to = headers.get('location');
    const where = to === null ? '' : ` to ${JSON.stringify(to)}`;
    return new PortolanError(
      'UPSTREAM_UNAVAILABLE',
      `The server at ${href} redirects${where} (${status}), which is not followed: name the endpoint itself with --url.`,
    );
  }

  async #text(target: URL, request: RequestInit, milliseconds: number): Promise<string> {
    try {
      const answer = await this.#answer(target, request, AbortSignal.timeout(milliseconds));
      return await answer.text();
    } catch (error) {
      throw this.#unreachable(error);
    }
  }

  async #answer(target: URL, request: RequestInit, signal: AbortSignal): Promise<Response> {
    const answer = await fetch(target, { ...request, redirect: 'manual', signal });
    if (answer.status >= 300 && answer.status < 400) throw this.#redirected(answer);
    return answer;
  }

  #unreachable(error: unknown): PortolanError {
    if (error instanceof PortolanError) return error;
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
    // OpenSSL's message has a line of its source.
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
    const isTls = code === 'EPROTO' || code.startsWith('ERR_SSL_');
    const why = isTls ? `the TLS handshake failed, ${code}` : messageOf(cause) || 'refused';
    const hint = isTls
      ? 'a server without TLS has a URL with http:'
      : why.includes('certificate')
        ? 'name the file of its authority with NODE_EXTRA_CA_CERTS'
        : 'start one with portolan serve, or name it with --url';
    return new PortolanError('UPSTREAM_UNAVAILABLE', `No gateway answers at ${this.endpoint.href} (${why}); ${hint}.`, {
      cause: error,
    });
  }
}

/** The data of the events `next`, to the event `complete`. Portolan writes the data of an event on one line. */
async function* dataOfEvents(body: AsyncIterable<Uint8Array> | readonly Uint8Array[], heard: () => void) {
  const decoder = new TextDecoder();
  let rest: string[] = [];
  for await (const bytes of body) {
    heard();
    const [first = '', ...others] = decoder.decode(bytes, { stream: true }).split('\n\n');
    rest.push(first);
    for (const begin of others) {
      const event = rest.join('');
      rest = [begin];
      if (event.startsWith('event: complete')) return;
      const [, data] = /^event: next\ndata: (.*)$/.exec(event) ?? [];
      if (data !== undefined) yield data;
    }
  }
  throw new Error('the connection was lost');
}
