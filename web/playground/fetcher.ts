/**
 * Sends the requests of GraphiQL: queries over HTTP, subscriptions and live queries over WebSocket. The document is sent as it is written,
 * so the gateway reports its syntax errors. The token of the caller goes with each request, unless the header editor has an Authorization header.
 */
import { createClient } from 'graphql-ws/client';
import { chosenOperation } from './chosen-operation.ts';
import { type Answer, failed, type Measure, messageOf, post } from './post.ts';

/** One request of GraphiQL. */
interface FetcherRequest {
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>> | null;
  readonly operationName?: string | null;
  readonly extensions?: Readonly<Record<string, unknown>>;
}

/** The answers to a subscription or to a live query. */
export interface Observable {
  subscribe(observer: Observer): { unsubscribe(): void };
}

interface Observer {
  next(answer: Answer): void;
  error(error: unknown): void;
  complete(): void;
}

type Headers = Readonly<Record<string, string>>;

interface FetcherOptions {
  readonly headers?: Headers;
  /** Called with what the answer to a query or a mutation took, before the answer is given. */
  readonly measured?: (measure: Measure) => void;
}

/** A fetcher of GraphiQL, without the forms of answers that the gateway does not send. */
export type Fetcher = (request: FetcherRequest, options?: FetcherOptions) => Promise<Answer> | Observable;

/** Who makes the requests. */
export interface Caller {
  /** The value of the Authorization header; null without a token. */
  authorization(): string | null;
  /** Called when the gateway does not accept the caller. */
  refused(message: string): void;
}

/** Close code of a WebSocket whose caller is refused. */
const forbidden = 4403;

/** @param endpoint the URL of the gateway's endpoint. */
export function createFetcher(endpoint: string, caller: Caller): Fetcher {
  return ({ operationName: given = null, ...rest }, { headers: written = {}, measured } = {}) => {
    const operation = chosenOperation(rest.query, given);
    const operationName = operation === null ? given : operation.name;
    const request = operationName === null ? rest : { ...rest, operationName };
    const { headers, refused } = authorize(written, caller);
    // An answer over WebSocket explains nothing.
    const isLive = operation?.isLive === true && rest.extensions === undefined;
    if (isLive || operation?.type === 'subscription') return subscribe(endpoint, request, headers, refused);
    return post(endpoint, request, headers).then(({ status, answer, measure }) => {
      if (status === 401) refused(answer.errors?.[0]?.message ?? 'The gateway does not accept the token.');
      if (measure !== null) measured?.(measure);
      return answer;
    });
  };
}

type Refused = Caller['refused'];

/** The headers with the token. A refusal of credentials from the header editor does not concern the token. */
function authorize(written: Headers, caller: Caller): { readonly headers: Headers; readonly refused: Refused } {
  if (Object.keys(written).some((name) => name.toLowerCase() === 'authorization')) {
    return { headers: written, refused() {} };
  }
  const authorization = caller.authorization();
  const headers = authorization === null ? written : { ...written, authorization };
  return { headers, refused: (message) => caller.refused(message) };
}

/** The socket is opened by the subscriber and closed at the end of the subscription. */
function subscribe(endpoint: string, request: FetcherRequest, headers: Headers, refused: Refused): Observable {
  return {
    subscribe(observer) {
      const client = createClient({
        url: endpoint.replace(/^http/, 'ws'),
        retryAttempts: 0,
        connectionParams: { ...headers },
      });
      const { query, operationName } = request;
      const payload = {
        query,
        variables: request.variables ?? {},
        ...(operationName == null ? {} : { operationName }),
      };
      const unsubscribe = client.subscribe(payload, {
        next: (message) => observer.next(message as Answer),
        error(error) {
          if (error instanceof CloseEvent && error.code === forbidden) {
            refused('The gateway does not accept the token of the subscription.');
          }
          observer.next(
            Array.isArray(error) ? { errors: error } : failed(`The subscription ended: ${messageOf(error)}`),
          );
          observer.complete();
        },
        complete: () => observer.complete(),
      });
      return { unsubscribe };
    },
  };
}
