/**
 * The gateway of bench/list.ts: a store of Pods, filled and changed by a thread beside it, behind the real server.
 *
 *   argv: store file, objects -> message: { url } -> number of ms: changes for so long -> message: { changes, walMb } -> disconnect
 */
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { systemClock } from '../src/base/clock.ts';
import { silentLogger } from '../src/base/log.ts';
import { loadConfig } from '../src/config/load-config.ts';
import { createEngine } from '../src/graphql/engine.ts';
import { startServer } from '../src/server/http-server.ts';
import { openReader } from '../src/store/reader.ts';

const [file = '', objects = '0', prepared = 'true'] = process.argv.slice(2);
const config = loadConfig({ flags: {}, environment: {} });
const log = silentLogger;
const writer = new Worker(new URL('./list.writer.ts', import.meta.url), {
  workerData: { file, objects: Number(objects) },
});
await once(writer, 'message');
const reader = openReader(file, { readers: config.readers, leaseMs: config.leaseMs, log });
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
process.on('message', async (ms: number) => {
  let walMb = 0;
  const watch = setInterval(() => {
    walMb = Math.max(walMb, (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) / 1e6);
  }, 20);
  writer.postMessage(ms);
  const [changes] = await once(writer, 'message');
  clearInterval(watch);
  process.send?.({ changes, walMb });
});
process.once('disconnect', async () => {
  await server.close();
  engine.close();
  await reader.close();
  writer.postMessage('close');
});
process.send?.({ url: server.url });
