/**
 * A gateway with one and with two serve processes (`portolan serve --processes`).
 *
 *   pages    pages of Pods in a second, without kept answers, while no Pod changes. The client sends bytes that it has made before and
 *            counts those that come, so nearly all processor time is the gateway's. Three are measured in turns: a gateway with one
 *            process (one), a gateway with two (two), and two gateways with one each (apart). Those share nothing, so `twoOverApart` tells
 *            whether two processes lose by sharing a file. Processor time of the gateway and of the client is printed for each page
 *   live     subscribers of a gateway with two processes, of which one is killed (kill -9) every few seconds while Pods change. Each
 *            subscriber connects again and goes on at its cursor
 *
 * `lost` counts the subscribers that lack the last state of a Pod at the end. `gaps` counts the subscribers that had to begin with a
 * snapshot again. The time from the end of a connection to the first message on the next one is measured.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { WebSocket } from 'ws';
import { inFolder } from './support/folder.ts';
import { gatewayFlags } from './support/gateway-flags.ts';
import { listQuery } from './support/list-query.ts';
import { median } from './support/page-load.ts';
import { type PodServer, startPodServer } from './support/pod-server.ts';
import { cpuSecondsIn } from './support/thread-cpu.ts';

export const about =
  'pages of one and of two serve processes, and subscribers of two of which one is killed again and again (--objects N, --turns N, --seconds N, --connections N, --subscribers N, --kills N, --every SECONDS, --rate N)';

const entry = fileURLToPath(new URL('../src/portolan.js', import.meta.url));
const bounds = { twoOverOne: 1.7, twoOverApart: 0.95, gaps: 0, lost: 0 };
/** Higher figures are those of a busy machine. */
const possible = { twoOverOne: 2.1, twoOverApart: 1.2 };
/** Milliseconds until a subscriber tries again to connect. */
const againMs = 50;
/** Of a processor: what a gateway uses at most while it has nothing to do. */
const idleShare = 0.05;

export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      objects: { type: 'string', default: '20000' },
      turns: { type: 'string', default: '3' },
      seconds: { type: 'string', default: '5' },
      connections: { type: 'string', default: '64' },
      subscribers: { type: 'string', default: '500' },
      kills: { type: 'string', default: '12' },
      every: { type: 'string', default: '5' },
      rate: { type: 'string', default: '100' },
    },
  });
  const number = (key: keyof typeof values): number => Number(values[key]);
  await inFolder(async (directory) => {
    const server = await startPodServer(number('objects'), join(directory, 'kubeconfig'));
    try {
      const perSecond = await comparePages(directory, number('turns'), number('seconds'), number('connections'));
      const live = await killAgain(directory, server, {
        subscribers: number('subscribers'),
        kills: number('kills'),
        everyMs: number('every') * 1000,
        rate: number('rate'),
      });
      report(perSecond, live);
    } finally {
      await server.close();
    }
  });
}

interface Running {
  readonly url: string;
  readonly child: ChildProcess;
  readonly processes: number;
  close(): Promise<void>;
}

async function serve(directory: string, processes: number, file = String(processes)): Promise<Running> {
  const flags = [
    ...[
      '--kubeconfig',
      join(directory, 'kubeconfig'),
      '--kinds',
      'pods',
      '--port',
      '0',
      '--processes',
      String(processes),
    ],
    ...['--data', join(directory, `${file}.db`), '--answer-cache-bytes', '0', '--log-level', 'error'],
    // The subscribers are one caller, and all of them may be at one process for a while.
    ...['--caller-connections', '10000', '--caller-subscriptions', '10000', '--caller-cost', '100000000000'],
  ];
  const child = spawn(process.execPath, [...gatewayFlags(), entry, 'serve', ...flags], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /^Playground: (\S+)$/.exec(line)?.[1];
    if (url === undefined) continue;
    child.stdout.resume();
    await synced(url);
    return {
      url,
      child,
      processes,
      async close() {
        const over = once(child, 'exit');
        child.kill('SIGTERM');
        await over;
      },
    };
  }
  throw new Error('the gateway ended before its time');
}

async function synced(url: string): Promise<void> {
  while (!(await fetch(url.replace('/graphql', '/readyz'))).ok) await sleep(100);
}

/** The processes of each of the gateways that are measured together. */
const variants = { one: [1], two: [2], apart: [1, 1] } as const;
type Variant = keyof typeof variants;
type Pages = Readonly<Record<Variant, PageLoad>>;

