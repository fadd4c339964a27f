/** The subscription `writes`, through whole gateways over a simulated cluster behind a proxy that records every request. */
import type { ExecutionResult } from 'graphql';
import { createClient as createEventClient } from 'graphql-sse';
import { createClient as createSocketClient } from 'graphql-ws';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import WebSocket from 'ws';
import type { SimCluster } from '../../sim/sim-cluster.ts';
import { attacked, startAttackedCluster, writesOf } from '../kit/attacked-cluster.ts';
import { eventually } from '../kit/eventually.ts';
import { runGateway } from '../kit/gateway.ts';
import { kubeconfigFolder } from '../kit/kubeconfig-file.ts';
import type { LoopbackServer } from '../kit/loopback-server.ts';
import { configMap, type Written, type WrittenItem, writeFields } from '../kit/writes-suite.ts';
import { WritingGateway } from '../kit/writing-gateway.ts';

interface Progress {
  readonly done: number;
  readonly total: number;
  readonly item: WrittenItem | null;
  readonly write: Written | null;
}

type Message = ExecutionResult<{ writes: Progress }>;

const itemFields = writeFields.slice(writeFields.indexOf('{') + 1, writeFields.lastIndexOf('}'));
const query = `subscription Act($mutation: MutationInput!, $options: WriteOptions!) {
  writes(mutation: $mutation, options: $options) { done total item { ${itemFields} } write { ${writeFields} } } }`;

