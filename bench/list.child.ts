/**
 * The gateway of bench/list.ts: a store of Pods, filled and changed by a thread beside it, behind the real server.
 *
 *   argv: store file, objects -> message: { url } -> order for the writer -> message: { changes, walMb, seconds } -> disconnect
 */
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { systemClock } from '../src/base/clock.ts';
import { silentLogger } from '../src/base/log.ts';
import { loadConfig } from '../src/config/load-config.ts';
import { defaultReaders } from '../src/config/options.ts';
import { createEngine } from '../src/graphql/engine.ts';
import { startServer } from '../src/server/http-server.ts';
import { openReader } from '../src/store/read/reader.ts';
import type { WriterOrder } from './list.writer.ts';

const [file = '', objects = '0', prepared = 'true'] = process.argv.slice(2);
const config = loadConfig({ flags: {}, environment: {} });
const log = silentLogger;
const writer = new Worker(new URL('./list.writer.ts', import.meta.url), {
  workerData: { file, objects: Number(objects) },
});
await once(writer, 'message');
const reader = openReader(file, { readers: config.readers ?? defaultReaders, leaseMs: config.leaseMs, log });
const { maxPageSize, maxCost, maxReadBytes, scanRows } = config;
const engine = createEngine({
  reader,
  log,
  clock: systemClock,
  maxPageSize,
  maxCost,
  maxReadBytes,
  scanRows,
  searchPaths: [],
});
await engine.refreshCatalog();
const server = await startServer({
  host: '127.0.0.1',
  port: 0,
  source: engine.source,
  readiness: () => ({ ready: true }),
  tabs: [],
  log,
  ...(prepared === 'true' ? { pages: reader } : {}),
});
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
  await server.close();
  engine.close();
  await reader.close();
  writer.postMessage('close');
});
process.send?.({ url: server.url });
