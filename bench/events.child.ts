/**
 * The measured side of bench/events.ts: the real ingest thread, and a serve thread that looks at each wake at what is new.
 *
 *   argv: kubeconfig, store file -> message: synced -> 'begin' -> 'end' -> message: EventFigures -> the parent disconnects
 */
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { startIngest } from '../src/ingest/start-ingest.ts';
import { Database } from '../src/store/database.ts';
import type { EventFigures } from './events.ts';
import { versionsPerMs } from './support/pod-server.ts';
import { residentAnonymousMb } from './support/resident.ts';
import { threadCpuSeconds } from './support/thread-cpu.ts';

const [kubeconfig = '', file = ''] = process.argv.slice(2);

const ingest = await startIngest({
  file,
  clusters: [{ name: 'bench', kubeconfig }],
  include: ['pods'],
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
const seconds = (performance.now() - started) / 1000;
ages.sort((a, b) => a - b);
const at = (share: number): number => ages[Math.min(ages.length - 1, Math.floor(ages.length * share))] ?? 0;
process.send?.({
  changes: ages.length,
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
