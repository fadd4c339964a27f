/** A list of requests as the body, as batching clients send it. */
import { ApolloClient, gql, InMemoryCache } from '@apollo/client';
import { BatchHttpLink } from '@apollo/client/link/batch-http';
import { expect, onTestFinished, test } from 'vitest';
import { foreignGateway, query } from './foreign-gateway.ts';

const gateway = foreignGateway();

const remedy = /^The body is a list of requests.*Turn batching off.*HttpLink/;

test.each([
  ['two', JSON.stringify([{ query }, { query }])],
  ['one', JSON.stringify([{ query }])],
  ['none', '[]'],
])('a list of %s is refused with the remedy', async (_count, body) => {
  const response = await fetch(gateway.url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  expect(response.status).toBe(400);
  expect(await response.json()).toEqual({
    errors: [{ message: expect.stringMatching(remedy), extensions: { code: 'BAD_REQUEST' } }],
  });
  expect(gateway.told()).toEqual([]);
});

test("Apollo Client's batch link has the remedy in its error", async () => {
  const client = new ApolloClient({ cache: new InMemoryCache(), link: new BatchHttpLink({ uri: gateway.url }) });
  onTestFinished(() => client.stop());
  await expect(client.query({ query: gql(query) })).rejects.toMatchObject({
    errors: [{ message: expect.stringMatching(remedy), extensions: { code: 'BAD_REQUEST' } }],
  });
});
