/**
 * Ten thousand subscribers over WebSockets, on a gateway whose Pods change.
 *
 *   documents   10,000 subscribers of 10 documents: processor time of the serve thread for each delivery, beside a bare ws.send of the same
 *               bytes to as many connections in the same thread
 *   swap        a new generation of the schema under these subscribers: the longest turn of the serve thread, and whether each of them gets
 *               the next change
 *   filters     10,000 different equality filters on one kind, beside one filter
 *   snapshots   ten clients that take a snapshot of all Pods at once, then fifty: a trivial query meanwhile, and the time until the last
 *               client is LIVE beside that of a client alone
 *   live        1,000 different pages with @live while 2,000 Pods change each second: processor time of the readers, and p99 of an ordinary
 *               page beside that without these pages
 *
 * This thread is the clients. Another thread asks the trivial query. The clients count the changes that each subscriber gets: a missing or a
 * doubled one is an error.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { WebSocket } from 'ws';
import {
  type Asked,
  type Counted,
  documents,
  type GatewayAnswer,
  type GatewayOrder,
  liveDocument,
  nameDocument,
  namespaceAt,
  namespaceDocument,
  pageAt,
  snapshotDocument,
} from './fanout.world.ts';
import { inFolder } from './support/folder.ts';
import { gatewayFlags } from './support/gateway-flags.ts';
import { threadCpuMs } from './support/loop-turns.ts';
import { median } from './support/page-load.ts';
import { podName } from './support/pods.ts';

export const about =
  'processor time and memory of 10,000 subscribers over WebSockets (--subscribers N, --connections N, --seconds N, --rate N, --cases documents,filters,snapshots,live)';

const objects = 25_000;
const bounds = {
  cpuRatio: 1.2,
  lost: 0,
  swapBlockMs: 50,
  snapshotQueryP99Ms: 50,
  snapshotRatio: 2,
  liveReaderCores: 1,
  livePageRatio: 2,
};

class Gateway {
  readonly #child: ReturnType<typeof fork>;
  readonly #exited: Promise<never>;

  constructor(file: string) {
    const program = fileURLToPath(new URL('./fanout.child.ts', import.meta.url));
    this.#child = fork(program, [file, String(objects)], { execArgv: [...gatewayFlags()] });
    this.#exited = once(this.#child, 'exit').then(() => Promise.reject(new Error('the gateway ended before its time')));
    this.#exited.catch(() => {});
  }

  async ready(): Promise<{ readonly url: string; readonly bareUrl: string }> {
    const [found] = (await Promise.race([once(this.#child, 'message'), this.#exited])) as [
      { readonly url: string; readonly bareUrl: string },
    ];
    return found;
  }

  async ask<T extends GatewayAnswer | 'done'>(order: GatewayOrder): Promise<T> {
    const answered = once(this.#child, 'message');
    this.#child.send(order);
    const [answer] = (await Promise.race([answered, this.#exited])) as [T];
    return answer;
  }

  async close(): Promise<void> {
    const exited = this.#exited.catch(() => {});
    this.#child.disconnect();
    await exited;
  }
}

/** Bytes of a message in which the phase of a live list is. */
const headBytes = 200;

/** The clients: connections with subscribers. */
class Clients {
  readonly sockets: WebSocket[] = [];
  /** Changes by subscriber. */
  readonly changes: number[] = [];
  messages = 0;
  bytes = 0;
  synced = 0;
  /** Milliseconds from the commit of a message's first change until it arrived. */
  readonly ages: number[] = [];
  isOfQueries = false;
  /** Of live queries, and those of them that are errors. */
  results = 0;
  failed = 0;

  async connect(url: string, connections: number, protocol?: string): Promise<void> {
    for (let from = 0; from < connections; from += 100) {
      const opened = Array.from({ length: Math.min(100, connections - from) }, async () => {
        const protocols = protocol === undefined ? [] : [protocol];
        const socket = new WebSocket(url, protocols, { perMessageDeflate: false, skipUTF8Validation: true });
        this.sockets.push(socket);
        await once(socket, 'open');
      });
      await Promise.all(opened);
    }
  }

