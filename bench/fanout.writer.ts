/** The writer thread of bench/fanout.ts: fills the store, then changes Pods at a rate. Each Pod changes at most once in an order. */
import { parentPort, workerData } from 'node:worker_threads';
import { must } from '../src/base/must.ts';
import { openWriter } from '../src/store/write/writer.ts';
import type { WriterOrder } from './fanout.world.ts';
import { phaseOf, treedPods } from './support/list-query.ts';
import { podText } from './support/pods.ts';

const { file, objects } = workerData as { readonly file: string; readonly objects: number };
const port = must(parentPort, 'the port of a worker thread');
/** podName of support/pods.ts has as many. */
const namespaces = 50;

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
let version = objects;
await replace.commit(String(version));
writer.onCommit((committed) => port.postMessage({ committed }));
port.postMessage('filled');

port.on('message', async (order: WriterOrder) => {
  if (order === 'close') {
    writer.close();
    port.close();
    return;
  }
  if (order === 'declare') {
    const more = treedPods('bench');
    writer.declare({ ...more, resource: { ...more.resource, group: 'example.com', kind: 'More', plural: 'mores' } });
    port.postMessage({ written: 0 });
    return;
  }
  port.postMessage({ written: await change(order) });
});

/** Resolves with the number of changes. */
async function change({ changes, perSecond, of }: Exclude<WriterOrder, string>): Promise<number> {
  const begun = performance.now();
  for (let done = 0; done < changes; ) {
    const due = Math.min(changes, Math.floor(((performance.now() - begun) * perSecond) / 1000));
    const events = Array.from({ length: Math.min(50, due - done) }, (_, at) => {
      version += 1;
      const turn = done + at;
      const index = (Math.floor(turn / of) * namespaces + (turn % of)) % objects;
      return { type: 'MODIFIED' as const, object: { text: podText(index, phaseOf(version), version) } };
    });
    if (events.length > 0) writer.apply(handle, events, String(version));
    done += events.length;
    if (done === due) await new Promise((resolve) => setTimeout(resolve, 2));
  }
  return changes;
}
