/** The writer thread of bench/list.ts: fills the store, or goes on with a filled one; then obeys its orders. */
import { parentPort, workerData } from 'node:worker_threads';
import { must } from '../src/base/must.ts';
import { readWatchLine } from '../src/ingest/bytes/watch-events.ts';
import { housekeepingMs } from '../src/ingest/thread/ingest-host.ts';
import { openWriter } from '../src/store/write/writer.ts';
import { phaseOf, treedPods } from './support/list-query.ts';
import { podText } from './support/pods.ts';

/** Commits changes for so long; makes the index of searches; closes. Each is answered when it is done. */
export type WriterOrder = { readonly changesMs: number } | { readonly index: true } | 'close';

const { file, objects } = workerData as { readonly file: string; readonly objects: number };
const port = must(parentPort, 'the port of a worker thread');
const perSecond = 1000;

const writer = openWriter(file);
writer.openCluster('bench', 'bench');
const pods = treedPods('bench');
const handle = writer.declare(pods);
const known = writer.states().find((state) => state.handle.id === handle.id);
let version = Number(known?.lastResourceVersion ?? 0);
if (known?.synced !== true || known.objects !== objects) {
  const replace = writer.replace(handle);
  for (let first = 0; first < objects; first += 100) {
    const count = Math.min(100, objects - first);
    replace.put(
      Array.from({ length: count }, (_, at) => ({ text: podText(first + at, phaseOf(first + at), first + at + 1) })),
    );
  }
  version = objects;
  await replace.commit(String(version));
}
port.postMessage('filled');

port.on('message', async (order: WriterOrder) => {
  if (order === 'close') {
    writer.close();
    port.close();
  } else if ('index' in order) {
    while (writer.maintain());
    port.postMessage('indexed');
  } else {
    port.postMessage(await change(order.changesMs));
  }
});

/**
 * Commits changes at a steady rate, read from lines as a watch has them; resolves with how many there were. Housekeeping has a step as
 * often as in a gateway whose writer is busy.
 */
async function change(ms: number): Promise<number> {
  const begun = performance.now();
  let done = 0;
  let keptHouse = begun;
  for (let elapsed = 0; elapsed < ms; elapsed = performance.now() - begun) {
    const due = Math.min(50, Math.floor((elapsed * perSecond) / 1000) - done);
    if (due > 0) {
      const events = Array.from({ length: due }, () => {
        version += 1;
        const index = (version * 7919) % objects;
        const line = Buffer.from(`{"type":"MODIFIED","object":${podText(index, phaseOf(index), version)}}`);
        const message = readWatchLine(line, pods.resource, 'the watch');
        if (message.type !== 'event') throw new Error('the line is no event');
        return message.event;
      });
      writer.apply(handle, events, String(version));
      done += due;
    } else if (performance.now() - keptHouse >= housekeepingMs) {
      keptHouse = performance.now();
      writer.maintain();
    }
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  return done;
}
