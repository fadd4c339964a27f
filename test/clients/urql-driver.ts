/** urql with graphcache as an application sets it up after `portolan client-config --urql`. */
import { Client, fetchExchange, subscriptionExchange } from '@urql/core';
import { cacheExchange } from '@urql/exchange-graphcache';
import { print } from 'graphql';
import { createClient } from 'graphql-ws';
import { cacheConfig, foldChanges, hold, reconnect, resumable } from 'printed/urql';
import {
  type Driver,
  type LivePods,
  listPods,
  livePods,
  type Message,
  type PodList,
  type PodRow,
  podDetail,
  watchPods,
} from './documents.ts';
import { LiveLists } from './live-lists.ts';

type Detail = { pod: Readonly<Record<string, unknown>> | null };

export function urqlDriver(endpoint: string, namespace: string, first: number): Driver {
  const socket = createClient({
    url: endpoint.replace(/^http/, 'ws'),
    ...reconnect,
  });
  const live = resumable(socket);
  const client = new Client({
    url: endpoint,
    preferGetMethod: false,
    exchanges: [
      cacheExchange(cacheConfig),
      subscriptionExchange({
        isSubscriptionOperation: ({ kind, query }) =>
          kind === 'subscription' || (kind === 'query' && print(query).includes('@live')),
        forwardSubscription: ({ query = '', variables }) => ({
          subscribe: (sink) => ({
            unsubscribe: live.subscribe({ query, variables: variables ?? null }, sink as never),
          }),
        }),
      }),
      fetchExchange,
    ],
  });
  const filter = { namespaces: [namespace] };
  const lists = new LiveLists(foldChanges);
  const results: LivePods[] = [];
  let asked: string | null = null;
  const list = (): PodList | null =>
    client.readQuery<{ pods: PodList }>(listPods, { filter, first, after: asked }, { requestPolicy: 'cache-only' })
      ?.data?.pods ?? null;

  return {
    list,
    async load(after) {
      const { error } = await client
        .query(listPods, { filter, first, after }, { requestPolicy: 'network-only' })
        .toPromise();
      if (error) throw error;
      asked = after;
      const shown = list();
      if (shown === null) throw new Error('the list is not in the cache');
      return shown;
    },
    async detail(name) {
      const { data, error } = await client
        .query<Detail>(podDetail, { namespace, name }, { requestPolicy: 'network-only' })
        .toPromise();
      if (error) throw error;
      return data?.pod ?? null;
    },
    cachedDetail: (name) =>
      client.readQuery<Detail>(podDetail, { namespace, name }, { requestPolicy: 'cache-only' })?.data?.pod,
    watch(name, { ids, since, rows }) {
      const watched = lists.begin(name, hold<PodRow>(rows, since));
      client
        .subscription<{ podChanges: Message }>(watchPods, { filter: ids === undefined ? filter : { ids }, since })
        .subscribe(({ data, error }) => {
          if (data == null) watched.fail(error);
          else watched.next(data.podChanges);
        });
    },
    live: (name) => lists.show(name),
    follow(size) {
      client
        .query<{ pods: LivePods }>(livePods, { filter, first: size }, { requestPolicy: 'network-only' })
        .subscribe(({ data }) => {
          if (data !== undefined) results.push(data.pods);
        });
    },
    followed: () => results,
    cut: () => socket.terminate(),
    async stop() {
      await socket.dispose();
    },
  };
}