  /** Subscribes and waits until every subscriber is synced. @param askOf the question of each subscriber */
  async subscribe(subscribers: number, askOf: (index: number) => object): Promise<void> {
    const { sockets } = this;
    for (const socket of sockets) {
      socket.on('message', (data: Buffer) => this.#take(data));
      const acknowledged = once(socket, 'message');
      socket.send('{"type":"connection_init"}');
      await acknowledged;
    }
    const from = this.changes.length;
    for (let index = from; index < from + subscribers; index += 1) {
      this.changes.push(0);
      const message = { id: String(index), type: 'subscribe', payload: askOf(index) };
      sockets[index % sockets.length]?.send(JSON.stringify(message));
      if (index % 200 === 0) await until(() => this.synced + 400 > index);
    }
    await until(() => this.synced === subscribers);
  }

  /** Opens live queries, and waits until each has its first result. */
  async open(queries: number, askOf: (index: number) => object): Promise<void> {
    this.isOfQueries = true;
    for (const socket of this.sockets) {
      socket.on('message', (data: Buffer) => this.#take(data));
      const acknowledged = once(socket, 'message');
      socket.send('{"type":"connection_init"}');
      await acknowledged;
    }
    for (let index = 0; index < queries; index += 1) {
      const message = { id: String(index), type: 'subscribe', payload: askOf(index) };
      this.sockets[index % this.sockets.length]?.send(JSON.stringify(message));
      if (index % 50 === 0) await until(() => this.results + 100 > index);
    }
    await until(() => this.results >= queries);
  }

  #take(data: Buffer): void {
    // Messages of a snapshot are long, and their beginning has the phase.
    if (data.toString('latin1', 0, headBytes).includes('"phase":"SNAPSHOT"')) return;
    const text = data.toString('latin1');
    if (this.isOfQueries && text.includes('"type":"next"')) {
      if (!text.includes('"nodes"')) this.failed += 1;
      this.results += 1;
      return;
    }
    if (text.includes('"phase":"SYNCED"')) {
      this.synced += 1;
      return;
    }
    if (!text.includes('"type":"next"')) {
      if (text.includes('"type":"error"')) throw new Error(text);
      return;
    }
    if (!text.includes('"phase":"LIVE"')) throw new Error(text.slice(0, 500));
    const index = Number(text.slice(7, text.indexOf('"', 7)));
    this.messages += 1;
    this.bytes += data.length;
    const committed = text.indexOf('"at":"');
    if (committed >= 0)
      this.ages.push(Date.now() - Date.parse(text.slice(committed + 6, text.indexOf('"', committed + 6))));
    for (let at = text.indexOf('"type":"MODIFIED"'); at >= 0; at = text.indexOf('"type":"MODIFIED"', at + 1)) {
      this.changes[index] = (this.changes[index] ?? 0) + 1;
    }
  }

  async close(): Promise<void> {
    const closed = this.sockets.map((socket) => once(socket, 'close'));
    for (const socket of this.sockets) socket.close();
    await Promise.all(closed);
  }
}

async function until(condition: () => boolean, most = 120_000): Promise<void> {
  const began = performance.now();
  while (!condition()) {
    if (performance.now() - began > most) throw new Error('what the benchmark waits for does not happen');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

interface Options {
  readonly subscribers: number;
  readonly connections: number;
  readonly seconds: number;
  readonly rate: number;
}

export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      subscribers: { type: 'string', default: '10000' },
      connections: { type: 'string', default: '500' },
      seconds: { type: 'string', default: '10' },
      rate: { type: 'string', default: '20' },
      cases: { type: 'string', default: 'documents,filters,snapshots,live' },
    },
  });
  const options: Options = {
    subscribers: Number(values.subscribers),
    connections: Number(values.connections),
    seconds: Number(values.seconds),
    rate: Number(values.rate),
  };
  await inFolder(async (directory) => {
    const gateway = new Gateway(join(directory, 'store.db'));
    const urls = await gateway.ready();
    const cases = values.cases.split(',');
    const byDocument = cases.includes('documents') ? await documentsCase(gateway, urls, options) : null;
    const byFilter = cases.includes('filters') ? await filtersCase(gateway, urls.url, options) : null;
    const snapshots = cases.includes('snapshots') ? await snapshotsCase(gateway, urls.url) : null;
    const live = cases.includes('live') ? await liveCase(gateway, urls.url, options) : null;
    await gateway.close();
    process.stdout.write(`${JSON.stringify({ bench: 'fanout', ...byDocument, ...byFilter, ...snapshots, ...live })}\n`);
    const isOver = (value: number | undefined, bound: number): boolean => (value ?? 0) > bound;
    const missed =
      isOver(byDocument?.cpuRatio, bounds.cpuRatio) ||
      isOver(byDocument?.lost, bounds.lost) ||
      isOver(byDocument?.swapBlockMs, bounds.swapBlockMs) ||
      isOver(byFilter?.filtersLost, bounds.lost) ||
      isOver(snapshots?.snapshotQueryP99Ms, bounds.snapshotQueryP99Ms) ||
      isOver(snapshots?.snapshotRatio, bounds.snapshotRatio) ||
      isOver(live?.liveErrors, 0) ||
      isOver(live?.liveReaderCores, bounds.liveReaderCores) ||
      isOver(live?.livePageRatio, bounds.livePageRatio);
    if (missed) process.exitCode = 1;
  });
}

