/**
 * The ingest thread. workerData is IngestOptions; what is said is in ingest-messages.ts. The thread ends by itself after `close`,
 * or when the store could not be opened.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '../base/clock.ts';
import { createLogger } from '../base/create-logger.ts';
import { codeOf, messageOf } from '../base/errors.ts';
import { must } from '../base/must.ts';
import type { Connection } from '../kube/connection.ts';
import { openWriter } from '../store/writer.ts';
import type { ClusterOptions } from './cluster-options.ts';
import { IngestHost } from './ingest-host.ts';
import type { IngestMessage, ParentMessage } from './ingest-messages.ts';
import type { IngestOptions } from './ingest-options.ts';

const port = must(parentPort, 'a parent thread');
const options = workerData as IngestOptions;
const post = (message: IngestMessage): void => port.postMessage(message);
// What reads kubeconfigs takes longer to load than all the rest: the store is open, and can be read, before it is there.
const open = async (cluster: ClusterOptions): Promise<Connection> =>
  (await import('../kube/connection.ts')).connect(cluster);

try {
  const log = createLogger(options.logLevel ?? 'warn').child({ thread: 'ingest' });
  const writer = openWriter(options.file, {
    log,
    clock: systemClock,
    maxDiskBytes: options.maxDiskBytes ?? null,
    searchPaths: options.searchPaths ?? [],
  });
  const host = new IngestHost({ options, writer, open, post, clock: systemClock, random: Math.random, log });
  port.on('message', (message: ParentMessage) => {
    if (message !== 'close') return;
    host
      .close()
      .catch((error: unknown) => log.error({ error: messageOf(error) }, 'ingest did not close in order'))
      .finally(() => port.close());
  });
  post({ type: 'opened' });
  host.start();
} catch (error) {
  post({ type: 'failed', code: codeOf(error), error: messageOf(error) });
  port.close();
}