interface PageLoad {
  readonly perSecond: number;
  /** Processor time for a page, in milliseconds, by thread: the gateways' serving threads, their other threads, the client. */
  readonly servingMs: number;
  readonly otherMs: number;
  readonly clientMs: number;
}

async function comparePages(directory: string, turns: number, seconds: number, connections: number): Promise<Pages> {
  const measured: Record<Variant, PageLoad[]> = { one: [], two: [], apart: [] };
  for (let turn = 0; turn < turns; turn++) {
    for (const name of Object.keys(variants) as Variant[]) {
      const gateways: Running[] = [];
      try {
        for (const [at, processes] of variants[name].entries())
          gateways.push(await serve(directory, processes, `${processes}-${at}`));
        await loadPages(gateways, 1, connections);
        await idle(gateways);
        measured[name].push(await loadPages(gateways, seconds, connections));
      } finally {
        await Promise.all(gateways.map((each) => each.close()));
      }
    }
  }
  const middle = (loads: readonly PageLoad[]): PageLoad => {
    const of = (figure: keyof PageLoad): number => median(loads.map((each) => each[figure]));
    return { perSecond: of('perSecond'), servingMs: of('servingMs'), otherMs: of('otherMs'), clientMs: of('clientMs') };
  };
  return { one: middle(measured.one), two: middle(measured.two), apart: middle(measured.apart) };
}

/** The load of all connections, shared among the gateways, with the processor time that it took. */
async function loadPages(gateways: readonly Running[], seconds: number, connections: number): Promise<PageLoad> {
  const before = { gateway: gatewaySeconds(gateways), client: process.cpuUsage() };
  const share = connections / gateways.length;
  const found = await Promise.all(gateways.map(({ url }) => pagesPerSecond(url, seconds, share)));
  const client = process.cpuUsage(before.client);
  const after = gatewaySeconds(gateways);
  const perSecond = found.reduce((sum, each) => sum + each, 0);
  const pages = perSecond * seconds;
  const inMs = (cpuSeconds: number): number => (cpuSeconds * 1000) / pages;
  return {
    perSecond,
    servingMs: inMs(after.serving - before.gateway.serving),
    otherMs: inMs(after.other - before.gateway.other),
    clientMs: inMs((client.user + client.system) / 1e6),
  };
}

/** Seconds of processor time of the gateways: of the main threads of the processes that serve, and of all other threads. */
function gatewaySeconds(gateways: readonly Running[]): { readonly serving: number; readonly other: number } {
  let [serving, other] = [0, 0];
  for (const { child, processes } of gateways) {
    const main = child.pid ?? 0;
    for (const id of [main, ...serveProcesses(main)]) {
      // That of a process has its ended threads too.
      const whole = cpuSecondsIn(readFileSync(`/proc/${id}/stat`, 'utf8'));
      const isServing = processes === 1 || id !== main;
      const own = isServing ? cpuSecondsIn(readFileSync(`/proc/${id}/task/${id}/stat`, 'utf8')) : 0;
      serving += own;
      other += whole - own;
    }
  }
  return { serving, other };
}

/** Resolves when ingest has nothing to do. It gives the paths of a query an index when they are seen for the first time. */
async function idle(gateways: readonly Running[]): Promise<void> {
  const used = (): number => {
    const { serving, other } = gatewaySeconds(gateways);
    return serving + other;
  };
  for (let look = 0, before = used(); look < 60; look++) {
    await sleep(1000);
    const now = used();
    if (now - before < idleShare * gateways.length) return;
    before = now;
  }
  process.stderr.write('ingest is still busy after a minute: the figures count its work too\n');
}

