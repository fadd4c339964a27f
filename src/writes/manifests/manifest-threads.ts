/**
 * Reads long texts of manifests in threads of their own, so that one caller's text does not hold the serve thread.
 *
 *   read -> (this caller reads another one: waits) -> (two others are read: waits) -> a thread starts with the texts -> its answer
 *                                                                                  `- time, signal: it is terminated
 *
 * A thread reads the texts of one call and ends, so no text waits for the memory or the time of another one.
 *
 * Owns: how many read at a time, who waits, and the end of each thread.
 * Never: more than `atOnce` threads, or a second thread for a caller. A thread has ended before its place is given on.
 */
import { Worker } from 'node:worker_threads';
import type { Clock } from '../../base/clock.ts';
import { Semaphore } from '../../base/concurrency/semaphore.ts';
import { PortolanError } from '../../base/errors.ts';
import type { LongManifests } from '../../operation/write-access.ts';
import type { ManifestReply, ManifestTask } from './manifest-messages.ts';

/** Threads in the whole gateway. */
const atOnce = 2;
/** Calls that are read or wait. */
const mostCalls = { ofCaller: 8, inAll: 64 };

/**
 * Megabytes of JavaScript heap of a thread: three times as many as any text within the bounds of manifest-bounds.ts needs. A bound that a
 * text can reach would be no protection: V8 then ends the thread, or the whole process.
 */
const heapMb = 768;

/** Milliseconds from the start of a thread until its answer. The thread gives way to others, so it may take long. */
const timeMs = 30_000;

const ownScript = new URL('./manifest.worker.ts', import.meta.url);

/** The calls of one caller. */
interface Calls {
  readonly turn: Semaphore;
  count: number;
}

export class ManifestThreads implements LongManifests {
  readonly #clock: Clock;
  readonly #script: URL;
  readonly #places = new Semaphore(atOnce);
  readonly #callers = new Map<string, Calls>();
  readonly #calls = new Set<Promise<unknown>>();
  #running = 0;
  readonly #closing = new AbortController();

  constructor(clock: Clock, { script = ownScript }: { readonly script?: URL } = {}) {
    this.#clock = clock;
    this.#script = script;
  }

  /** Threads that run now. */
  get running(): number {
    return this.#running;
  }

  /** See LongManifests. The texts have the bounds of one call together. */
  async read(texts: ManifestTask, caller: string, signal?: AbortSignal): Promise<readonly (readonly string[])[]> {
    const calls = this.#callers.get(caller) ?? { turn: new Semaphore(1), count: 0 };
    if (calls.count >= mostCalls.ofCaller || this.#calls.size >= mostCalls.inAll) throw tooMany(calls.count);
    this.#callers.set(caller, calls);
    calls.count += 1;
    const call = this.#readInTurn(texts, caller, calls.turn, signal);
    this.#calls.add(call);
    try {
      return await call;
    } finally {
      this.#calls.delete(call);
      calls.count -= 1;
      if (calls.count === 0) this.#callers.delete(caller);
    }
  }

  /** Ends the threads; what is read or waits is rejected. Resolves when no thread runs. Idempotent. */
  async close(): Promise<void> {
    this.#closing.abort(new PortolanError('INTERNAL_SERVER_ERROR', 'The gateway ends; send the request again.'));
    await Promise.allSettled(this.#calls);
  }

  async #readInTurn(
    texts: ManifestTask,
    caller: string,
    turn: Semaphore,
    signal: AbortSignal | undefined,
  ): Promise<readonly (readonly string[])[]> {
    const stop = AbortSignal.any([this.#closing.signal, ...(signal === undefined ? [] : [signal])]);
    const leaveTurn = await turn.enter(stop);
    try {
      const leavePlace = await this.#places.enter(stop, caller);
      try {
        return await this.#readInThread(texts, stop);
      } finally {
        leavePlace();
      }
    } finally {
      leaveTurn();
    }
  }

  async #readInThread(texts: ManifestTask, signal: AbortSignal): Promise<readonly (readonly string[])[]> {
    const worker = new Worker(this.#script, {
      name: 'manifest',
      workerData: texts,
      resourceLimits: { maxOldGenerationSizeMb: heapMb },
    });
    this.#running += 1;
    const over = new AbortController();
    try {
      const reply = await Promise.race([
        replyOf(worker),
        this.#clock.sleep(timeMs, AbortSignal.any([signal, over.signal])).then(() => {
          throw tooLong();
        }),
      ]);
      if ('manifests' in reply) return reply.manifests;
      const { code, message, details } = reply.refused;
      throw new PortolanError(code, message, { details });
    } finally {
      over.abort();
      await worker.terminate();
      this.#running -= 1;
    }
  }
}

/** @throws PortolanError for a thread that ends without a reply. */
function replyOf(worker: Worker): Promise<ManifestReply> {
  return new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', (error) => reject(errorOf(error)));
    worker.once('exit', (code) => reject(errorOf(new Error(`it ended with code ${code}`))));
  });
}

function errorOf(cause: unknown): PortolanError {
  if ((cause as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY') {
    const message =
      'Reading the YAML takes more memory than one request may use. Send the objects in parts, or as JSON.';
    return new PortolanError('QUERY_TOO_COSTLY', message, { cause });
  }
  const message = 'The thread that reads manifests ended; send the request again.';
  return new PortolanError('INTERNAL_SERVER_ERROR', message, { cause });
}

function tooLong(): PortolanError {
  const message = `Reading the YAML takes longer than ${timeMs} ms, the most for one request. Send the objects in parts, or as JSON.`;
  return new PortolanError('QUERY_TOO_COSTLY', message, { details: { timeMs } });
}

function tooMany(ofCaller: number): PortolanError {
  const whose =
    ofCaller >= mostCalls.ofCaller
      ? `You have ${ofCaller} requests with long texts of manifests in flight, the most that one caller may have`
      : `${mostCalls.inAll} requests with long texts of manifests are in flight, the most at a time`;
  return new PortolanError('TOO_MANY_REQUESTS', `${whose}. Send it again when one has its answer.`);
}
