/** The gateway of bench/join.ts: an engine and the real server over a store file. argv: store file -> message: { url } -> disconnect */
import { systemClock } from '../src/base/clock.ts';
import { silentLogger } from '../src/base/log.ts';
import { loadConfig } from '../src/config/load-config.ts';
import { defaultReaders } from '../src/config/options.ts';
import { createEngine } from '../src/graphql/engine.ts';
import { startServer } from '../src/server/http-server.ts';
import { openReader } from '../src/store/read/reader.ts';

const [file = ''] = process.argv.slice(2);
const {
  readers = defaultReaders,
  leaseMs,
  maxPageSize,
  maxCost,
  maxReadBytes,
  scanRows,
} = loadConfig({ flags: {}, environment: {} });
const log = silentLogger;
const reader = openReader(file, { readers, leaseMs, log });
const limits = { maxPageSize, maxCost, maxReadBytes, scanRows };
const engine = createEngine({ reader, log, clock: systemClock, ...limits, diagnosis: { explain: true } });
await engine.refreshCatalog();
const readiness = () => ({ ready: true });
const server = await startServer({
  host: '127.0.0.1',
  port: 0,
  source: engine.source,
  pages: reader,
  readiness,
  tabs: [],
  log,
});
process.send?.({ url: server.url });
process.once('disconnect', () => {
  void server.close().then(() => {
    engine.close();
    reader.close();
    process.exit(0);
  });
});
