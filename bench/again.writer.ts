/**
 * The writer thread of bench/again.ts: between the orders to start and to stop, it changes an object at a steady rate. No question is
 * about the object's kind.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { must } from '../src/base/must.ts';
import { describeResource } from '../src/catalog/describe/describe.ts';
import { resourceOfCrd } from '../src/catalog/describe/from-crd.ts';
import { openWriter } from '../src/store/write/writer.ts';

const { file, perSecond } = workerData as { readonly file: string; readonly perSecond: number };
const port = must(parentPort, 'the port of a worker thread');
const crd = {
  spec: {
    group: 'example.com',
    names: { kind: 'Quiet', plural: 'quiets', singular: 'quiet' },
    scope: 'Cluster',
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
};
const writer = openWriter(file);
writer.openCluster('bench', 'bench');
const resource = must(resourceOfCrd(crd), 'the resource of the CRD');
const handle = writer.declare(describeResource({ cluster: 'bench', resource, crd }));
let version = Number(writer.states().find((state) => state.handle.id === handle.id)?.lastResourceVersion ?? 0) + 1;
const textOf = (): string =>
  JSON.stringify({ metadata: { name: 'one', uid: 'one', resourceVersion: String(version) } });
const replace = writer.replace(handle);
replace.put([{ text: textOf() }]);
await replace.commit(String(version));

let timer: NodeJS.Timeout | null = null;
port.on('message', (order: 'change' | 'rest' | 'close') => {
  if (timer !== null) clearInterval(timer);
  timer = null;
  if (order === 'change') {
    timer = setInterval(() => {
      version += 1;
      writer.apply(handle, [{ type: 'MODIFIED', object: { text: textOf() } }], String(version));
    }, 1000 / perSecond);
  } else if (order === 'close') {
    writer.close();
    port.close();
  }
});
port.postMessage('ready');
