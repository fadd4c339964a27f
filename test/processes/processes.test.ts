/** Several serve processes of one gateway: each answers as the others, and learns of every commit. */
import type { Socket } from 'node:net';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { type SimCluster, startSimCluster } from '../../sim/sim-cluster.ts';
import { Dice } from '../fuzz/dice.ts';
import { randomQuery } from '../kit/consistency/live-questions.ts';
import { colors, namespaces } from '../kit/consistency/watched-objects.ts';
import { eventually } from '../kit/eventually.ts';
import { type GatewayProcess, startGatewayProcess } from '../kit/gateway-process.ts';
import { kubeconfigFolder } from '../kit/kubeconfig-file.ts';
import { answerOf, sendOn, serving, socketTo } from '../kit/serve-processes.ts';

const folder = kubeconfigFolder();
let sim: SimCluster;
let gateway: GatewayProcess;
let pids: readonly number[];

const put = (name: string, value: string): void => {
  const path = `/api/v1/namespaces/default/configmaps/${name}`;
  const metadata = { name, namespace: 'default' };
  if (sim.get(path) === undefined) sim.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { value } });
  else sim.patch(path, { data: { value } });
};

beforeAll(async () => {
  sim = await startSimCluster();
  put('a', '1');
  gateway = await startGatewayProcess(['--kubeconfig', folder.file('config', sim.kubeconfig()), '--processes', '2']);
  pids = await serving(gateway, 2);
});

afterAll(async () => {
  await gateway?.close();
  await sim?.close();
  folder.remove();
});

const maps = '{ configMaps { totalCount nodes { metadata { name resourceVersion } data } } }';

test('each process answers, and all answers are equal', async () => {
  const [first, ...others] = await Promise.all(pids.map((pid) => answerOf(gateway.url, pid, maps)));
  expect(JSON.parse(first ?? '')).not.toHaveProperty('errors');
  for (const other of others) expect(other).toBe(first);
});

test('a write at the cluster is seen at each process', async () => {
  for (let turn = 0; turn < 5; turn += 1) {
    put('a', `turn ${turn}`);
    for (const pid of pids) {
      await eventually(async () => expect(await answerOf(gateway.url, pid, maps)).toContain(`turn ${turn}`));
    }
  }
});

test('new connections without a choice get equal answers', async () => {
  const body = JSON.stringify({ query: maps });
  const answers = await Promise.all(Array.from({ length: 60 }, () => sendOn(null, gateway.url, { body })));
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
});

test('live lists and live queries at each process show every write', async () => {
  const list = 'subscription { configMapChanges { changes { object { data } } } }';
  const live = 'query @live { configMaps { nodes { data } } }';
  const followed = await Promise.all(
    pids.flatMap((pid) => [list, live].map(async (document) => follow(await socketTo(gateway.url, pid), document))),
  );
  for (const value of ['first', 'second', 'third']) {
    await eventually(() => expect(followed.filter(({ messages }) => messages.length === 0)).toEqual([]));
    put('a', `${value} live`);
    for (const { messages } of followed) {
      await eventually(() => expect(messages.some((text) => text.includes(`${value} live`))).toBe(true));
    }
  }
  for (const { leave } of followed) leave();
});

/** An operation over a WebSocket on this connection: the texts of its messages. */
function follow(socket: Socket, query: string): { readonly messages: readonly string[]; leave(): void } {
  const messages: string[] = [];
  const client = new WebSocket(gateway.url.replace(/^http/, 'ws'), 'graphql-transport-ws', {
    createConnection: () => socket,
  });
  client.on('open', () => client.send('{"type":"connection_init"}'));
  client.on('message', (data: Buffer) => {
    const text = data.toString();
    const { type } = JSON.parse(text) as { type: string };
    if (type === 'connection_ack') client.send(JSON.stringify({ id: '1', type: 'subscribe', payload: { query } }));
    else messages.push(text);
  });
  return { messages, leave: () => client.terminate() };
}

test('random questions have equal answers at each process, and at a gateway with one', {
  timeout: 180_000,
}, async () => {
  for (let index = 0; index < 60; index += 1) {
    const [namespace, color] = [namespaces[index % 3] ?? '', colors[index % 2] ?? ''];
    const path = `/api/v1/namespaces/${namespace}`;
    if (sim.get(path) === undefined) sim.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
    const metadata = { name: `o${index}`, namespace, labels: { color } };
    sim.create({ apiVersion: 'v1', kind: index % 4 === 0 ? 'ServiceAccount' : 'ConfigMap', metadata });
  }
  const alone = await startGatewayProcess(['--kubeconfig', folder.file('alone', sim.kubeconfig())]);
  onTestFinished(() => alone.close());
  const whole = '{ configMaps { totalCount } serviceAccounts { totalCount } }';
  const counts = { configMaps: { totalCount: 46 }, serviceAccounts: { totalCount: 15 } };
  const textOf = async (url: string, pid: number | null, asked: object): Promise<string> =>
    (await sendOn(pid === null ? null : await socketTo(url, pid), url, { body: JSON.stringify(asked) })).text;
  for (const [url, pid] of [[alone.url, null] as const, ...pids.map((pid) => [gateway.url, pid] as const)]) {
    await eventually(
      async () => expect(JSON.parse(await textOf(url, pid, { query: whole })).data).toEqual(counts),
      30_000,
    );
  }
  const dice = new Dice(7);
  for (let round = 0; round < 150; round += 1) {
    const { query, variables } = randomQuery(dice);
    const asked = { query: `query ${query}`, variables };
    const [mine = '', ...others] = await Promise.all(pids.map((pid) => textOf(gateway.url, pid, asked)));
    for (const other of others) expect(other, query).toBe(mine);
    const single = await textOf(alone.url, null, asked);
    expect(JSON.parse(mine).data, query).toEqual(expect.anything());
    expect(JSON.stringify(JSON.parse(mine).data), query).toBe(JSON.stringify(JSON.parse(single).data));
  }
});
