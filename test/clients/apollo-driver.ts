/** Apollo Client as an application sets it up after `portolan client-config --apollo`. */
import { ApolloClient, ApolloLink, gql, HttpLink, InMemoryCache } from '@apollo/client';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { hasDirectives } from '@apollo/client/utilities/internal';
import { createClient } from 'graphql-ws';
import { applyChanges, cacheConfig, foldChanges, hold, reconnect, resumable, withPortolan } from 'printed/apollo';
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

export function apolloDriver(endpoint: string, namespace: string, first: number): Driver {
  const socket = createClient({
    url: endpoint.replace(/^http/, 'ws'),
    ...reconnect,
  });
  const cache = withPortolan(new InMemoryCache(cacheConfig));
  const client = new ApolloClient({
    cache,
    link: ApolloLink.split(
      ({ operationType, query }) => operationType === 'subscription' || hasDirectives(['live'], query),
      new GraphQLWsLink(resumable(socket)),
      new HttpLink({ uri: endpoint }),
    ),
  });
  const [listDocument, detailDocument, watchDocument] = [gql(listPods), gql(podDetail), gql(watchPods)];
  const filter = { namespaces: [namespace] };
  const lists = new LiveLists(foldChanges);
  const results: LivePods[] = [];
  const list = (): PodList | null =>
    client.readQuery<{ pods: PodList }>({ query: listDocument, variables: { filter, first } })?.pods ?? null;

  return {
    list,
    async load(after) {
      await client.query({ query: listDocument, variables: { filter, first, after }, fetchPolicy: 'network-only' });
      const shown = list();
      if (shown === null) throw new Error('the list is not in the cache');
      return shown;
    },
    async detail(name) {
      const { data } = await client.query<{ pod: Readonly<Record<string, unknown>> | null }>({
        query: detailDocument,
        variables: { namespace, name },
        fetchPolicy: 'network-only',
      });
      return data?.pod ?? null;
    },
    cachedDetail: (name) =>
      client.readQuery<{ pod: Readonly<Record<string, unknown>> | null }>({
        query: detailDocument,
        variables: { namespace, name },
      })?.pod,
    watch(name, { ids, since, rows }) {
      const matching = ids === undefined ? filter : { ids };
      const live = lists.begin(name, hold<PodRow>(rows, since));
      client
        .subscribe<{ podChanges: Message }>({ query: watchDocument, variables: { filter: matching, since } })
        .subscribe({
          next: ({ data, error }) => {
            if (data == null) return live.fail(error);
            live.next(data.podChanges);
            applyChanges(cache, data.podChanges, { filter: matching });
          },
          error: live.fail,
        });
    },
    live: (name) => lists.show(name),
    follow(size) {
      client
        .watchQuery<{ pods: LivePods }>({
          query: gql(livePods),
          variables: { filter, first: size },
          fetchPolicy: 'network-only',
        })
        .subscribe(({ data, dataState }) => {
          if (dataState === 'complete') results.push(data.pods);
        });
    },
    followed: () => results,
    cut: () => socket.terminate(),
    async stop() {
      client.stop();
      await socket.dispose();
    },
  };
}
