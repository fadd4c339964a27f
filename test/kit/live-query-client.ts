/** Live queries over WebSocket, as the users of a test. */
import { type Client, createClient } from 'graphql-ws';
import { onTestFinished } from 'vitest';
import WebSocket from 'ws';

export interface Result {
  readonly data?: unknown;
  readonly errors?: readonly { readonly path?: unknown; readonly extensions: { readonly code?: unknown } }[];
}

/** A client of the user with this name. */
export function connect(url: string, user: string): Client {
  const connectionParams = { user };
  const client = createClient({
    url: url.replace(/^http/, 'ws'),
    webSocketImpl: WebSocket,
    retryAttempts: 0,
    connectionParams,
  });
  onTestFinished(() => void client.dispose());
  return client;
}

/** The results of a live query, as they come. */
export function follow(client: Client, query: string): Result[] {
  const results: Result[] = [];
  client.subscribe(
    { query },
    {
      next: (result) => void results.push(result as unknown as Result),
      error: (error) => void results.push({ errors: [error].flat() as unknown as Result['errors'] & {} }),
      complete: () => {},
    },
  );
  return results;
}

/** The answer to a query that is no live query. */
export async function askAs(url: string, user: string, query: string): Promise<Result> {
  const headers = { 'content-type': 'application/json', user };
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ query: `query ${query}` }) });
  return (await answer.json()) as Result;
}

/** What the caller sees. A cursor of changes is that of its own snapshot. */
export function withoutPlaces({ data, errors }: Result): unknown {
  const text = JSON.stringify(data ?? null).replaceAll(/"changesCursor":"[^"]*"/g, '"changesCursor":""');
  return { data: JSON.parse(text) as unknown, codes: errors?.map(({ extensions }) => extensions.code) };
}
