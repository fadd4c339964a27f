/**
 * Starts the ingest thread and forwards its messages to listeners.
 *
 *   startIngest -> the store is open -> wake, progress, catalog -> close: at most `closeMs`, then the thread is terminated
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { messageOf, PortolanError } from '../../base/errors.ts';
import type { RegisteredCluster } from '../../kube/discovery/cluster-secret.ts';
import type { CommittedChanges } from '../../store/types/change.ts';
import type { PathUse } from '../../store/types/kind-layout.ts';
import type { FileDamage } from '../../store/types/store-fault.ts';
import type { AbstractKindsDocument } from '../context/declared-abstract-kinds.ts';
import { type IngestProgress, sumProgress } from '../context/progress.ts';
import type { IngestMessage, ParentMessage } from './ingest-messages.ts';
import { IngestNews } from './ingest-news.ts';
import type { IngestOptions } from './ingest-options.ts';

export interface IngestHandle {
  /** Calls the listener after commits; one call may cover several commits. Returns a function that removes the listener. */
  onWake(listener: (committed: CommittedChanges) => void): () => void;
  onProgress(listener: (progress: IngestProgress) => void): () => void;
  /** Calls the listener after the declared resources have changed. */
  onCatalog(listener: () => void): () => void;
  progress(): IngestProgress;
  /** Resolves when the catalog can be read: every cluster is remembered by the store or known, or has been tried. */
  readonly catalogKnown: Promise<void>;
  /** Resolves when every started resource has synced or is reported as failing. */
  readonly synced: Promise<void>;
  /** Rejects if the thread fails or ends before `close`; otherwise stays pending. */
  readonly failed: Promise<never>;
  /** Resolves when the thread has ended, with or without an error. */
  readonly exited: Promise<void>;
  /** Closes the store and ends the thread, within 1.5 s. Idempotent. */
  close(): Promise<void>;
  /** Reports that a reader found the store's file damaged. The file is recreated, and everything is listed again. */
  reportDamage(damage: FileDamage): void;
  /** Reports that queries use this path. It gets a column, or its column stays in use. */
  promote(use: PathUse): void;
  /** Uses the abstract kinds of this document from now on. */
  declareAbstractKinds(document: AbstractKindsDocument): void;
  /**
   * Serves these clusters besides those of the start, and drops the others that were registered before. Null if they cannot be known yet.
   * Resolves when the data of the others is gone, or the thread.
   * @param started names of the clusters of the start
   */
  register(clusters: readonly RegisteredCluster[] | null, started: readonly string[]): Promise<void>;
}

/** Milliseconds after which a thread that has not ended is terminated. */
const closeMs = 1300;

/** Resolves when the store is open; rejects with the reason why it cannot be opened. */
export async function startIngest(options: IngestOptions): Promise<IngestHandle> {
  const worker = new Worker(new URL('./ingest.worker.ts', import.meta.url), { workerData: options, name: 'ingest' });
  const handle = new WorkerHandle(worker);
  await handle.opened;
  return handle;
}

class WorkerHandle extends IngestNews implements IngestHandle {
  readonly opened: Promise<void>;
  readonly failed: Promise<never>;
  readonly exited: Promise<void>;
  readonly #worker: Worker;
  /** Waiting calls of `register`, by their number. */
  readonly #registering = new Map<number, () => void>();
  #rounds = 0;
  #closing: Promise<void> | null = null;

  constructor(worker: Worker) {
    super({ ...sumProgress([]), catalogKnown: false });
    this.#worker = worker;
    const opened = Promise.withResolvers<void>();
    const failed = Promise.withResolvers<never>();
    const exited = Promise.withResolvers<void>();
    this.opened = opened.promise;
    this.failed = failed.promise;
    this.exited = exited.promise;
    const fail = (error: PortolanError): void => {
      opened.reject(error);
      if (this.#closing === null) failed.reject(error);
    };
    // Prevents an unhandled rejection: callers may ignore `failed`.
    failed.promise.catch(() => {});

    worker.on('message', (message: IngestMessage) => {
      switch (message.type) {
        case 'opened':
          return opened.resolve();
        case 'failed':
          return fail(new PortolanError(message.code, message.error));
        case 'registered':
          for (const [round, done] of this.#registering) if (round <= message.round) done();
          return;
        default:
          this.take(message);
      }
    });
    worker.on('error', (error) => fail(lost(messageOf(error))));
    worker.on('exit', (code) => {
      fail(lost(`it ended with code ${code}`));
      exited.resolve();
    });
  }

  reportDamage(damage: FileDamage): void {
    this.#worker.postMessage({ type: 'damaged', ...damage } satisfies ParentMessage);
  }

  async register(clusters: readonly RegisteredCluster[] | null, started: readonly string[]): Promise<void> {
    this.#rounds += 1;
    const round = this.#rounds;
    const done = new Promise<void>((resolve) => this.#registering.set(round, resolve));
    this.#worker.postMessage({ type: 'register', round, clusters, started } satisfies ParentMessage);
    await Promise.race([done, this.exited]);
    this.#registering.delete(round);
  }

  declareAbstractKinds(document: AbstractKindsDocument): void {
    this.#worker.postMessage({ type: 'abstract', document } satisfies ParentMessage);
  }

  promote(use: PathUse): void {
    this.#worker.postMessage({ type: 'promote', use } satisfies ParentMessage);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#worker.postMessage({ type: 'close' } satisfies ParentMessage);
    const late = new AbortController();
    const timer = sleep(closeMs, undefined, { signal: late.signal }).then(
      () => this.#worker.terminate(),
      () => {},
    );
    await this.exited;
    late.abort();
    await timer;
  }
}

function lost(why: string): PortolanError {
  return new PortolanError('INTERNAL_SERVER_ERROR', `The ingest thread was lost (${why}); restart Portolan.`);
}
