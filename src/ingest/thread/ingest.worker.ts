/**
 * The ingest thread, which outlives its store. workerData is IngestOptions; ingest-messages.ts defines the messages. The thread ends after
 * `close`, or if the store cannot be opened at the start.
 *
 *   opened -> lost (src/store/file/fault-watch.ts) -> the parent is told -> ingest stops -> a file is made anew, again and again until it
 *          can be -> ingest starts on it, as after a start without a file
 */

import { statSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { Backoff, type BackoffBounds } from '../../base/backoff.ts';
import { systemClock } from '../../base/clock.ts';
import { createLogger } from '../../base/create-logger.ts';
import { codeOf, messageOf } from '../../base/errors.ts';
import { must } from '../../base/must.ts';
import type { ClusterOptions, Connection } from '../../kube/client/connection.ts';
import type { StoreTrouble } from '../../store/types/store-fault.ts';
import { openWriter, type StoreWriter } from '../../store/write/writer.ts';
import type { AbstractKindsDocument } from '../context/declared-abstract-kinds.ts';
import { type IngestProgress, lostProgress, sumProgress } from '../context/progress.ts';
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
/** Between two attempts to make a file anew. Listing everything again costs less than queries without answers. */
const rebuildBounds: BackoffBounds = { firstMs: 200, capMs: 5000, resetMs: 60_000 };
const rebuilds = new Backoff(systemClock, Math.random, rebuildBounds);
let running: { readonly host: IngestHost; readonly writer: StoreWriter } | null = null;
let closing = false;
/** The stores that were lost. */
let lost: { readonly count: number; readonly last: StoreTrouble } | undefined;
/** The newest file with abstract kinds; undefined before a change. */
let abstractKinds: AbstractKindsDocument | undefined;
/** The newest `register`; undefined before the first. */
let registration: Extract<ParentMessage, { type: 'register' }> | undefined;

/** Opens the store. @param reason why whatever is at its path must be made anew; null at the start. */
function opened(reason: string | null): IngestHost {
  const writer = openWriter(options.file, {
    log,
    clock: systemClock,
    ...options.store,
    maxDiskBytes: options.maxDiskBytes ?? null,
    searchPaths: options.searchPaths ?? [],
    promote: options.promote ?? [],
    lost: reason,
    ...(options.seal === undefined ? {} : { seal: options.seal }),
  });
  const context = {
    options: abstractKinds === undefined ? options : { ...options, abstractKinds },
    writer,
    open,
    post,
    clock: systemClock,
    random: Math.random,
    log,
  };
  const host = new IngestHost({ ...context, ...(lost === undefined ? {} : { lost }) });
  writer.onDamage((why) => void rebuild(writer, why));
  running = { host, writer };
  return host;
}

/** The store is lost: ingest stops, and starts again on a file that is made anew. */
async function rebuild(writer: StoreWriter, reason: string): Promise<void> {
  if (running?.writer !== writer) return;
  const { host } = running;
  running = null;
  const fault = must(writer.trouble(), 'the fault of a lost store');
  lost = { count: (lost?.count ?? 0) + 1, last: fault };
  const last = host.lastProgress ?? sumProgress([]);
  postLost(last, fault);
  await host
    .close()
    .catch((error: unknown) => log.warn({ error: messageOf(error) }, 'a lost store was not closed in order'));
  let said = '';
  for (;;) {
    await systemClock.sleep(rebuilds.next());
    if (closing) return;
    try {
      const anew = opened(reason);
      anew.start();
      await register();
      return;
    } catch (error) {
      const why = messageOf(error);
      if (why !== said) log.error({ error: why }, 'the store cannot be made anew yet; it is tried again');
      said = why;
      postLost(last, { ...fault, error: `${fault.error} It cannot be made anew yet: ${why}` });
      await abandoned();
    }
  }
}

/** Closes what an attempt to start again has left. */
async function abandoned(): Promise<void> {
  const left = running;
  running = null;
  await left?.host.close().catch(() => {});
}

/** Tells the parent that nothing can be answered now. */
function postLost(last: IngestProgress, fault: StoreTrouble): void {
  post({ type: 'progress', progress: { ...lostProgress(last, fault), rebuilds: lost?.count ?? 0 } });
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
  else if (message.type === 'abstract') {
    abstractKinds = message.document;
    running?.host.declareAbstractKinds(message.document);
  } else if (message.type === 'register') {
    registration = message;
    void register();
  }
  // Ignored if the file was recreated since.
  else if (message.inode === statSync(options.file, { throwIfNoEntry: false })?.ino) {
    running?.writer.reportDamage(message.reason);
  }
});

try {
  const host = opened(null);
  post({ type: 'opened' });
  host.start();
} catch (error) {
  fail(error);
}
