/**
 * The measured side of bench/engine.ts: a writer thread (engine.writer.ts), a pool of readers, and this thread as the serve role.
 */
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { openReader, type PooledReader } from '../src/store/read/reader.ts';
import type { Lease } from '../src/store/types/lease.ts';
import type { Statement } from '../src/store/types/statement.ts';
import type { EngineFigures } from './engine.ts';
import type { WriterFigures } from './engine.writer.ts';

const file = process.argv[2] ?? '';
const churnMs = 10_000;
const busyReaders = 3;

/** Runs for ever unless its tick stops it. */
const runaway: Statement = {
  sql: `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE (i & 255) <> 0 OR tick() = 0)
        SELECT count(*) FROM n, body b WHERE ((b.id & 255) <> 0 OR tick() = 0) AND b.body ->> '$.spec.nodeName' = 'nowhere'`,
  params: [],
};
const page: Statement = {
  sql: `SELECT o.id, json(b.body) FROM p1 p JOIN object o ON o.id = p.id JOIN body b ON b.id = p.id
        WHERE p.c0 = 'Running' ORDER BY p.c0, p.cluster, p.namespace, p.name LIMIT 50`,
  params: [],
};
const scan: Statement = {
  sql: `SELECT count(*) FROM body b WHERE ((b.id & 255) <> 0 OR tick() = 0) AND b.body ->> '$.spec.nodeName' = 'node-7'`,
  params: [],
};

const writer = new Worker(new URL('./engine.writer.ts', import.meta.url), { workerData: { file, churnMs } });
await once(writer, 'message');
const reader = openReader(file, { readers: busyReaders + 1, leaseMs: 1000 });

let walMax = 0;
const watch = setInterval(() => {
  walMax = Math.max(walMax, statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0);
}, 5);
const counts = { leases: 0, cut: 0 };
let churning = true;
const loops = Array.from({ length: busyReaders }, () => keepBusy(reader));
const cancels = cancelRunaways(file);
const control = new Worker(new URL('./engine.control.ts', import.meta.url), { workerData: { forMs: churnMs } });
const controlled = once(control, 'message');
const finished = once(writer, 'message');
writer.postMessage('churn');
const [written] = (await finished) as [WriterFigures];
churning = false;
await Promise.all(loops);
const cancelled = (await cancels).sort((a, b) => a - b);
const [idleWaitP99] = (await controlled) as [number];
clearInterval(watch);

// From here on SIGTERM is what is measured: a scan runs, the writer goes on, and everything must end in order.
process.once('SIGTERM', async () => {
  writer.postMessage('close');
  await Promise.all([reader.close(), once(writer, 'exit')]);
  process.exit(0);
});
writer.postMessage('churn');
void reader.lease((lease) => lease.all(runaway), { timeoutMs: 60_000 }).catch(() => {});
await new Promise((resolve) => setTimeout(resolve, 200));
process.send?.({
  ...written,
  walMaxMb: walMax / 1e6,
  leases: counts.leases,
  leasesCut: counts.cut,
  cancelMedian: cancelled[Math.floor(cancelled.length / 2)] ?? 0,
  cancelMax: cancelled.at(-1) ?? 0,
  idleWaitP99,
} satisfies EngineFigures);

async function keepBusy(pool: PooledReader): Promise<void> {
  while (churning) {
    try {
      await pool.lease(async (lease: Lease) => {
        await lease.all(page);
        await lease.all(scan);
      });
      counts.leases += 1;
    } catch {
      counts.cut += 1;
    }
  }
}

/** How long a cancelled scan keeps its thread, on a pool of one. */
async function cancelRunaways(store: string): Promise<number[]> {
  const single = openReader(store, { readers: 1 });
  const times: number[] = [];
  // The thread has to start once; that is not what is measured.
  (await single.open()).end();
  while (churning) {
    const controller = new AbortController();
    const running = single.lease((lease) => lease.all(runaway), { signal: controller.signal, timeoutMs: 60_000 });
    await new Promise((resolve) => setTimeout(resolve, 60));
    const aborted = performance.now();
    controller.abort(new Error('enough'));
    await running.catch(() => {});
    while (single.stats().active > 0) await new Promise((resolve) => setImmediate(resolve));
    times.push(performance.now() - aborted);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  await single.close();
  return times;
}
