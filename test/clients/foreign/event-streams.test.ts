/** graphql-sse, the client of GraphQL over Server-Sent Events. The gateway serves its distinct connections mode. */
import { createClient } from 'graphql-sse';
import { expect, onTestFinished, test } from 'vitest';
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

test('single connection mode is refused with the status that says so', async () => {
  const client = createClient({ url: gateway.url, singleConnection: true, retryAttempts: 0 });
  onTestFinished(() => client.dispose());
  const failed = new Promise((_resolve, reject) => {
    client.subscribe({ query }, { next: () => {}, error: reject, complete: () => reject(new Error('complete')) });
  });
  await expect(failed).rejects.toMatchObject({
    message: expect.stringContaining('405'),
    response: { status: 405 },
  });
});
