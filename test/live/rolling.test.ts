/**
 * Two replicas behind a balancer are replaced one after the other while clients read and subscribe.
 *
 *   start C -> C ready -> SIGTERM to A: it drains and ends -> start D -> D ready -> SIGTERM to B
 *
 * The balancer does what a Service does: it sends new connections to replicas whose /readyz answers 200, and leaves open connections
 * alone.
 */
import { connect, createServer, type Server, type Socket } from 'node:net';
import { createClient } from 'graphql-ws';
import { afterEach, expect, test } from 'vitest';
import WebSocket from 'ws';
import { startSimCluster } from '../../sim/sim-cluster.ts';
import { eventually } from '../kit/eventually.ts';
import { type GatewayProcess, startGatewayProcess } from '../kit/gateway-process.ts';
import { data, subscribe } from '../kit/graphql-client.ts';
import { kubeconfigFolder } from '../kit/kubeconfig-file.ts';

const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

const drain = 2000;
const subscribers = 100;

interface Replica {
  readonly process: GatewayProcess;
  readonly port: number;
  ready: boolean;
}

/** A TCP balancer over the replicas that are ready. */
class Balancer {
  readonly replicas = new Set<Replica>();
  readonly #server: Server;
  readonly #timer: NodeJS.Timeout;
  readonly #sockets = new Set<Socket>();
  #turn = 0;

  constructor() {
    this.#server = createServer((socket) => this.#serve(socket));
    this.#timer = setInterval(() => void this.look(), 100);
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    const { port } = this.#server.address() as { port: number };
    return `http://127.0.0.1:${port}/graphql`;
  }

  async look(): Promise<void> {
    for (const replica of this.replicas) {
      const answer = await fetch(`http://127.0.0.1:${replica.port}/readyz`).catch(() => null);
      replica.ready = answer?.status === 200;
    }
  }

  close(): void {
    clearInterval(this.#timer);
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }

  #serve(socket: Socket): void {
    const ready = [...this.replicas].filter((each) => each.ready);
    this.#turn += 1;
    const replica = ready[this.#turn % ready.length];
    if (replica === undefined) return void socket.destroy();
    const upstream = connect(replica.port, '127.0.0.1');
    for (const each of [socket, upstream]) {
      this.#sockets.add(each);
      each.on('error', () => {});
      each.on('close', () => {
        this.#sockets.delete(each);
        socket.destroy();
        upstream.destroy();
      });
    }
    socket.pipe(upstream).pipe(socket);
  }
}

async function world() {
  const folder = kubeconfigFolder();
  undo.push(() => folder.remove());
  const cluster = await startSimCluster({ objects: 'empty' });
  undo.push(() => cluster.close());
  const configMap = (name: string) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: 'default' },
  });
  for (let index = 0; index < 40; index += 1) cluster.create(configMap(`map-${index}`));
  const kubeconfig = folder.file('config', cluster.kubeconfig());
  const balancer = new Balancer();
  undo.push(() => balancer.close());
  const start = async (): Promise<Replica> => {
    const args = ['--kubeconfig', kubeconfig, '--kinds', 'configmaps', '--drain', `${drain / 1000}s`];
    const process = await startGatewayProcess(args);
    const replica: Replica = { process, port: Number(new URL(process.url).port), ready: false };
    balancer.replicas.add(replica);
    await eventually(async () => {
      await balancer.look();
      expect(replica.ready).toBe(true);
    });
    return replica;
  };
  const end = async (replica: Replica): Promise<void> => {
    await replica.process.close();
    balancer.replicas.delete(replica);
  };
  return { cluster, configMap, balancer, start, end };
}

