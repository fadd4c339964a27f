/**
 * The threads of a pool, and the free ones among them. A thread that dies is replaced, so that their number stays the same.
 *
 *   started -> free -> taken -> released: free again
 *                    -> dead: `onDeath` -> another one is started, at once or after a second -> `onFree`
 */
import type { Clock } from '../../base/clock.ts';
import type { PortolanError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { ReaderThread, type ReaderThreadOptions } from './reader-thread.ts';

interface ReaderThreadsOptions {
  readonly count: number;
  readonly thread: ReaderThreadOptions;
  readonly clock: Clock;
  readonly log: Logger;
  /** Called when a thread has died; its leases are lost. */
  readonly onDeath: (thread: ReaderThread, error: PortolanError) => void;
  /** Called when a thread was started in place of a dead one. */
  readonly onFree: () => void;
}

/** Milliseconds. A thread that dies within this time is replaced after the same time, because the next one would probably die too. */
const replaceMs = 1000;
const closeGraceMs = 1000;

export class ReaderThreads {
  readonly #options: ReaderThreadsOptions;
  readonly #all = new Set<ReaderThread>();
  readonly #free: ReaderThread[] = [];
  #restarts = 0;
  #closed = false;

  constructor(options: ReaderThreadsOptions) {
    this.#options = options;
    for (let index = 0; index < options.count; index += 1) this.#start();
  }

  get size(): number {
    return this.#all.size;
  }

  get free(): number {
    return this.#free.length;
  }

  /** Threads that died and were replaced. */
  get restarts(): number {
    return this.#restarts;
  }

  take(): ReaderThread | null {
    return this.#free.pop() ?? null;
  }

  /** Makes a thread free again, unless it is dead. */
  release(thread: ReaderThread): void {
    if (this.#all.has(thread) && !this.#closed) this.#free.push(thread);
  }

  /** Threads that end later are not replaced. */
  stopReplacing(): void {
    this.#closed = true;
  }

  /** Resolves when no thread is left. */
  async close(): Promise<void> {
    this.stopReplacing();
    await Promise.all([...this.#all].map((thread) => thread.close(closeGraceMs)));
  }

  #start(): void {
    const { clock, thread: options } = this.#options;
    const thread = new ReaderThread(options);
    this.#all.add(thread);
    this.#free.push(thread);
    const startedAt = clock.monotonic();
    void thread.ended.then((error) => this.#onEnded(thread, startedAt, error));
  }

  #onEnded(thread: ReaderThread, startedAt: number, error: PortolanError): void {
    const { clock, log, onDeath, onFree } = this.#options;
    this.#all.delete(thread);
    const at = this.#free.indexOf(thread);
    if (at >= 0) this.#free.splice(at, 1);
    onDeath(thread, error);
    if (this.#closed) return;
    this.#restarts += 1;
    log.error({ error: error.message }, 'a reader thread died and is replaced');
    const delay = clock.monotonic() - startedAt < replaceMs ? replaceMs : 0;
    setTimeout(() => {
      if (this.#closed) return;
      this.#start();
      onFree();
    }, delay).unref();
  }
}
