/**
 * Sends the requests of GraphiQL: queries over HTTP, subscriptions over WebSocket. The document is sent as it is written, so the gateway
 * reports its syntax errors. Every failure is an answer with errors, because GraphiQL shows a thrown error with its stack.
 */
import { createClient } from 'graphql-ws/client';
import { chosenOperation } from './chosen-operation.ts';
import type { Answer, Fetcher, FetcherOptions, FetcherRequest, Observable } from './graphiql.ts';

/** @param endpoint the URL of the gateway's endpoint. */
export function createFetcher(endpoint: string): Fetcher {
  return ({ operationName: given = null, ...rest }, { headers = {} } = {}) => {
    const operation = chosenOperation(rest.query, given);
    const operationName = operation === null ? given : operation.name;
    const request = operationName === null ? rest : { ...rest, operationName };
    return operation?.type === 'subscription'
      ? subscribe(endpoint, request, headers)
      : send(endpoint, request, headers);
  };
}

type Headers = NonNullable<FetcherOptions['headers']>;

async function send(endpoint: string, request: FetcherRequest, headers: Headers): Promise<Answer> {
  try {
    const response = await fetch(endpoint, {
      method: 'POST',
      // With application/json an answer without data has status 200, and the browser's console has no error.
      headers: { accept: 'application/json', ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(request),
    });
    const text = await response.text();
    try {
      return JSON.parse(text) as Answer;
    } catch {
      return failed(`The answer has status ${response.status} and is not JSON: ${text.slice(0, 200)}`);
    }
  } catch (error) {
    return failed(`The gateway cannot be reached: ${messageOf(error)}`);
  }
}

/** The socket is opened by the subscriber and closed at the end of the subscription. */
function subscribe(endpoint: string, request: FetcherRequest, headers: Headers): Observable {
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

function failed(message: string): Answer {
  return { errors: [{ message }] };
}

/** The message of an error, or the code and reason with which a WebSocket was closed. */
function messageOf(error: unknown): string {
  if (error instanceof CloseEvent) return `${error.code} ${error.reason}`.trim();
  return error instanceof Error ? error.message : String(error);
}
