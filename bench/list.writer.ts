/** The writer thread of bench/list.ts: fills the store, then commits changes at a steady rate when it is told to. */
import { parentPort, workerData } from 'node:worker_threads';
import { must } from '../src/base/must.ts';
import { openWriter } from '../src/store/writer.ts';
import { phaseOf, treedPods } from './support/list-query.ts';
import { podText } from './support/pods.ts';

const { file, objects } = workerData as { readonly file: string; readonly objects: number };
const port = must(parentPort, 'the port of a worker thread');
const perSecond = 1000;

const writer = openWriter(file);
writer.openCluster('bench', 'bench');
const handle = writer.declare(treedPods('bench'));
const replace = writer.replace(handle);
for (let first = 0; first < objects; first += 100) {
  const count = Math.min(100, objects - first);
  replace.put(
    Array.from({ length: count }, (_, at) => ({ text: podText(first + at, phaseOf(first + at), first + at + 1) })),
  );
}
await replace.commit(String(objects));
let version = objects;
port.postMessage('filled');

port.on('message', async (message: number | 'close') => {
  if (message === 'close') {
    writer.close();
    port.close();
    return;
  }
  const begun = performance.now();
  let done = 0;
  for (let elapsed = 0; elapsed < message; elapsed = performance.now() - begun) {
    const due = Math.min(50, Math.floor((elapsed * perSecond) / 1000) - done);
    if (due > 0) {
      const events = Array.from({ length: due }, () => {
        version += 1;
        const index = (version * 7919) % objects;
        return { type: 'MODIFIED' as const, object: { text: podText(index, phaseOf(index), version) } };
      });
      writer.apply(handle, events, String(version));
      done += due;
    } else {
      writer.maintain();
    }
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  port.postMessage(done);
});
