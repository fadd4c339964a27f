/** The connection to the gateway: queries over HTTP, subscriptions over WebSocket. */
import { ApolloClient, ApolloLink, HttpLink, InMemoryCache } from '@apollo/client';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { createClient } from 'graphql-ws';
import { cacheConfig, reconnect, resumable, withPortolan } from './portolan.js';

const url: string = import.meta.env['VITE_GATEWAY'] ?? 'http://127.0.0.1:4000/graphql';

const live = resumable(createClient({ url: url.replace(/^http/, 'ws'), ...reconnect }));

export const cache = withPortolan(new InMemoryCache(cacheConfig));

export const client = new ApolloClient({
  cache,
  link: ApolloLink.split(
    ({ operationType }) => operationType === 'subscription',
    new GraphQLWsLink(live),
    new HttpLink({ uri: url }),
  ),
});