function webSocketUrl(url: string): string {
  return url.replace(/^http/, 'ws');
}

async function documentsCase(
  gateway: Gateway,
  { url, bareUrl }: { readonly url: string; readonly bareUrl: string },
  { subscribers, connections, seconds, rate }: Options,
) {
  const clients = new Clients();
  await clients.connect(webSocketUrl(url), connections, 'graphql-transport-ws');
  const before = await gateway.ask<{ heapBytes: number }>({ ask: 'memory' });
  await clients.subscribe(subscribers, (index) => ({
    query: namespaceDocument,
    variables: { namespace: namespaceAt(index) },
  }));
  const after = await gateway.ask<{ heapBytes: number }>({ ask: 'memory' });
  const bytesPerIdle = Math.round((after.heapBytes - before.heapBytes) / subscribers);
  const changes = seconds * rate;
  const expected = (changes / documents) * subscribers;
  const got = (): number => clients.changes.reduce((sum, each) => sum + each, 0);
  await gateway.ask({ ask: 'begin' });
  await gateway.ask({ ask: 'write', order: { changes, perSecond: rate, of: documents } });
  await until(() => got() >= expected, 60_000).catch(() => {});
  const counted = await gateway.ask<Counted>({ ask: 'end' });
  await new Promise((resolve) => setTimeout(resolve, 200));
  const { messages, bytes: received } = clients;
  clients.ages.sort((a, b) => a - b);
  const p99Ms = clients.ages[Math.floor(clients.ages.length * 0.99)] ?? 0;
  await gateway.ask({ ask: 'begin' });
  await gateway.ask({ ask: 'swap' });
  const swap = await gateway.ask<Counted>({ ask: 'end' });
  const afterSwap = expected + subscribers;
  await gateway.ask({ ask: 'write', order: { changes: documents, perSecond: rate, of: documents } });
  await until(() => got() >= afterSwap, 60_000).catch(() => {});
  await new Promise((resolve) => setTimeout(resolve, 200));
  const lost = Math.abs(afterSwap - got());
  await clients.close();
  const bytes = Math.round(received / messages);

  const bareClients = new Clients();
  await bareClients.connect(bareUrl, connections);
  let arrived = 0;
  for (const socket of bareClients.sockets) socket.on('message', () => (arrived += 1));
  const each = subscribers / connections;
  const rounds = Math.round((messages / subscribers) * documents);
  const sent = (rounds / documents) * subscribers;
  await gateway.ask({ ask: 'begin' });
  await gateway.ask({ ask: 'bare', bytes, rounds, perSecond: rate, each });
  await until(() => arrived >= sent);
  const bare = await gateway.ask<Counted>({ ask: 'end' });
  await bareClients.close();
  const microseconds = (counted.cpuMs * 1000) / messages;
  const bareMicroseconds = (bare.cpuMs * 1000) / sent;
  const cpuRatio = Number((microseconds / bareMicroseconds).toFixed(2));
  process.stdout.write(
    `${subscribers} subscribers of ${documents} documents: ${messages} messages of ${bytes} bytes, ` +
      `${microseconds.toFixed(1)} µs each, p99 ${p99Ms} ms after the commit; a bare ws.send ${bareMicroseconds.toFixed(1)} µs; longest turn ${counted.longestMs.toFixed(0)} ms\n` +
      `a swap of the schema: longest turn ${swap.longestMs.toFixed(0)} ms, ${swap.cpuMs.toFixed(0)} ms of processor time\n`,
  );
  const swapBlockMs = Number(swap.longestMs.toFixed(1));
  return { cpuRatio, p99Ms, bytesPerIdle, lost, swapBlockMs };
}

async function filtersCase(gateway: Gateway, url: string, { subscribers, connections, seconds }: Options) {
  const perSecond = 200;
  const changes = Math.min(objects, seconds * perSecond);
  const measure = async (count: number): Promise<{ microseconds: number; lost: number }> => {
    const clients = new Clients();
    await clients.connect(webSocketUrl(url), Math.min(connections, count), 'graphql-transport-ws');
    await clients.subscribe(count, (index) => ({
      query: nameDocument,
      variables: { name: podName(index).split('/')[1] },
    }));
    const got = (): number => clients.changes.reduce((sum, each) => sum + each, 0);
    await gateway.ask({ ask: 'begin' });
    await gateway.ask({ ask: 'write', order: { changes, perSecond, of: 50 } });
    const expected = Math.min(count, changes);
    await until(() => got() >= expected, 30_000).catch(() => {});
    const { cpuMs } = await gateway.ask<Counted>({ ask: 'end' });
    const lost = Math.abs(expected - got());
    await clients.close();
    return { microseconds: (cpuMs * 1000) / changes, lost };
  };
  const one = await measure(1);
  const before = await gateway.ask<{ heapBytes: number }>({ ask: 'memory' });
  const many = await measure(subscribers);
  const after = await gateway.ask<{ heapBytes: number }>({ ask: 'memory' });
  const leftMb = ((after.heapBytes - before.heapBytes) / 1e6).toFixed(1);
  process.stdout.write(
    `${subscribers} different filters: ${many.microseconds.toFixed(0)} µs for each change; one filter: ${one.microseconds.toFixed(0)} µs; ${leftMb} MB more in memory after they have left\n`,
  );
  return { filtersUs: Math.round(many.microseconds), filtersLost: one.lost + many.lost };
}

