/**
 * The measured side of bench/feed.ts: the real ingest thread, a reader pool, and the change feed with at most one subscription.
 *
 *   argv: kubeconfig, store file, seconds, turns -> message: synced -> 'begin' -> message: FeedTurn[] -> the parent disconnects
 */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { localUser } from '../src/access/caller.ts';
import { rightsOf, seesEverything } from '../src/access/rights.ts';
import { silentLogger } from '../src/base/log.ts';
import { startIngest } from '../src/ingest/thread/start-ingest.ts';
import { connect } from '../src/kube/client/connection.ts';
import { RestClient } from '../src/kube/client/rest-client.ts';
import { ChangeFeed } from '../src/live/feed/change-feed.ts';
import { liveList } from '../src/live/list/live-list.ts';
import { everything } from '../src/query/plan/filter.ts';
import { openReader } from '../src/store/read/reader.ts';
import { type FeedFigures, type FeedTurn, type SubscriptionKind, subscriptionKinds } from './feed.ts';
import { threadCpuSeconds } from './support/thread-cpu.ts';

/** Milliseconds until a subscription has begun and what it began with is over. */
const settleMs = 500;
const keys = { quiet: 'configmaps', busy: 'pods' } as const;

const [kubeconfig = '', file = '', seconds = '', turns = ''] = process.argv.slice(2);

const ingest = await startIngest({
  file,
  clusters: [{ name: 'bench', kubeconfig }],
  include: Object.values(keys),
  logLevel: 'warn',
});
await Promise.race([ingest.synced, ingest.failed]);
const reader = openReader(file, { readers: 2 });
const feed = new ChangeFeed(reader, silentLogger);
ingest.onWake((committed) => feed.wake(committed));
const client = new RestClient(await connect({ kubeconfig, env: {} }));
let created = 0;

/** A subscription that takes every change of the kind, and counts them. */
function subscribe(key: string): { delivered: number; readonly first: Promise<void>; end(): Promise<void> } {
  const stop = new AbortController();
  const first = Promise.withResolvers<void>();
  const subscription = { delivered: 0, first: first.promise, end: async () => {} };
  const messages = liveList(feed, {
    kind: { key, tree: { root: 'root', shapes: {} } },
    filter: everything,
    rights: rightsOf(seesEverything, localUser),
    clusters: null,
    start: { at: 'now' },
    projection: 'whole',
    signal: stop.signal,
    chunk: 100,
    now: () => Date.now(),
    check: () => {},
  });
  const ended = (async () => {
    for await (const { phase, changes } of messages) {
      if (phase === 'GAP') throw new Error(`the subscription on ${key} lost changes`);
      subscription.delivered += changes.length;
      if (changes.length > 0) first.resolve();
    }
  })();
  subscription.end = async () => {
    stop.abort();
    await ended;
  };
  return subscription;
}

async function committedRevision(): Promise<number> {
  return reader.lease(async ({ revision }) => revision);
}

const cpuSeconds = (): number => threadCpuSeconds('MainThread') + threadCpuSeconds('reader');

async function measure(kind: SubscriptionKind): Promise<FeedFigures> {
  const subscription = kind === 'none' ? null : subscribe(keys[kind]);
  await sleep(settleMs);
  const revision = await committedRevision();
  const [cpu, began, reads, delivered] = [cpuSeconds(), performance.now(), feed.reads, subscription?.delivered ?? 0];
  await sleep(Number(seconds) * 1000);
  const elapsed = (performance.now() - began) / 1000;
  const figures: FeedFigures = {
    seconds: elapsed,
    cpuSeconds: cpuSeconds() - cpu,
    delivered: (subscription?.delivered ?? 0) - delivered,
    leases: feed.reads.leases - reads.leases,
    changes: feed.reads.changes - reads.changes,
    bodies: feed.reads.bodies - reads.bodies,
    committed: (await committedRevision()) - revision,
  };
  if (kind === 'quiet' && subscription !== null) {
    created += 1;
    await client.post('/api/v1/namespaces/default/configmaps', { metadata: { name: `change-${created}` } });
    await subscription.first;
  }
  await subscription?.end();
  return figures;
}

process.once('disconnect', async () => {
  feed.close();
  await Promise.all([ingest.close(), reader.close(), client.connection.close()]);
});
process.send?.('synced');
await once(process, 'message');
const found: FeedTurn[] = [];
for (let turn = 0; turn < Number(turns); turn += 1) {
  const figures: Partial<Record<SubscriptionKind, FeedFigures>> = {};
  for (const kind of subscriptionKinds) figures[kind] = await measure(kind);
  found.push(figures as FeedTurn);
}
process.send?.(found);
