/**
 * Relay's runtime with a live query over graphql-ws: its store takes several results of one query. The operation is written as Relay's
 * compiler prints it.
 */
import { createClient } from 'graphql-ws';
import {
  type ConcreteRequest,
  createOperationDescriptor,
  Environment,
  Network,
  type NormalizationLinkedField,
  Observable,
  RecordSource,
  Store,
} from 'relay-runtime';
import { expect, onTestFinished, test } from 'vitest';
import WebSocket from 'ws';
import { silentLogger } from '../../src/base/log.ts';
import { startServer } from '../../src/server/http-server.ts';
import { engineFixture, made } from '../kit/engine-fixture.ts';
import { widget, widgets } from '../kit/graphql-world.ts';

interface Shown {
  readonly exampleComWidgets: {
    readonly totalCount: number;
    readonly nodes: readonly { readonly metadata: { readonly name: string } }[];
  };
}

const text = `query LiveWidgets @live(throttle: 0) {
  exampleComWidgets(first: 2) { totalCount nodes { id metadata { name } } }
}`;

const scalar = (name: string) => ({ alias: null, args: null, kind: 'ScalarField', name, storageKey: null }) as const;
const linked = (
  name: string,
  concreteType: string,
  selections: NormalizationLinkedField['selections'],
  { plural = false, first = null as number | null } = {},
): NormalizationLinkedField => ({
  alias: null,
  args: first === null ? null : [{ kind: 'Literal', name: 'first', value: first }],
  concreteType,
  kind: 'LinkedField',
  name,
  plural,
  selections,
  storageKey: first === null ? null : `${name}(first:${first})`,
});
const node = linked('nodes', 'ExampleComWidget', [scalar('id'), linked('metadata', 'ObjectMeta', [scalar('name')])], {
  plural: true,
});
const selections = [
  linked('exampleComWidgets', 'ExampleComWidgetConnection', [scalar('totalCount'), node], { first: 2 }),
];
const request = {
  kind: 'Request',
  fragment: {
    argumentDefinitions: [],
    kind: 'Fragment',
    metadata: null,
    name: 'LiveWidgets',
    selections,
    type: 'Query',
    abstractKey: null,
  },
  operation: { argumentDefinitions: [], kind: 'Operation', name: 'LiveWidgets', selections },
  params: { cacheID: 'LiveWidgets', id: null, metadata: {}, name: 'LiveWidgets', operationKind: 'query', text },
} as unknown as ConcreteRequest;

test('each result of a live query reaches the store', async () => {
  const fixture = engineFixture();
  await fixture.declare(widget());
  await fixture.sync(widgets, [made({ name: 'b' }), made({ name: 'c' })]);
  const server = await startServer({
    host: '127.0.0.1',
    port: 0,
    source: fixture.engine.source,
    readiness: () => ({ ready: true }),
    tabs: [],
    log: silentLogger,
  });
  onTestFinished(() => server.close());
  const socket = createClient({ url: server.url.replace(/^http/, 'ws'), webSocketImpl: WebSocket });
  onTestFinished(() => void socket.dispose());
  const environment = new Environment({
    network: Network.create(({ text: query }, variables) =>
      Observable.create((sink) => socket.subscribe({ query: query ?? '', variables }, sink as never)),
    ),
    store: new Store(new RecordSource()),
  });
  const operation = createOperationDescriptor(request, {});
  const shown: unknown[] = [];
  const show = (): void => {
    const { exampleComWidgets: found } = environment.lookup(operation.fragment).data as unknown as Shown;
    shown.push([found.totalCount, ...found.nodes.map(({ metadata }) => metadata.name)]);
  };
  environment.retain(operation);
  let subscribed = false;
  const running = environment.execute({ operation }).subscribe({
    next: () => {
      if (subscribed) return;
      subscribed = true;
      show();
      environment.subscribe(environment.lookup(operation.fragment), show);
    },
  });
  onTestFinished(() => running.unsubscribe());
  await expect.poll(() => shown.at(-1)).toEqual([2, 'b', 'c']);
  fixture.apply(widgets, 'ADDED', made({ name: 'a' }));
  await expect.poll(() => shown.at(-1), { timeout: 25_000 }).toEqual([3, 'a', 'b']);
  fixture.apply(widgets, 'DELETED', made({ name: 'b' }));
  await expect.poll(() => shown.at(-1), { timeout: 25_000 }).toEqual([2, 'a', 'c']);
});
