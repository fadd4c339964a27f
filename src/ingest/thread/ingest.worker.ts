/**
 * The ingest thread, which outlives a damaged store file. workerData is IngestOptions; ingest-messages.ts defines the
 * messages. The thread ends after `close`, or if the store cannot be opened.
 */
import { statSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { Backoff } from '../../base/backoff.ts';
import { systemClock } from '../../base/clock.ts';
import { createLogger } from '../../base/create-logger.ts';
import { codeOf, messageOf } from '../../base/errors.ts';
import { must } from '../../base/must.ts';
import type { ClusterOptions, Connection } from '../../kube/client/connection.ts';
import { openWriter, type StoreWriter } from '../../store/write/writer.ts';
import { IngestHost } from './ingest-host.ts';
import type { IngestMessage, ParentMessage } from './ingest-messages.ts';
import type { IngestOptions } from './ingest-options.ts';

const port = must(parentPort, 'a parent thread');
const options = workerData as IngestOptions;
const post = (message: IngestMessage): void => port.postMessage(message);
// connection.ts is imported at the first connection. It loads slower than all other modules, and the store can be read without it.
const open = async (cluster: ClusterOptions): Promise<Connection> =>
  (await import('../../kube/client/connection.ts')).connect(cluster);

const log = createLogger(options.logLevel ?? 'warn').child({ thread: 'ingest' });
const rebuilds = new Backoff(systemClock, Math.random);
let running: { readonly host: IngestHost; readonly writer: StoreWriter } | null = null;
let closing = false;
/** The newest `register`; undefined before the first. */
let registration: Extract<ParentMessage, { type: 'register' }> | undefined;

/** Opens the store and starts ingest on it. */
function opened(): IngestHost {
  const writer = openWriter(options.file, {
    log,
    clock: systemClock,
    ...options.store,
    maxDiskBytes: options.maxDiskBytes ?? null,
    searchPaths: options.searchPaths ?? [],
    promote: options.promote ?? [],
  });
  const host = new IngestHost({ options, writer, open, post, clock: systemClock, random: Math.random, log });
  writer.onDamage(() => void rebuild());
  running = { host, writer };
  return host;
}

/** The file is damaged: ingest stops, the next opening recreates the file, and ingest starts again. */
async function rebuild(): Promise<void> {
  const damaged = running;
  running = null;
  try {
    await damaged?.host.close();
    await systemClock.sleep(rebuilds.next());
    if (closing) return;
    const host = opened();
    host.start();
    await register();
  } catch (error) {
    fail(error);
  }
}

/** Tells the parent only of what was done on a store that is not damaged. */
async function register(): Promise<void> {
  const host = running?.host;
  if (registration === undefined || host === undefined) return;
  const { round, clusters, started } = registration;
  await host.register(clusters, started);
  if (host === running?.host) post({ type: 'registered', round });
}

function fail(error: unknown): void {
  post({ type: 'failed', code: codeOf(error), error: messageOf(error) });
  port.close();
}

async function close(): Promise<void> {
  closing = true;
  try {
    await running?.host.close();
  } catch (error) {
    log.error({ error: messageOf(error) }, 'ingest did not close in order');
  } finally {
    port.close();
  }
}

port.on('message', (message: ParentMessage) => {
  if (message.type === 'close') void close();
  else if (message.type === 'promote') running?.host.promote(message.use);
  else if (message.type === 'register') {
    registration = message;
    void register();
  }
  // Ignored if the file was recreated since.
  else if (message.inode === statSync(options.file, { throwIfNoEntry: false })?.ino) {
    running?.writer.reportDamage(message.reason);
  }
});

try {
  const host = opened();
  post({ type: 'opened' });
  host.start();
} catch (error) {
  fail(error);
}