/** Each connection asks again when its answer is there. */
async function pagesPerSecond(url: string, seconds: number, connections: number): Promise<number> {
  const { host, hostname, port } = new URL(url);
  const body = JSON.stringify({ query: listQuery });
  const question = Buffer.from(
    `POST /graphql HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
  const sockets = await Promise.all(
    Array.from({ length: connections }, async () => {
      const socket = connect({ host: hostname, port: Number(port), noDelay: true });
      await once(socket, 'connect');
      return socket;
    }),
  );
  let answers = 0;
  let failure: Error | null = null;
  const asking = (socket: Socket): void => {
    let left = 0;
    socket.on('data', (piece: Buffer) => {
      left = left === 0 ? lengthOf(piece) - piece.length : left - piece.length;
      if (left > 0) return;
      answers += 1;
      socket.write(question);
    });
    socket.on('error', (error) => {
      failure = error;
    });
    socket.write(question);
  };
  for (const socket of sockets) asking(socket);
  const began = performance.now();
  await sleep(seconds * 1000);
  const found = answers / ((performance.now() - began) / 1000);
  for (const socket of sockets) socket.destroy();
  if (failure !== null) throw failure;
  return found;
}

/** Bytes of an answer with its head, which comes in one piece. */
function lengthOf(piece: Buffer): number {
  const end = piece.indexOf('\r\n\r\n') + 4;
  const head = piece.toString('latin1', 0, end);
  const [, length] = /^content-length: (\d+)/im.exec(head) ?? [];
  if (!head.startsWith('HTTP/1.1 200') || length === undefined) throw new Error(`no page but ${head}`);
  return end + Number(length);
}

interface Killing {
  readonly subscribers: number;
  readonly kills: number;
  readonly everyMs: number;
  /** Changes of Pods in a second. */
  readonly rate: number;
}

interface Killed {
  readonly kills: number;
  readonly reconnects: number;
  readonly reconnectP50Ms: number;
  readonly reconnectP99Ms: number;
  readonly messages: number;
  readonly gaps: number;
  readonly lost: number;
}

async function killAgain(
  directory: string,
  server: PodServer,
  { subscribers, kills, everyMs, rate }: Killing,
): Promise<Killed> {
  const gateway = await serve(directory, 2);
  const all = Array.from({ length: subscribers }, (_, index) => new Subscriber(gateway.url, `team-${index % 50}`));
  try {
    await Promise.all(all.map((each) => each.begin()));
    const churned = server.churn({ perSecond: rate, seconds: (kills * everyMs) / 1000 + 2 });
    for (let kill = 0; kill < kills; kill++) {
      await sleep(everyMs);
      const [first] = serveProcesses(gateway.child.pid ?? 0);
      // The oldest, so that both are killed in turns.
      if (first !== undefined) process.kill(first, 'SIGKILL');
    }
    await churned;
    const { versions } = await server.state();
    // Until all have what the server has, or do not get more.
    let missing = Number.POSITIVE_INFINITY;
    for (let look = 0; look < 40 && missing > 0; look++) {
      await sleep(250);
      missing = all.filter((each) => each.lacks(versions)).length;
    }
    const times = all.flatMap((each) => each.reconnects).sort((a, b) => a - b);
    const at = (share: number): number =>
      Math.round(times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0);
    return {
      kills,
      reconnects: times.length,
      reconnectP50Ms: at(0.5),
      reconnectP99Ms: at(0.99),
      messages: all.reduce((sum, each) => sum + each.messages, 0),
      gaps: all.reduce((sum, each) => sum + each.gaps, 0),
      lost: missing,
    };
  } finally {
    for (const each of all) each.end();
    await gateway.close();
  }
}

/** Ids of the serve processes, the oldest first. */
function serveProcesses(parent: number): readonly number[] {
  return readdirSync(`/proc/${parent}/task`)
    .flatMap((task) => readFileSync(`/proc/${parent}/task/${task}/children`, 'utf8').split(' '))
    .filter((id) => id !== '')
    .map(Number)
    .filter((id) => readFileSync(`/proc/${id}/cmdline`, 'utf8').includes('serve.process'))
    .sort((a, b) => a - b);
}

const document = `subscription Watch($namespace: String, $since: String) {
  podChanges(since: $since, filter: { metadata: { namespace: { eq: $namespace } } }) {
    phase reset cursor changes { type object { metadata { name namespace resourceVersion } } }
  }
}`;

interface Message {
  readonly phase: string;
  readonly reset: boolean;
  readonly cursor: string | null;
  readonly changes: readonly {
    readonly object: { readonly metadata: Readonly<Record<'name' | 'namespace' | 'resourceVersion', string>> } | null;
  }[];
}

/** Follows the Pods of a namespace on a connection of its own. */
class Subscriber {
  readonly #url: string;
  readonly #namespace: string;
  readonly #versions = new Map<string, string>();
  readonly #synced = Promise.withResolvers<void>();
  readonly reconnects: number[] = [];
  messages = 0;
  gaps = 0;
  #cursor: string | null = null;
  #socket: WebSocket | null = null;
  /** When the connection ended that is not replaced yet. */
  #endedAt: number | null = null;
  #isOver = false;

  constructor(url: string, namespace: string) {
    this.#url = url.replace('http', 'ws');
    this.#namespace = namespace;
  }

  /** Resolves when it has all Pods. */
  begin(): Promise<void> {
    this.#connect();
    return this.#synced.promise;
  }

  end(): void {
    this.#isOver = true;
    this.#socket?.terminate();
  }

  /** Does it lack the last state of a Pod? @param versions of all Pods at the API server, by `namespace/name` */
  lacks(versions: readonly (readonly [string, string])[]): boolean {
    return versions.some(
      ([key, version]) => key.startsWith(`${this.#namespace}/`) && this.#versions.get(key) !== version,
    );
  }

  #connect(): void {
    const socket = new WebSocket(this.#url, 'graphql-transport-ws', { perMessageDeflate: false });
    this.#socket = socket;
    socket.on('open', () => socket.send('{"type":"connection_init"}'));
    socket.on('message', (data: Buffer) => this.#take(socket, JSON.parse(data.toString())));
    socket.on('error', () => {});
    socket.on('close', () => {
      if (this.#isOver) return;
      this.#endedAt ??= performance.now();
      setTimeout(() => this.#connect(), againMs * Math.random());
    });
  }

  #take(
    socket: WebSocket,
    message: { readonly type: string; readonly payload?: { readonly data?: { readonly podChanges: Message } } },
  ): void {
    if (message.type === 'connection_ack') {
      const variables = { namespace: this.#namespace, since: this.#cursor };
      socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: { query: document, variables } }));
    }
    if (message.type === 'complete' || message.type === 'error') socket.close();
    const found = message.payload?.data?.podChanges;
    if (found === undefined) return;
    this.messages += 1;
    if (this.#endedAt !== null) this.reconnects.push(performance.now() - this.#endedAt);
    this.#endedAt = null;
    if (this.#cursor !== null && (found.reset || found.phase === 'GAP')) this.gaps += 1;
    for (const { object } of found.changes) {
      if (object === null) continue;
      const { namespace, name, resourceVersion } = object.metadata;
      this.#versions.set(`${namespace}/${name}`, resourceVersion);
    }
    if (found.phase === 'SNAPSHOT') return;
    this.#cursor = found.cursor;
    this.#synced.resolve();
  }
}

function report(pages: Pages, live: Killed): void {
  const rounded = (value: number): number => Math.round(value * 100) / 100;
  for (const [name, { perSecond, servingMs, otherMs, clientMs }] of Object.entries(pages)) {
    const parts = `threads that serve ${rounded(servingMs)}, other threads ${rounded(otherMs)}, client ${rounded(clientMs)}`;
    process.stdout.write(
      `${name}: ${Math.round(perSecond)} pages a second; processor time of a page in ms: ${parts}\n`,
    );
  }
  const { one, two, apart } = pages;
  const twoOverOne = rounded(two.perSecond / one.perSecond);
  const twoOverApart = rounded(two.perSecond / apart.perSecond);
  // Computed, not measured: two processes with a processor each, if the client has a machine of its own and no thread waits.
  const servingTwoOverOne = rounded((2 * one.servingMs) / two.servingMs);
  // Two processors that are never idle, with the costs of one process.
  const most = rounded((2 * one.servingMs) / (one.servingMs + one.otherMs + one.clientMs));
  process.stdout.write(`two processors give at most ${most} times the pages of one serve thread that is never idle\n`);
  process.stdout.write(
    `kill -9: ${live.kills} times, ${live.reconnects} reconnects, p50 ${live.reconnectP50Ms} ms, p99 ${live.reconnectP99Ms} ms, ${live.messages} messages\n`,
  );
  // Two processes cannot serve more than twice as much: others used the processors in some turns and not in others.
  const isQuiet = twoOverOne <= possible.twoOverOne && twoOverApart <= possible.twoOverApart;
  if (!isQuiet) process.stdout.write('the machine was not quiet: no figure of pages counts\n');
  const { gaps, lost, reconnectP99Ms } = live;
  const figures = { twoOverOne, servingTwoOverOne, twoOverApart, reconnectP99Ms, gaps, lost };
  process.stdout.write(`${JSON.stringify({ bench: 'processes', ...figures })}\n`);
  const isReached =
    twoOverOne >= bounds.twoOverOne && servingTwoOverOne >= bounds.twoOverOne && twoOverApart >= bounds.twoOverApart;
  if (!isQuiet || !isReached || gaps > bounds.gaps || lost > bounds.lost) process.exitCode = 1;
}