describe('the subscription writes', () => {
  const folder = kubeconfigFolder();
  let sim: SimCluster;
  let proxy: LoopbackServer;
  let gateway: WritingGateway;

  beforeAll(async () => {
    ({ sim, proxy } = await startAttackedCluster());
    gateway = await WritingGateway.start(folder.write({ server: proxy.url }));
  });
  afterAll(async () => {
    await gateway?.close();
    await proxy?.close();
    await sim?.close();
    folder.remove();
  });

  const at = (name: string) => sim.get(`/api/v1/namespaces/${attacked}/configmaps/${name}`);
  const namesOf = (prefix: string, count: number) => Array.from({ length: count }, (_, index) => `${prefix}-${index}`);
  const docsOf = (names: readonly string[]) => names.map((name) => ({ json: configMap(attacked, name, { a: '1' }) }));

  const token = (): string => gateway.headers['authorization'] as string;
  const ways = {
    'a WebSocket': () =>
      createSocketClient({
        url: gateway.url.replace(/^http/, 'ws'),
        webSocketImpl: WebSocket,
        retryAttempts: 0,
        connectionParams: { authorization: token() },
      }),
    'an event stream': () =>
      createEventClient({ url: gateway.url, retryAttempts: 0, headers: { authorization: token() } }),
    'an event stream for several operations': () =>
      createEventClient({
        url: gateway.url,
        retryAttempts: 0,
        singleConnection: true,
        headers: { authorization: token() },
      }),
  };

  /** All messages, or those that `take` asked for: it returns false at the last one. */
  async function messagesOf(
    way: keyof typeof ways,
    mutation: object,
    options: object,
    take: (message: Message) => boolean = () => true,
  ): Promise<readonly Message[]> {
    const client = ways[way]();
    try {
      const messages: Message[] = [];
      const variables = { mutation, options };
      for await (const message of client.iterate<{ writes: Progress }>({ query, variables })) {
        messages.push(message as Message);
        if (!take(message as Message)) break;
      }
      return messages;
    } finally {
      await client.dispose();
    }
  }

  const progressOf = (messages: readonly Message[]): readonly Progress[] =>
    messages.map(({ data, errors }) => {
      if (data == null) throw new Error(JSON.stringify(errors));
      return data.writes;
    });

  /** The codes of a refusal: over a WebSocket it is an error, over event streams the one message. */
  async function refusalOf(way: keyof typeof ways, mutation: object, options: object): Promise<unknown> {
    const before = writesOf(proxy).length;
    const errors = await messagesOf(way, mutation, options).then(
      (messages) => messages.flatMap((message) => message.errors ?? []),
      (error: unknown) => error as readonly { extensions?: { code?: unknown } }[],
    );
    expect(writesOf(proxy).length).toBe(before);
    return errors.map(({ extensions }) => extensions?.code);
  }

  describe.each(Object.keys(ways) as (keyof typeof ways)[])('over %s', (way) => {
    const prefix = `w${Object.keys(ways).indexOf(way)}`;

    test('plans and carries out, item by item', async () => {
      const names = namesOf(prefix, 12);
      const mutation = { apply: { docs: docsOf(names) } };
      const plans = progressOf(await messagesOf(way, mutation, { dryRun: true }));
      const plan = plans.at(-1)?.write?.planId;
      expect(names.some((name) => at(name) !== undefined)).toBe(false);
      const done = progressOf(await messagesOf(way, mutation, { plan, waitMs: 20_000 }));
      for (const messages of [plans, done]) {
        expect(messages.map(({ done, total }) => [done, total])).toEqual([
          ...Array.from({ length: 13 }, (_, index) => [index, 12]),
          [12, 12],
        ]);
        const told = messages.slice(1, -1).map(({ item }) => [item?.target.name, item?.result, item?.seen]);
        expect(told.toSorted()).toEqual(names.map((name) => [name, 'CREATED', false]).toSorted());
      }
      expect(done.at(-1)?.write).toMatchObject({
        complete: true,
        items: names.map((name) => ({ target: { name }, seen: true })),
      });
      expect(done.at(-1)?.write?.items[0]?.object).toMatchObject({ metadata: { name: names[0] } });
      // A client that lost its connection sends the same again.
      const again = progressOf(await messagesOf(way, mutation, { plan }));
      expect(again.at(-1)?.write?.items.map(({ result }) => result)).toEqual(names.map(() => 'UNCHANGED'));
    });

    test('a plan of the mutation is a plan of the subscription, and the other way round', async () => {
      const [one, two] = [{ docs: docsOf([`${prefix}-one`]) }, { docs: docsOf([`${prefix}-two`]) }];
      const { planId } = await gateway.write('create', { ...one, options: { dryRun: true } });
      const [, first] = progressOf(await messagesOf(way, { create: one }, { plan: planId }));
      expect(first?.item?.result).toBe('CREATED');
      const planned = progressOf(await messagesOf(way, { create: two }, { dryRun: true }));
      const plan = planned.at(-1)?.write?.planId;
      expect((await gateway.write('create', { ...two, options: { plan } })).items).toMatchObject([
        { result: 'CREATED' },
      ]);
    });

    test('a client that leaves cancels what is not begun, and the plan goes on where it ended', async () => {
      const names = namesOf(`${prefix}-cancel`, 150);
      const mutation = { create: { docs: docsOf(names) } };
      const plans = progressOf(await messagesOf(way, mutation, { dryRun: true }));
      const plan = plans.at(-1)?.write?.planId;
      const options = { plan, order: 'GIVEN', onError: 'CONTINUE' };
      await messagesOf(way, mutation, options, ({ data }) => (data?.writes.done ?? 0) < 3);
      const existing = () => names.filter((name) => at(name) !== undefined);
      const sent = await eventually(async () => {
        const before = existing().length;
        await new Promise((resolve) => setTimeout(resolve, 300));
        expect(existing().length).toBe(before);
        return before;
      });
      expect(sent).toBeGreaterThanOrEqual(3);
      expect(sent).toBeLessThan(names.length);
      const rest = progressOf(await messagesOf(way, mutation, options)).at(-1)?.write;
      expect(existing()).toEqual(names);
      expect(rest?.items.filter(({ result }) => result === 'CREATED')).toHaveLength(names.length - sent);
    });

    test('an item comes again when it is undone', async () => {
      const good = docsOf([`${prefix}-undone`])[0];
      const bad = { json: { ...configMap(attacked, `${prefix}-bad`, {}), data: { a: 1 } } };
      const messages = progressOf(
        await messagesOf(
          way,
          { create: { docs: [good, bad] } },
          { requestId: 'r1', order: 'GIVEN', onError: 'REVERT' },
        ),
      );
      const told = messages.map(({ done, item }) => [done, item?.target.name ?? null, item?.result ?? null]);
      expect(told).toEqual([
        [0, null, null],
        [1, `${prefix}-undone`, 'CREATED'],
        [2, `${prefix}-bad`, 'NONE'],
        [2, `${prefix}-undone`, 'REVERTED'],
        [2, null, null],
      ]);
      expect(at(`${prefix}-undone`)).toBeUndefined();
    });

    test('what a repeat would do twice is refused', async () => {
      const mutation = { create: { docs: docsOf([`${prefix}-twice`]) } };
      expect(await refusalOf(way, mutation, {})).toEqual(['BAD_USER_INPUT']);
      expect(await refusalOf(way, mutation, { dryRun: false })).toEqual(['BAD_USER_INPUT']);
    });

    test('a refusal of the whole is the one message', async () => {
      const scale = { targets: { query: { kinds: ['Deployment'], expect: 3 } }, replicas: 1 };
      expect(await refusalOf(way, { scale }, { dryRun: true })).toEqual(['BAD_USER_INPUT']);
      expect(await refusalOf(way, { create: { docs: docsOf(['x']) } }, { plan: 'x' })).toEqual(['BAD_USER_INPUT']);
    });
  });

  test('no GET writes, not even with the start token and a plan', async () => {
    const docs = docsOf(['by-get']);
    const { planId } = await gateway.write('create', { docs, options: { dryRun: true } });
    const before = writesOf(proxy).length;
    for (const options of [{ plan: planId }, { requestId: 'r2' }, { dryRun: true }]) {
      const url = new URL(gateway.url);
      url.searchParams.set('query', query);
      url.searchParams.set('variables', JSON.stringify({ mutation: { create: { docs } }, options }));
      const headers = { ...gateway.headers, accept: 'text/event-stream', 'content-type': 'application/json' };
      const text = await (await fetch(url, { headers })).text();
      expect(text).toContain('FORBIDDEN');
      expect(text).not.toContain('"done"');
    }
    expect(writesOf(proxy).length).toBe(before);
    expect(at('by-get')).toBeUndefined();
  });

  test('without the start token, and in a gateway that is read-only, nothing is written', async () => {
    const mutation = { create: { docs: docsOf(['no-token']) } };
    const before = writesOf(proxy).length;
    const readOnly = await runGateway({ kubeconfig: folder.write({ server: proxy.url }) });
    try {
      for (const url of [gateway.url, readOnly.url]) {
        const client = createEventClient({ url, retryAttempts: 0 });
        for await (const { errors } of client.iterate({ query, variables: { mutation, options: { dryRun: true } } })) {
          expect(errors?.map(({ extensions }) => extensions?.['code'])).toEqual(['FORBIDDEN']);
        }
        client.dispose();
      }
    } finally {
      await readOnly.close();
    }
    expect(writesOf(proxy).length).toBe(before);
  });
});
