/**
 * Keeps a store up to date with the log of a feeder.
 *
 *   open the file -> connect at its position -> batches -> the connection is lost -> connect again, with backoff
 *                                                       -> the log does not fit    -> make an empty file, connect again
 *
 * Invariant: the file has what the log had at its revision, whatever was interrupted. It is never mended by guesses.
 */
import { Backoff, type BackoffBounds } from '../../base/backoff.ts';
import type { Clock, Random } from '../../base/clock.ts';
import { messageOf, PortolanError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { Writer } from '../../store/types/writer.ts';
import { emptyPosition, type LogRequest, type LogStream } from '../transport/log-request.ts';

interface LogFollowerOptions {
  /** Opens the log at a position. Rejects with GONE if it does not go on there. */
  connect(request: LogRequest, signal: AbortSignal): Promise<LogStream>;
  /** Opens the file of an earlier start; null if there is none. */
  openFile(): Writer | null;
  /** Makes an empty file with this epoch. `lost` says why the file before it cannot be used; null if there was none. */
  makeFile(epoch: string, lost: string | null): Writer;
  /** The store was opened, or another one in its place. */
  opened(store: Writer): void;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** For readiness, metrics and people. */
interface FollowerStatus {
  readonly connected: boolean;
  /** All objects of the log's beginning are there. */
  readonly filled: boolean;
  readonly revision: number;
  /** Why it is not connected; null while it is. */
  readonly error: string | null;
  /** Milliseconds since the epoch of the newest batch; null before the first one. */
  readonly lastBatchAt: number | null;
}

const backoff: BackoffBounds = { firstMs: 200, capMs: 5000, resetMs: 30_000 };
/** Codes of errors after which the file is of no use: the log does not go on where it ends. */
const useless: ReadonlySet<unknown> = new Set(['GONE', 'CONFLICT']);

export class LogFollower {
  readonly #options: LogFollowerOptions;
  readonly #stop = new AbortController();
  readonly #backoff: Backoff;
  #store: Writer | null;
  #lost: string | null = null;
  #connected = false;
  #error: string | null = null;
  #lastBatchAt: number | null = null;
  readonly #running: Promise<void>;

  /** Begins at once. */
  constructor(options: LogFollowerOptions) {
    this.#options = options;
    this.#backoff = new Backoff(options.clock, options.random, backoff);
    this.#store = options.openFile();
    if (this.#store !== null) options.opened(this.#store);
    this.#running = this.#run(this.#stop.signal);
  }

  status(): FollowerStatus {
    const store = this.#store;
    return {
      connected: this.#connected,
      filled: store !== null && store.revision() > 0 && store.followed.position().filling.length === 0,
      revision: store?.revision() ?? 0,
      error: this.#error,
      lastBatchAt: this.#lastBatchAt,
    };
  }

  /** Ends the connection and closes the file. Idempotent. */
  async stop(): Promise<void> {
    this.#stop.abort(new Error('the follower was stopped'));
    await this.#running;
    this.#store?.close();
    this.#store = null;
  }

  async #run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.#follow(signal);
      } catch (error) {
        if (signal.aborted) return;
        this.#failed(error);
      }
      await this.#options.clock.sleep(this.#backoff.next(), signal).catch(() => {});
    }
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const { connect, makeFile, opened, clock } = this.#options;
    const known = this.#store;
    const request: LogRequest = {
      epoch: known?.epoch ?? null,
      position: known?.followed.position() ?? emptyPosition,
    };
    const { epoch, batches, close } = await connect(request, signal);
    try {
      // A file without any change may be of another log.
      if (known !== null && known.epoch !== epoch)
        throw new PortolanError('GONE', `The feeder has another log: ${epoch}.`);
      if (known === null) {
        this.#store = makeFile(epoch, this.#lost);
        this.#lost = null;
        opened(this.#store);
      }
      this.#connected = true;
      this.#error = null;
      for await (const messages of batches) {
        if (signal.aborted) return;
        this.#store?.followed.take(messages);
        this.#lastBatchAt = clock.now();
      }
    } finally {
      this.#connected = false;
      close();
    }
  }

  #failed(error: unknown): void {
    const { log } = this.#options;
    this.#error = messageOf(error);
    if (this.#store === null || !(error instanceof PortolanError && useless.has(error.code))) {
      log.warn({ error: this.#error }, 'the log cannot be followed; it is tried again');
      return;
    }
    log.error({ error: this.#error }, 'the store does not fit the log; it is filled again');
    this.#store.close();
    this.#store = null;
    this.#lost = this.#error;
  }
}