async function snapshotsCase(gateway: Gateway, url: string) {
  const crowd = async (count: number) => {
    const clients = new Clients();
    await clients.connect(webSocketUrl(url), count, 'graphql-transport-ws');
    await gateway.ask({ ask: 'begin' });
    const began = performance.now();
    const own = threadCpuMs();
    await clients.subscribe(count, () => ({ query: snapshotDocument }));
    const ms = performance.now() - began;
    const clientMs = threadCpuMs() - own;
    const { longestMs, cpuMs } = await gateway.ask<Counted>({ ask: 'end' });
    await clients.close();
    return { ms, longestMs, cpuMs, clientMs };
  };
  // The first one compiles.
  await crowd(1);
  const aloneMs = median([(await crowd(1)).ms, (await crowd(1)).ms, (await crowd(1)).ms]);
  const asking = await askAgain(url);
  const ten = await crowd(10);
  const fifty = await crowd(50);
  const { queries, p99 } = await asking.end();
  const snapshotQueryP99Ms = Number(p99.toFixed(1));
  const snapshotRatio = Number((Math.max(ten.ms, fifty.ms) / aloneMs).toFixed(2));
  process.stdout.write(
    `snapshots of ${objects} Pods: one client ${aloneMs.toFixed(0)} ms, ten ${ten.ms.toFixed(0)} ms, fifty ${fifty.ms.toFixed(0)} ms ` +
      `(processor time of the serve thread ${fifty.cpuMs.toFixed(0)} ms, of the clients ${fifty.clientMs.toFixed(0)} ms); ` +
      `${queries} queries meanwhile, p99 ${snapshotQueryP99Ms} ms; longest turn ${Math.max(ten.longestMs, fifty.longestMs).toFixed(0)} ms\n`,
  );
  return { snapshotQueryP99Ms, snapshotRatio };
}

/** Asks the trivial query again and again until the end. */
async function askAgain(url: string): Promise<{ end(): Promise<Asked> }> {
  const asker = new Worker(new URL('./fanout.asker.ts', import.meta.url), { workerData: url });
  await once(asker, 'online');
  return {
    async end() {
      const told = once(asker, 'message');
      asker.postMessage('end');
      const [asked] = (await told) as [Asked];
      return asked;
    },
  };
}

async function liveCase(gateway: Gateway, url: string, { seconds }: Options) {
  const pages = 1000;
  const perSecond = 2000;
  const changes = Math.min(objects, seconds * perSecond);
  const alone = await askAgain(url);
  await gateway.ask({ ask: 'write', order: { changes, perSecond, of: 50 } });
  const idle = await alone.end();
  const clients = new Clients();
  await clients.connect(webSocketUrl(url), 100, 'graphql-transport-ws');
  await clients.open(pages, (index) => ({ query: liveDocument, variables: pageAt(index) }));
  const before = clients.results;
  const asking = await askAgain(url);
  await gateway.ask({ ask: 'begin' });
  await gateway.ask({ ask: 'write', order: { changes, perSecond, of: 50 } });
  const counted = await gateway.ask<Counted>({ ask: 'end' });
  const busy = await asking.end();
  const [results, liveErrors] = [clients.results - before, clients.failed];
  await clients.close();
  const liveReaderCores = Number((counted.readersMs / counted.elapsedMs).toFixed(2));
  const livePageRatio = Number((busy.p99 / idle.p99).toFixed(2));
  process.stdout.write(
    `${pages} pages with @live, ${perSecond} changes/s: ${((results * 1000) / counted.elapsedMs).toFixed(0)} results/s, ` +
      `readers ${liveReaderCores} of a core, serve thread ${(counted.cpuMs / counted.elapsedMs).toFixed(2)}; ` +
      `p99 of a page ${busy.p99.toFixed(1)} ms, without these pages ${idle.p99.toFixed(1)} ms; longest turn ${counted.longestMs.toFixed(0)} ms\n`,
  );
  return { liveReaderCores, livePageRatio, liveErrors };
}
