/** Apollo's cache and graphcache with the printed policies. */
import { gql, InMemoryCache } from '@apollo/client';
import { Client, fetchExchange, subscriptionExchange } from '@urql/core';
import { cacheExchange } from '@urql/exchange-graphcache';
import { changesDocument } from './pod-answers.ts';
import type { ApolloModule, UrqlModule } from './printed-modules.ts';

/** One interface for both caches: write an answer, read a document. */
export interface Cached {
  answer(document: string, variables: Record<string, unknown>, data: object): Promise<void> | void;
  read(document: string, variables?: Record<string, unknown>): Promise<unknown> | unknown;
  told(message: object, filter?: unknown): Promise<void> | void;
}

export function apolloCache(apollo: ApolloModule): Cached {
  const cache = apollo.withPortolan(new InMemoryCache(apollo.cacheConfig));
  const parsed = (document: string) => cache.transformDocument(gql(document));
  return {
    answer: (document, variables, data) => void cache.writeQuery({ query: parsed(document), variables, data }),
    read: (document, variables = {}) => cache.readQuery({ query: parsed(document), variables }),
    told(message, filter = null) {
      cache.write({
        query: parsed(changesDocument),
        dataId: 'ROOT_SUBSCRIPTION',
        result: message,
        variables: { filter },
      });
      apollo.applyChanges(cache, (message as { podChanges: object }).podChanges, { filter });
    },
  };
}

export function urqlCache(urql: UrqlModule): Cached {
  let answer: object = {};
  const client = new Client({
    url: 'http://gateway.invalid/graphql',
    preferGetMethod: false,
    fetch: async () => Response.json({ data: answer }),
    exchanges: [
      cacheExchange(urql.cacheConfig),
      fetchExchange,
      subscriptionExchange({
        forwardSubscription: () => ({
          subscribe(sink) {
            sink.next({ data: answer as Record<string, unknown> });
            return { unsubscribe() {} };
          },
        }),
      }),
    ],
  });
  return {
    async answer(document, variables, data) {
      answer = data;
      await client.query(document, variables, { requestPolicy: 'network-only' }).toPromise();
    },
    read: (document, variables = {}) =>
      client.readQuery(document, variables, { requestPolicy: 'cache-only' })?.data ?? null,
    async told(message, matching = null) {
      answer = message;
      await new Promise((resolve) => {
        const { unsubscribe } = client.subscription(changesDocument, { filter: matching }).subscribe((result) => {
          queueMicrotask(() => unsubscribe());
          resolve(result);
        });
      });
    },
  };
}
