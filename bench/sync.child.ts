/**
 * The measured side of bench/sync.ts: a process as the gateway's, with the real ingest thread and an otherwise idle serve thread.
 *
 *   argv: kubeconfig, store file, true for a parse thread beside the ingest thread, true for relations -> message: SyncedProcess
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { startIngest } from '../src/ingest/thread/start-ingest.ts';
import { watchResident } from './support/resident.ts';
import { shippedRelations } from './support/shipped-relations.ts';
import { threadCpuSeconds } from './support/thread-cpu.ts';
import type { SyncedProcess } from './sync.ts';

const [kubeconfig = '', file = '', parseThread = 'false', relations = 'false'] = process.argv.slice(2);
const resolutionMs = 5;

const peak = watchResident(50);
const ingest = await startIngest({
  file,
  clusters: [{ name: 'bench', kubeconfig }],
  include: ['pods'],
  logLevel: 'warn',
  parseThread: parseThread === 'true',
  ...(relations === 'true' ? { relations: shippedRelations() } : {}),
});
await ingest.catalogKnown;
const cpu = threadCpuSeconds('ingest');
const delay = monitorEventLoopDelay({ resolution: resolutionMs });
delay.enable();
await Promise.race([ingest.synced, ingest.failed]);
delay.disable();
const { objects } = ingest.progress();
const cpuSeconds = threadCpuSeconds('ingest') - cpu;
process.send?.({
  objects,
  cpuSeconds,
  rssMb: peak(),
  // The histogram counts from one look to the next, so its own interval is no delay.
  loopP99Ms: Math.max(0, delay.percentile(99) / 1e6 - resolutionMs),
} satisfies SyncedProcess);
await ingest.close();
process.disconnect?.();
