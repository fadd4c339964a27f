/** Serve processes that end, by themselves or with the gateway. */
import { createClient } from 'graphql-ws';
import { expect, onTestFinished, test } from 'vitest';
import WebSocket from 'ws';
import { type SimCluster, startSimCluster } from '../../sim/sim-cluster.ts';
import { eventually } from '../kit/eventually.ts';
import { type GatewayProcess, startGatewayProcess } from '../kit/gateway-process.ts';
import { kubeconfigFolder } from '../kit/kubeconfig-file.ts';
import { sampleOf, samplesOf } from '../kit/prometheus-text.ts';
import { answerOf, childrenOf, isRunning, readinessOf, sendTo, serving } from '../kit/serve-processes.ts';

const document = `subscription ($since: String) { configMapChanges(since: $since) {
  phase reset cursor removedIds changes { type id object { metadata { name } data } } } }`;

interface Message {
  readonly phase: string;
  readonly reset: boolean;
  readonly cursor: string;
  readonly removedIds: readonly string[];
  readonly changes: readonly {
    readonly id: string;
    readonly object: { readonly metadata: { readonly name: string }; readonly data: { readonly v: string } } | null;
  }[];
}

/** Subscribes again from its cursor whenever its connection ends. */
class Subscriber {
  readonly held = new Map<string, string>();
  readonly phases: string[] = [];
  connections = 0;
  #cursor: string | null = null;
  #isStopped = false;

  constructor(url: string) {
    void this.#run(url);
  }

