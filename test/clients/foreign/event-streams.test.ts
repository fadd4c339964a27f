/** graphql-sse, the client of GraphQL over Server-Sent Events. Both of its modes work with their default settings. */
import { createClient } from 'graphql-sse';
import { describe, expect, onTestFinished, test } from 'vitest';
import { answer, foreignGateway, query, subscription } from './foreign-gateway.ts';

const gateway = foreignGateway();

test('distinct connections mode: a query, and a subscription until the client leaves', async () => {
  const client = createClient({ url: gateway.url, retryAttempts: 0 });
  onTestFinished(() => client.dispose());
  const results: unknown[] = [];
  await new Promise<void>((resolve, reject) => {
    client.subscribe({ query }, { next: (result) => results.push(result), error: reject, complete: resolve });
  });
  expect(results).toMatchObject([{ data: answer }]);
  const ticks: (number | undefined)[] = [];
  for await (const { data } of client.iterate<{ ticks: number }>({ query: subscription })) {
    ticks.push(data?.ticks);
    if (ticks.length === 3) break;
  }
  expect(ticks).toEqual([1, 2, 3]);
});

test('distinct connections mode: an error before the execution is the one result', async () => {
  const client = createClient({ url: gateway.url, retryAttempts: 0 });
  onTestFinished(() => client.dispose());
  const results: unknown[] = [];
  await new Promise<void>((resolve, reject) => {
    client.subscribe(
      { query: '{ nope }' },
      { next: (result) => results.push(result), error: reject, complete: resolve },
    );
  });
  expect(results).toMatchObject([{ errors: [{ extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } }] }]);
});

describe('single connection mode', () => {
  const connected = () => {
    const client = createClient({ url: gateway.url, singleConnection: true });
    onTestFinished(() => client.dispose());
    return client;
  };

  test('a query, and subscriptions beside each other, one of which the client leaves', async () => {
    const client = connected();
    const results: unknown[] = [];
    const ticksOf = async (most: number): Promise<readonly (number | undefined)[]> => {
      const ticks: (number | undefined)[] = [];
      for await (const { data } of client.iterate<{ ticks: number }>({ query: subscription })) {
        ticks.push(data?.ticks);
        if (ticks.length === most) break;
      }
      return ticks;
    };
    const few = ticksOf(2);
    const many = ticksOf(4);
    for await (const result of client.iterate({ query })) results.push(result);
    expect(results).toMatchObject([{ data: answer }]);
    expect([await few, await many]).toEqual([
      [1, 2],
      [1, 2, 3, 4],
    ]);
  });

  test('an error before the execution is the one result', async () => {
    const results: unknown[] = [];
    for await (const result of connected().iterate({ query: '{ nope }' })) results.push(result);
    expect(results).toMatchObject([{ errors: [{ extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } }] }]);
  });

  test('a client that is not lazy', async () => {
    const client = createClient({ url: gateway.url, singleConnection: true, lazy: false });
    onTestFinished(() => client.dispose());
    const results: unknown[] = [];
    for await (const result of client.iterate({ query })) results.push(result);
    expect(results).toMatchObject([{ data: answer }]);
  });
});