test('a rolling update fails no read, and subscriptions come back', async () => {
  const { cluster, configMap, balancer, start, end } = await world();
  const url = await balancer.listen();
  const first = await start();
  const second = await start();

  let reads = 0;
  const failures: unknown[] = [];
  let reading = true;
  const reader = async (): Promise<void> => {
    while (reading) {
      await data(url, '{ configMaps(first: 5) { totalCount nodes { metadata { name } } } }').then(
        () => {
          reads += 1;
        },
        (error: unknown) => failures.push(error),
      );
    }
  };
  const readers = Array.from({ length: 4 }, reader);

  let cuts = 0;
  let slowestMs = 0;
  const held = Array.from({ length: subscribers }, () => new Set<string>());
  const clients = held.map((names) => {
    let cutAt: number | null = null;
    const client = createClient({
      url: url.replace('http', 'ws'),
      webSocketImpl: WebSocket,
      retryAttempts: 50,
      retryWait: () => new Promise((resolve) => setTimeout(resolve, 50 + Math.random() * 100)),
      shouldRetry: () => true,
      on: {
        closed: () => {
          cuts += 1;
          cutAt ??= performance.now();
        },
      },
    });
    client.subscribe<{ configMapChanges: Message }>(
      { query: 'subscription { configMapChanges { phase reset changes { type object { metadata { name } } } } }' },
      {
        next: ({ data: found }) => {
          const { phase, reset, changes } = found?.configMapChanges ?? { phase: '', reset: false, changes: [] };
          if (reset) names.clear();
          for (const { type, object } of changes) if (type !== 'REMOVED') names.add(object?.metadata.name ?? '');
          if (phase === 'SYNCED' && cutAt !== null) {
            slowestMs = Math.max(slowestMs, performance.now() - cutAt);
            cutAt = null;
          }
        },
        error: (error) => failures.push(error),
        complete: () => {},
      },
    );
    return client;
  });
  await eventually(() => expect(held.every((names) => names.size === 40)).toBe(true));

  await start();
  await end(first);
  await start();
  await end(second);
  cluster.create(configMap('after'));
  await eventually(() => expect(held.every((names) => names.has('after'))).toBe(true));

  reading = false;
  await Promise.all(readers);
  for (const client of clients) await client.dispose();
  process.stdout.write(
    `${JSON.stringify({ rolling: 'two replicas', reads, failed: failures.length, cuts, slowestMs: Math.round(slowestMs) })}\n`,
  );
  expect(failures).toEqual([]);
  expect(reads).toBeGreaterThan(100);
  expect(cuts).toBeGreaterThanOrEqual(subscribers);
  for (const replica of balancer.replicas) await end(replica);
});

interface Message {
  readonly phase: string;
  readonly reset: boolean;
  readonly changes: readonly {
    readonly type: string;
    readonly object: { readonly metadata: { readonly name: string } } | null;
  }[];
}

test('a cursor of a list holds in another replica, and a cursor of changes gives GAP there', async () => {
  const { start, end } = await world();
  const [one, other] = [await start(), await start()];
  const page = `query Page($after: String) {
    configMaps(first: 25, after: $after, orderBy: [{ path: "metadata.name" }]) {
      changesCursor
      pageInfo { endCursor hasNextPage }
      nodes { metadata { name } }
    }
  }`;
  interface Page {
    readonly configMaps: {
      readonly changesCursor: string;
      readonly pageInfo: { readonly endCursor: string; readonly hasNextPage: boolean };
      readonly nodes: readonly { readonly metadata: { readonly name: string } }[];
    };
  }
  const head = (await data<Page & Record<string, unknown>>(one.process.url, page)).configMaps;
  const tail = (await data<Page & Record<string, unknown>>(other.process.url, page, { after: head.pageInfo.endCursor }))
    .configMaps;
  const names = [...head.nodes, ...tail.nodes].map(({ metadata }) => metadata.name);
  expect(names).toEqual(Array.from({ length: 40 }, (_, index) => `map-${index}`).sort());
  expect(tail.pageInfo.hasNextPage).toBe(false);
  const changes = subscribe(
    other.process.url,
    'subscription Since($since: String!) { configMapChanges(since: $since) { phase } }',
    { since: head.changesCursor },
    ({ configMapChanges }) => (configMapChanges as { phase: string }).phase,
  );
  const [phase] = await changes.until((phases) => phases.length > 0);
  expect(phase).toBe('GAP');
  await changes.stop();
  await Promise.all([end(one), end(other)]);
});
