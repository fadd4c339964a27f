/** A GraphQL client for tests: queries over HTTP, subscriptions over WebSocket, answers as plain JSON. */
import { createClient } from 'graphql-ws';
import WebSocket from 'ws';

export interface Answer<T = Record<string, unknown>> {
  readonly data?: T | null;
  readonly errors?: readonly {
    readonly message: string;
    readonly path?: readonly (string | number)[];
    readonly extensions?: Record<string, unknown>;
  }[];
  readonly extensions?: Record<string, unknown>;
}

/** Sends one operation and returns the whole answer. */
export async function ask<T = Record<string, unknown>>(
  url: string,
  document: string,
  variables: Record<string, unknown> = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer<T>> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json', ...headers },
    body: JSON.stringify({ query: document, variables }),
  });
  return (await response.json()) as Answer<T>;
}

/** The data of an operation. @throws when the answer has errors. */
export async function data<T = Record<string, unknown>>(
  url: string,
  document: string,
  variables: Record<string, unknown> = {},
): Promise<T> {
  const answer = await ask<T>(url, document, variables);
  if (answer.errors !== undefined || answer.data == null) throw new Error(`no data: ${JSON.stringify(answer)}`);
  return answer.data;
}

/** The messages of one subscription, collected as they arrive. */
export interface Collected<T> {
  readonly messages: readonly T[];
  /** Resolves with all messages so far as soon as they satisfy the condition; rejects when the subscription ends first. */
  until(condition: (messages: readonly T[]) => boolean): Promise<readonly T[]>;
  stop(): Promise<void>;
}

/** Subscribes. `pick` selects the interesting part of each message's data. */
export function subscribe<T>(
  url: string,
  document: string,
  variables: Record<string, unknown>,
  pick: (data: Record<string, unknown>) => T,
): Collected<T> {
  const client = createClient({ url: url.replace(/^http/, 'ws'), webSocketImpl: WebSocket, retryAttempts: 0 });
  const messages: T[] = [];
  const waiting = new Set<{ check(): void; fail(error: unknown): void }>();
  let ended: unknown = null;
  const end = (reason: unknown): void => {
    ended ??= reason;
    for (const each of [...waiting]) each.fail(reason);
  };
  const unsubscribe = client.subscribe<Record<string, unknown>>(
    { query: document, variables },
    {
      next: (result) => {
        if (result.errors !== undefined || result.data == null) return end(new Error(JSON.stringify(result)));
        messages.push(pick(result.data));
        for (const each of [...waiting]) each.check();
      },
      error: (error) => end(error instanceof Error ? error : new Error(JSON.stringify(error))),
      complete: () => end(new Error('the subscription completed')),
    },
  );
  return {
    messages,
    until: (condition) =>
      new Promise((resolve, reject) => {
        const each = {
          check(): void {
            if (!condition(messages)) return;
            waiting.delete(each);
            resolve([...messages]);
          },
          fail(error: unknown): void {
            waiting.delete(each);
            reject(error);
          },
        };
        waiting.add(each);
        each.check();
        if (ended !== null && waiting.has(each)) each.fail(ended);
      }),
    async stop() {
      unsubscribe();
      await client.dispose();
    },
  };
}