  async #run(url: string): Promise<void> {
    while (!this.#isStopped) {
      const client = createClient({ url: url.replace(/^http/, 'ws'), webSocketImpl: WebSocket, retryAttempts: 0 });
      client.on('connected', () => {
        this.connections += 1;
      });
      await new Promise<void>((resolve) => {
        client.subscribe<{ configMapChanges: Message }>(
          { query: document, variables: { since: this.#cursor } },
          { next: ({ data }) => data && this.#take(data.configMapChanges), error: () => resolve(), complete: resolve },
        );
      });
      await client.dispose();
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  #take({ phase, reset, cursor, removedIds, changes }: Message): void {
    this.phases.push(phase);
    if (reset) this.held.clear();
    for (const id of removedIds) this.held.delete(id);
    for (const { id, object } of changes)
      if (object !== null) this.held.set(id, `${object.metadata.name} ${object.data.v}`);
    if (phase === 'SYNCED' || phase === 'LIVE') this.#cursor = cursor;
  }

  stop(): void {
    this.#isStopped = true;
  }
}

function stopAll(subscribers: readonly Subscriber[]): void {
  for (const each of subscribers) each.stop();
}

const objects = 20;

interface World {
  readonly sim: SimCluster;
  readonly gateway: GatewayProcess;
  readonly pids: readonly number[];
  /** Changes the next object. */
  change(): void;
  /** Each object as a subscriber should hold it. */
  expected(): readonly string[];
}

async function world(...args: readonly string[]): Promise<World> {
  const folder = kubeconfigFolder();
  onTestFinished(() => folder.remove());
  const sim = await startSimCluster();
  onTestFinished(() => sim.close());
  const versions = Array.from({ length: objects }, () => 0);
  for (const index of versions.keys()) {
    const metadata = { name: `m${index}`, namespace: 'default' };
    sim.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { v: '0' } });
  }
  const given = ['--kubeconfig', folder.file('config', sim.kubeconfig()), '--processes', '2', ...args];
  const gateway = await startGatewayProcess(given);
  onTestFinished(() => {
    if (isRunning(gateway.pid)) process.kill(gateway.pid, 'SIGKILL');
  });
  let changes = 0;
  return {
    sim,
    gateway,
    pids: await serving(gateway, 2),
    change() {
      const at = changes % objects;
      changes += 1;
      versions[at] = changes;
      sim.patch(`/api/v1/namespaces/default/configmaps/m${at}`, { data: { v: `${changes}` } });
    },
    expected: () => versions.map((v, index) => `m${index} ${v}`).sort(),
  };
}

/** Resolves when none of the processes runs any more. */
async function gone(pids: readonly number[], milliseconds = 10_000): Promise<void> {
  await eventually(() => expect(pids.filter(isRunning)).toEqual([]), milliseconds);
}

test('subscribers of a killed process go on at their cursors without a GAP, and the process is started again', {
  timeout: 180_000,
}, async () => {
  const { gateway, change, expected } = await world();
  const subscribers = Array.from({ length: 30 }, () => new Subscriber(gateway.url));
  onTestFinished(() => stopAll(subscribers));
  const areWhole = (): void => {
    for (const { held } of subscribers) expect([...held.values()].sort()).toEqual(expected());
  };
  await eventually(areWhole, 30_000);
  for (let round = 0; round < 4; round += 1) {
    const [victim = 0, other = 0] = round % 2 === 0 ? childrenOf(gateway.pid) : childrenOf(gateway.pid).toReversed();
    for (let at = 0; at < 30; at += 1) change();
    process.kill(victim, 'SIGKILL');
    for (let at = 0; at < 30; at += 1) change();
    // Others are not harmed, and the state is told meanwhile.
    expect(await answerOf(gateway.url, other, '{ configMaps { totalCount } }')).toContain(`"totalCount":${objects}`);
    await serving(gateway, 2);
    await eventually(areWhole, 30_000);
    expect(isRunning(other)).toBe(true);
  }
  expect(subscribers.flatMap(({ phases }) => phases.filter((phase) => phase === 'GAP' || phase === 'RESET'))).toEqual(
    [],
  );
  const again = subscribers.reduce((sum, { connections }) => sum + connections - 1, 0);
  expect(again).toBeGreaterThan(0);
  process.stdout.write(`${again} connections were opened again, 0 gaps\n`);
  stopAll(subscribers);
  await gateway.close();
});

test('/readyz says that a process has ended, and which; the gateway stays ready', { timeout: 240_000 }, async () => {
  const { gateway, pids } = await world();
  // A process that is killed each time it starts is started later and later.
  const isOver = new AbortController();
  const [survivor] = pids;
  const killing = (async () => {
    while (!isOver.signal.aborted) {
      for (const pid of childrenOf(gateway.pid)) if (pid !== survivor) process.kill(pid, 'SIGKILL');
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  })();
  await eventually(async () => {
    const { ready, status, processes } = await readinessOf(gateway.url);
    expect([ready, status]).toEqual([true, 'degraded']);
    expect(processes).toMatchObject({
      wanted: 2,
      serving: 1,
      ended: [{ process: 2, error: 'it was ended by SIGKILL' }],
    });
    expect(processes.restarts).toBeGreaterThan(3);
  }, 60_000);
  isOver.abort();
  await killing;
  await serving(gateway, 2);
  expect(await readinessOf(gateway.url)).toMatchObject({ status: 'ready', processes: { ended: [] } });
  await gateway.close();
});

test('counters do not fall when a process ends, and those of ingest are not doubled', {
  timeout: 240_000,
}, async () => {
  const { gateway, pids } = await world();
  for (const pid of [...pids, ...pids]) await answerOf(gateway.url, pid, '{ configMaps { totalCount } }');
  const read = async (pid: number): Promise<string> =>
    (await sendTo(gateway.url, pid, { method: 'GET', path: '/metrics' })).text;
  const counted = (text: string): number =>
    samplesOf(text)
      .filter(({ name }) => name === 'portolan_graphql_operations_total')
      .reduce((sum, { value }) => sum + value, 0);
  const [first = 0, second = 0] = pids;
  const before = await read(first);
  expect(counted(before)).toBeGreaterThanOrEqual(4);
  expect(counted(await read(second))).toBe(counted(before));
  expect(sampleOf(before, 'portolan_ready')).toBe(1);
  const stored = samplesOf(before).filter(
    ({ name, labels }) => name === 'portolan_resource_objects' && labels['resource'] === 'configmaps',
  );
  expect(stored.map(({ value }) => value)).toEqual([objects]);
  process.kill(second, 'SIGKILL');
  await gone([second]);
  expect(counted(await read(first))).toBe(counted(before));
  await serving(gateway, 2);
  expect(counted(await read(first))).toBeGreaterThanOrEqual(counted(before));
  await gateway.close();
});

test('a serve process that was stopped while changes came is right afterwards', { timeout: 240_000 }, async () => {
  const { gateway, pids, change, expected } = await world();
  const [stopped = 0, other = 0] = pids;
  const last = async (pid: number): Promise<void> => {
    const text = await answerOf(gateway.url, pid, '{ configMaps(first: 100) { nodes { metadata { name } data } } }');
    const { data } = JSON.parse(text) as {
      data: { configMaps: { nodes: { metadata: { name: string }; data: { v: string } }[] } };
    };
    expect(data.configMaps.nodes.map(({ metadata: { name }, data: { v } }) => `${name} ${v}`).sort()).toEqual(
      expected(),
    );
  };
  process.kill(stopped, 'SIGSTOP');
  for (let at = 0; at < 1000; at += 1) change();
  // A query that the kernel gives to the stopped process is given up and asked again.
  await eventually(() => last(other), 20_000);
  process.kill(stopped, 'SIGCONT');
  await eventually(() => last(stopped), 60_000);
  expect(childrenOf(gateway.pid)).toEqual(pids);
  await gateway.close();
});

test('all serve processes end with the ingest process', { timeout: 240_000 }, async () => {
  const { gateway, pids } = await world();
  await gateway.kill();
  await gone(pids);
});

test('SIGTERM ends all in order; with --drain, the clients move first', { timeout: 240_000 }, async () => {
  const { gateway, pids } = await world('--drain', '15s', '--log-level', 'info');
  const subscribers = Array.from({ length: 5 }, () => new Subscriber(gateway.url));
  onTestFinished(() => stopAll(subscribers));
  await eventually(() => expect(subscribers.every(({ held }) => held.size === objects)).toBe(true), 30_000);
  const closing = gateway.close();
  await eventually(async () => expect(await readinessOf(gateway.url)).toMatchObject({ status: 'draining' }), 30_000);
  // The others move until the drain is over. One that is closed at its end finds nobody.
  await eventually(() => expect(subscribers.map(({ connections }) => connections > 1)).toContain(true), 120_000);
  // The second signal ends the drain, if it has not ended yet.
  if (isRunning(gateway.pid)) process.kill(gateway.pid, 'SIGTERM');
  stopAll(subscribers);
  await closing;
  expect(pids.filter(isRunning)).toEqual([]);
});

test('Ctrl-C reaches all processes of a terminal, and they end in order, once', { timeout: 240_000 }, async () => {
  const { gateway, pids } = await world('--log-level', 'info');
  for (const pid of pids) process.kill(pid, 'SIGINT');
  process.kill(gateway.pid, 'SIGINT');
  await gone([gateway.pid, ...pids]);
  const texts = gateway.log.map(({ msg }) => msg);
  expect(texts.filter((text) => text === 'the gateway ends')).toHaveLength(1);
  expect(texts.filter((text) => text.includes('has ended'))).toEqual([]);
});
