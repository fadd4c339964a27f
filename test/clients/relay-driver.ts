/** Relay's runtime with a live query, as an application sets it up. The operation is written as Relay's compiler prints it. */
import { createClient } from 'graphql-ws';
import { reconnect } from 'printed/urql';
import {
  type ConcreteRequest,
  createOperationDescriptor,
  Environment,
  Network,
  type NormalizationArgument,
  type NormalizationLinkedField,
  Observable,
  RecordSource,
  Store,
} from 'relay-runtime';
import { type LiveDriver, type LivePods, livePods } from './documents.ts';

type Selections = NormalizationLinkedField['selections'];

const scalar = (name: string): Selections[number] => ({
  alias: null,
  args: null,
  kind: 'ScalarField',
  name,
  storageKey: null,
});

function linked(
  name: string,
  concreteType: string,
  selections: Selections,
  { plural = false, args = null as readonly NormalizationArgument[] | null } = {},
): NormalizationLinkedField {
  return { alias: null, args, concreteType, kind: 'LinkedField', name, plural, selections, storageKey: null };
}

const variable = (name: string): NormalizationArgument => ({ kind: 'Variable', name, variableName: name });
const metadata = linked('metadata', 'ObjectMeta', [scalar('name'), scalar('labels')]);
const nodes = linked('nodes', 'Pod', [scalar('id'), metadata], { plural: true });
const selections = [
  linked('pods', 'PodConnection', [scalar('totalCount'), nodes], { args: [variable('filter'), variable('first')] }),
];
const argumentDefinitions = ['filter', 'first'].map((name) => ({
  defaultValue: null,
  kind: 'LocalArgument' as const,
  name,
}));
const request = {
  kind: 'Request',
  fragment: {
    argumentDefinitions,
    kind: 'Fragment',
    metadata: null,
    name: 'LivePods',
    selections,
    type: 'Query',
    abstractKey: null,
  },
  operation: { argumentDefinitions, kind: 'Operation', name: 'LivePods', selections },
  params: { cacheID: 'LivePods', id: null, metadata: {}, name: 'LivePods', operationKind: 'query', text: livePods },
} as unknown as ConcreteRequest;

export function relayDriver(endpoint: string, namespace: string): LiveDriver {
  const socket = createClient({
    url: endpoint.replace(/^http/, 'ws'),
    ...reconnect,
  });
  const environment = new Environment({
    network: Network.create(({ text }, variables) =>
      Observable.create((sink) => socket.subscribe({ query: text ?? '', variables }, sink as never)),
    ),
    store: new Store(new RecordSource()),
  });
  const results: LivePods[] = [];
  let stop = (): void => {};
  return {
    follow(size) {
      const operation = createOperationDescriptor(request, { filter: { namespaces: [namespace] }, first: size });
      const show = (): void => {
        const { pods } = environment.lookup(operation.fragment).data as unknown as { readonly pods: LivePods };
        results.push(pods);
      };
      environment.retain(operation);
      const running = environment.execute({ operation }).subscribe({
        next: () => {
          if (results.length > 0) return;
          show();
          environment.subscribe(environment.lookup(operation.fragment), show);
        },
      });
      stop = () => running.unsubscribe();
    },
    followed: () => results,
    cut: () => socket.terminate(),
    async stop() {
      stop();
      await socket.dispose();
    },
  };
}
