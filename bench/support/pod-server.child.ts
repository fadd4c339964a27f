/**
 * An API server with any number of Pods, for benchmarks: a process of its own, so that what it costs is not what is measured.
 *
 *   argv: how many Pods, a path for the kubeconfig -> message: listening -> 'churn' | 'state' -> SIGTERM, or the parent's end
 *
 * The Pods' list is rendered beforehand, in the order of an API server, and served page by page from memory. A simulated cluster
 * behind it answers all else: discovery, OpenAPI, the identity of the cluster. The resourceVersion of each event of a churn is the
 * time at which it was sent (versionsPerMs a millisecond). So its age can be read from a table.
 */
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { startSimCluster } from '../../sim/sim-cluster.ts';
import { must } from '../../src/base/must.ts';
import { type ChurnOrder, type PodServerMessage, type PodServerState, versionsPerMs } from './pod-server.ts';
import { podItem, podName } from './pods.ts';

const [count = '1000', kubeconfig = ''] = process.argv.slice(2);
const objects = Number(count);
const firstVersion = 1_000_000;
const tellEveryMs = 5;

const say = (message: PodServerMessage): void => void process.send?.(message);
const now = (): number => performance.timeOrigin + performance.now();

const sim = await startSimCluster({ objects: 'empty' });
const order = Array.from({ length: objects }, (_, index) => ({ index, key: podName(index) })).sort((a, b) =>
  a.key < b.key ? -1 : 1,
);
/** Of each Pod, its newest resourceVersion. */
const versions = new Float64Array(objects).fill(firstVersion);
let newest = firstVersion;
let pages: { readonly limit: number; readonly bodies: readonly Buffer[] } | null = null;
const watches = new Set<ServerResponse>();
const seen = { lists: 0, probes: 0, watches: 0, firstListAt: null as number | null, watchAt: null as number | null };

function item(index: number): string {
  const version = versions[index] ?? firstVersion;
  return podItem(index, version === firstVersion ? 'Running' : 'Pending', version);
}

function render(limit: number): readonly Buffer[] {
  const bodies: Buffer[] = [];
  for (let from = 0; from < objects || from === 0; from += limit) {
    const left = Math.max(0, objects - from - limit);
    const more = left === 0 ? '' : `,"continue":"${from + limit}","remainingItemCount":${left}`;
    const items = order.slice(from, from + limit).map(({ index }) => item(index));
    bodies.push(
      Buffer.from(
        `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"${newest}"${more}},"items":[${items.join(',')}]}\n`,
      ),
    );
  }
  return bodies;
}

function list(query: URLSearchParams, response: ServerResponse): void {
  const limit = Number(query.get('limit') ?? objects) || objects;
  // The bodies are rendered before anything is timed.
  if (pages?.limit !== limit) pages = { limit, bodies: render(limit) };
  if (limit === 1) seen.probes += 1;
  else if (!query.has('continue')) {
    seen.lists += 1;
    seen.firstListAt ??= now();
  }
  const body = must(pages.bodies[Number(query.get('continue') ?? 0) / limit], 'a page');
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length }).end(body);
}

function watch(response: ServerResponse): void {
  seen.watches += 1;
  seen.watchAt ??= now();
  response.writeHead(200, { 'content-type': 'application/json' });
  response.flushHeaders();
  watches.add(response);
  response.on('close', () => watches.delete(response));
}

/** As a server does that has no streaming lists: what is measured is the paged list. */
function refuseStreamingList(response: ServerResponse): void {
  const message = 'sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch unless WatchList is enabled';
  const status = { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'Invalid', code: 422, message };
  response.writeHead(422, { 'content-type': 'application/json' }).end(JSON.stringify(status));
}

/** Sends what is due every few milliseconds, and a bookmark each second, until the time is over. */
async function churn({ perSecond, seconds }: ChurnOrder): Promise<void> {
  const started = now();
  let [sent, marked] = [0, 0];
  while (now() - started < seconds * 1000) {
    const due = Math.floor(((now() - started) * perSecond) / 1000);
    const lines: string[] = [];
    for (; sent < due; sent += 1) {
      const index = (sent * 7919) % objects;
      newest = Math.max(newest + 1, Math.floor(now() * versionsPerMs));
      versions[index] = newest;
      const object = `{"kind":"Pod","apiVersion":"v1",${item(index).slice(1)}`;
      lines.push(`{"type":"MODIFIED","object":${object}}\n`);
    }
    if (Math.floor((now() - started) / 1000) > marked) {
      marked += 1;
      lines.push(
        `{"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"${newest}"}}}\n`,
      );
    }
    pages = null;
    if (lines.length > 0) for (const response of watches) response.write(lines.join(''));
    await new Promise((resolve) => setTimeout(resolve, tellEveryMs));
  }
  say({ type: 'churned', sent });
}

function state(): PodServerState {
  return { ...seen, versions: order.map(({ index, key }) => [key, String(versions[index])] as const) };
}

function forward(incoming: IncomingMessage, response: ServerResponse): void {
  const { method = 'GET', headers, url = '/' } = incoming;
  const onward = request(new URL(url, sim.url), { method, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  onward.on('error', () => response.destroy());
  response.on('close', () => onward.destroy());
  incoming.pipe(onward);
}

const server = createServer((incoming, response) => {
  const { pathname, searchParams } = new URL(incoming.url ?? '/', 'http://bench');
  if (pathname !== '/api/v1/pods') forward(incoming, response);
  else if (searchParams.has('sendInitialEvents')) refuseStreamingList(response);
  else if (['1', 'true'].includes(searchParams.get('watch') ?? '')) watch(response);
  else list(searchParams, response);
});
pages = { limit: 500, bodies: render(500) };
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const address = server.address();
const url = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
writeFileSync(kubeconfig, sim.kubeconfig().replaceAll(sim.url, url));

process.on('message', (message: ChurnOrder | 'state') => {
  if (message === 'state') say({ type: 'state', state: state() });
  else void churn(message);
});
process.on('disconnect', () => process.exit(0));
process.once('SIGTERM', () => process.exit(0));
say({ type: 'listening', url, bytes: pages.bodies.reduce((sum, body) => sum + body.length, 0) });
