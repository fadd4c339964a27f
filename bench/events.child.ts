/**
 * The measured side of bench/events.ts: the real ingest thread, and a serve thread that looks at each wake at what is new.
 *
 *   argv: kubeconfig, store file, true for relations -> message: synced -> 'begin' -> 'end' -> message: EventFigures -> the parent disconnects
 */
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { startIngest } from '../src/ingest/thread/start-ingest.ts';
import { Database } from '../src/store/sqlite/database.ts';
import type { EventFigures } from './events.ts';
import { versionsPerMs } from './support/pod-server.ts';
import { residentAnonymousMb } from './support/resident.ts';
import { shippedRelations } from './support/shipped-relations.ts';
import { threadCpuSeconds } from './support/thread-cpu.ts';

/** Milliseconds without a change after which no more are expected; milliseconds after which the wait ends anyway. */
const quietMs = 3000;
const drainMs = 180_000;

const [kubeconfig = '', file = '', relations = 'true'] = process.argv.slice(2);

const ingest = await startIngest({
  file,
  clusters: [{ name: 'bench', kubeconfig }],
  include: ['pods'],
  ...(relations === 'true' ? { relations: shippedRelations() } : {}),
  logLevel: 'warn',
});
await Promise.race([ingest.synced, ingest.failed]);
const database = new Database(file, { readonly: true });
let last = Number(database.statement('SELECT revision FROM state').get()?.[0]);
const ages: number[] = [];
let walMax = 0;

ingest.onWake(() => {
  const rows = database.statement('SELECT seq, rv FROM change WHERE seq > ? ORDER BY seq').all(last);
  const now = performance.timeOrigin + performance.now();
  for (const [seq, rv] of rows) {
    last = Number(seq);
    ages.push(now - Number(rv) / versionsPerMs);
  }
});
setInterval(() => {
  walMax = Math.max(walMax, statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0);
}, 20).unref();
process.once('disconnect', () => void ingest.close());
process.send?.('synced');

await once(process, 'message');
const [cpu, resident, started] = [threadCpuSeconds('ingest'), residentAnonymousMb(), performance.now()];
await once(process, 'message');
// A machine that is busy with other things falls behind, and loses nothing: it is over when nothing comes any more.
for (let seen = -1, waited = 0; seen !== last && waited < drainMs; waited += quietMs) {
  seen = last;
  await sleep(quietMs);
}
const seconds = (performance.now() - started) / 1000;
ages.sort((a, b) => a - b);
const at = (share: number): number => ages[Math.min(ages.length - 1, Math.floor(ages.length * share))] ?? 0;
const [logBytes, logged] = database
  .statement('SELECT sum(bytes), (SELECT count(*) FROM change) FROM kind_log')
  .get() as readonly number[];
process.send?.({
  changes: ages.length,
  logBytesPerChange: Number(logBytes) / Math.max(1, Number(logged)),
  logMb: Number(logBytes) / 1e6,
  p50Ms: at(0.5),
  p99Ms: at(0.99),
  maxMs: at(1),
  cpuShare: (threadCpuSeconds('ingest') - cpu) / seconds,
  walMaxMb: walMax / 1e6,
  rssMb: residentAnonymousMb(),
  rssGrowthMb: residentAnonymousMb() - resident,
  rows: database
    .statement(`SELECT namespace || '/' || name, rv FROM object ORDER BY 1`)
    .all()
    .map(([key, rv]) => [String(key), String(rv)] as const),
} satisfies EventFigures);
database.close();
