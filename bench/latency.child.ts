/**
 * The gateway of bench/latency.ts: the real ingest thread, readers, engine and server.
 *
 *   argv: kubeconfig, store file, `pods` or `abstract` -> message: { url } -> 'begin' -> 'end' -> message: the wakes since
 *   -> the parent disconnects
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { startIngest } from '../src/ingest/thread/start-ingest.ts';
import type { Wakes } from './latency.ts';
import { watchTurns } from './support/loop-turns.ts';
import { serveStore } from './support/serve-store.ts';

const [kubeconfig = '', file = '', of = 'pods'] = process.argv.slice(2);
const ingest = await startIngest({
  file,
  clusters: [{ name: 'bench', kubeconfig }],
  include: ['pods'],
  logLevel: 'warn',
});
if (of === 'abstract') {
  const column = { version: 'metadata.resourceVersion' };
  const members = [{ resource: 'pods', columns: column }];
  const abstractKinds = [{ name: 'podInstances', columns: { version: 'String' }, members }];
  ingest.declareAbstractKinds({ file: 'the benchmark', text: JSON.stringify({ abstractKinds }) });
}
await Promise.race([ingest.synced, ingest.failed]);
const served = await serveStore(file, { prepared: true });
while (of === 'abstract' && served.engine.source.generation().kind('podinstances.abstract') === undefined) {
  await sleep(50);
  await served.engine.refreshCatalog();
}
let wakes: (readonly [revision: number, at: number])[] = [];
let turns = watchTurns();
ingest.onWake((committed) => {
  if (committed !== undefined) wakes.push([committed.revision, performance.timeOrigin + performance.now()]);
  served.engine.wake(committed);
});
process.on('message', (order) => {
  if (order === 'begin') {
    wakes = [];
    turns();
    turns = watchTurns();
    process.send?.('begun');
  } else {
    process.send?.({ wakes, longestMs: turns().elapsedMs } satisfies Wakes);
    turns = watchTurns();
  }
});
process.once('disconnect', async () => {
  turns();
  await served.close();
  await ingest.close();
});
process.send?.({ url: served.url });
