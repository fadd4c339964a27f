/**
 * The gateway of bench/list.ts: a store of Pods, filled and changed by a thread beside it, behind the real server.
 *
 *   argv: store file, objects -> message: { url } -> order for the writer -> message: { changes, walMb, seconds } -> disconnect
 */
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import type { WriterOrder } from './list.writer.ts';
import { serveStore } from './support/serve-store.ts';

const [file = '', objects = '0', prepared = 'true'] = process.argv.slice(2);
const writer = new Worker(new URL('./list.writer.ts', import.meta.url), {
  workerData: { file, objects: Number(objects) },
});
await once(writer, 'message');
const served = await serveStore(file, { prepared: prepared === 'true' });
process.on('message', async (order: Exclude<WriterOrder, 'close'>) => {
  let walMb = 0;
  const look = (): void => {
    walMb = Math.max(walMb, (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) / 1e6);
  };
  const watch = setInterval(look, 20);
  const began = performance.now();
  writer.postMessage(order);
  const [done] = await once(writer, 'message');
  clearInterval(watch);
  look();
  process.send?.({ changes: done, walMb, seconds: (performance.now() - began) / 1000 });
});
process.once('disconnect', async () => {
  await served.close();
  writer.postMessage('close');
});
process.send?.({ url: served.url });
