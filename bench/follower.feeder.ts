/**
 * The feeder of bench/follower.ts: the real ingest thread, and a publisher that reads its log and sends batches to the follower.
 *
 *   argv: kubeconfig, store file -> message: synced -> 'begin' -> message: begun -> 'end' -> message: PairFigures -> the parent disconnects
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../src/base/clock.ts';
import { silentLogger } from '../src/base/log.ts';
import { must } from '../src/base/must.ts';
import { startIngest } from '../src/ingest/thread/start-ingest.ts';
import { encodeBatch } from '../src/log/batch/batch-codec.ts';
import { LogReader } from '../src/log/read/log-reader.ts';
import { openReader } from '../src/store/read/reader.ts';
import { Database } from '../src/store/sqlite/database.ts';
import { type Applied, type FollowerFigures, type PairFigures, type PairOrder, rowsSql } from './follower.messages.ts';
import { shippedRelations } from './support/shipped-relations.ts';
import { threadCpuSeconds, threadWrittenBytes } from './support/thread-cpu.ts';
import { percentile } from './support/times.ts';

/** Milliseconds between two looks at the log. */
const pollMs = 25;

const [kubeconfig = '', file = ''] = process.argv.slice(2);
const copy = `${file}-follower`;

const ingest = await startIngest({
  file,
  clusters: [{ name: 'bench', kubeconfig }],
  include: ['pods'],
  relations: shippedRelations(),
  logLevel: 'warn',
});
await Promise.race([ingest.synced, ingest.failed]);
const database = new Database(file, { readonly: true });
const revisionOf = (): number => Number(database.statement('SELECT revision FROM state').get()?.[0]);
let [published, settled] = [-1, 0];
// Housekeeping may still write the references of the listed objects.
while (settled < 5) {
  await new Promise((resolve) => setTimeout(resolve, 200));
  settled = revisionOf() === published ? settled + 1 : 0;
  published = revisionOf();
}
database.statement('VACUUM INTO ?').run(copy);
published = Number(new Database(copy, { readonly: true }).statement('SELECT revision FROM state').get()?.[0]);

const follower = fork(fileURLToPath(new URL('follower.child.ts', import.meta.url)), [copy], {
  serialization: 'advanced',
});
process.once('disconnect', () => {
  follower.kill('SIGKILL');
  void ingest.close();
});
await once(follower, 'message');

const reader = openReader(file, { readers: 1, leaseMs: 60_000, log: silentLogger });
let [batchBytes, changesSent] = [0, 0];
const lags: number[] = [];
const position = {
  revision: published,
  collections: [{ cluster: 'bench', key: 'pods', collection: '' }],
  clusters: ['bench'],
  filling: [],
};
// Nothing is listed again, so no page needs a number.
const reserve = async (): Promise<number> => Number.NaN;
const log = new LogReader({ reader, clock: systemClock, reserve }, position);

async function publish(): Promise<boolean> {
  const messages = await log.next();
  if (messages.length === 0) return false;
  const batch = await encodeBatch(messages);
  const applied = once(follower, 'message') as Promise<[Applied]>;
  follower.send({ batch });
  const [{ at }] = await applied;
  const changes = messages.flatMap((message) => ('body' in message ? message.at : []));
  for (const committed of changes) lags.push(at - committed);
  batchBytes += batch.length;
  changesSent += changes.length;
  return changes.length > 0;
}

async function ask(order: PairOrder): Promise<FollowerFigures> {
  const answered = once(follower, 'message') as Promise<[FollowerFigures]>;
  follower.send(order);
  return (await answered)[0];
}

let stopped = false;
const loop = async (): Promise<void> => {
  while (!stopped) {
    const began = performance.now();
    await publish();
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, pollMs - (performance.now() - began))));
  }
};

/** The processor time of this process and of its threads, and what the ingest thread has written. */
function spent() {
  const { user, system } = process.cpuUsage();
  const main = process.threadCpuUsage();
  return {
    cpu: (user + system) / 1e6,
    ingestCpu: threadCpuSeconds('ingest'),
    publisherCpu: (main.user + main.system) / 1e6,
    walBytes: threadWrittenBytes('ingest'),
  };
}

process.send?.('synced');
let before = spent();
let running: Promise<void> = Promise.resolve();
process.on('message', (order: PairOrder) => void (order === 'begin' ? begin() : end()));

async function begin(): Promise<void> {
  [batchBytes, changesSent, stopped] = [0, 0, false];
  lags.length = 0;
  await ask('begin');
  before = spent();
  running = loop();
  process.send?.('begun');
}

async function end(): Promise<void> {
  stopped = true;
  await running;
  while (await publish());
  const after = spent();
  const { rows, ...found } = await ask('end');
  const own = rowsOf(database);
  const theirs = new Map(rows);
  const lost = own.filter(([key, version]) => theirs.get(key) !== version).length + Math.abs(own.length - theirs.size);
  process.send?.({
    changes: changesSent,
    feeder: {
      cpu: after.cpu - before.cpu,
      ingestCpu: after.ingestCpu - before.ingestCpu,
      publisherCpu: after.publisherCpu - before.publisherCpu,
      walBytes: after.walBytes - before.walBytes,
    },
    follower: found,
    batchBytes,
    lagP50Ms: percentile(lags, 0.5),
    lagP99Ms: percentile(lags, 0.99),
    lost,
  } satisfies PairFigures);
}

function rowsOf(store: Database): readonly (readonly [string, string])[] {
  return store
    .statement(rowsSql)
    .all()
    .map(([key, version]) => [String(key), String(must(version, 'a version'))]);
}
