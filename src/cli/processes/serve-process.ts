/**
 * One serve process, as the ingest process sees it. It is started again whenever it ends.
 *
 *   its turn -> start -> hello -> (start) -> listening -> alive, alive, … -> it ends -> a pause -> its turn
 *                              -> failed, or an end before it listens     -> a pause -> its turn; the start of the gateway fails
 *   silent for `quietLooks` looks -> the state says so
 *   silent for `silentLooks` looks, or `silentStartLooks` before it listens -> killed
 *   close -> closed, or killed after `closeMs`
 *
 * The pauses are those of src/base/backoff.ts. They are short again for a process that ends later than `resetMs` after its start.
 * Only some processes start at a time (`starts`). Too many would load their modules so slowly that they gave no sign of life.
 *
 * Invariant: what answers a message goes to the process that sent it. The next one of this number counts its questions from 1 again.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Backoff, type BackoffBounds } from '../../base/backoff.ts';
import type { Clock, Random } from '../../base/clock.ts';
import type { Leave, Semaphore } from '../../base/concurrency/semaphore.ts';
import { messageOf, PortolanError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { type JoinedMessage, Outbox } from './outbox.ts';
import type { FromProcess, ProcessStart, ToProcess } from './process-messages.ts';

/** A process that is killed now and then is started again within a second; one that cannot run is tried some times a minute. */
const restarts: BackoffBounds = { firstMs: 250, capMs: 30_000, resetMs: 30_000 };
/**
 * The least pause while others serve. The clients of the ended process connect to them at once, and need the processors that a process
 * takes while it loads its modules.
 */
const takeoverMs = 1000;
/**
 * Looks without a sign of life after which a process is killed. Its event loop is blocked, and its clients get nothing. Looks are counted,
 * not milliseconds: if this process was stopped, it has not read the signs yet.
 */
const silentLooks = 30;
/** The same of a process that does not listen yet. It has no clients, and on a busy machine it loads its modules for a minute. */
const silentStartLooks = 300;
/** Looks without a sign of life after which the state says that the process does not serve. */
const quietLooks = 5;
const lookMs = 1000;
/** Milliseconds until a process that does not close is killed. */
const closeMs = 1300;
/** Of V8 (src/portolan.js), in addition to the flags of this process. */
const flags = ['--no-wasm-code-gc', '--heap-growing-percent=100', '--memory-saver-mode', '--no-memory-saver-mode'];

interface ServeProcessParts {
  readonly number: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** The processes that may start at a time, this one and its siblings. */
  readonly starts: Semaphore;
  /** Do others serve? */
  readonly othersServe: () => boolean;
  /** The present values that a process starts with. */
  readonly start: () => ProcessStart;
  /** Gets every message but those of life and start. `answer` reaches only the process that sent it. */
  readonly take: (message: FromProcess, answer: (message: ToProcess) => void) => void;
  /** The state has changed. */
  readonly changed: () => void;
  /** A process has ended, and all of its messages were taken. */
  readonly ended: () => void;
  /** The module of the process. Default: serve.process.ts. */
  readonly module?: URL;
}

type Listening = Extract<FromProcess, { type: 'listening' }>;

export class ServeProcess {
  readonly number: number;
  readonly #parts: ServeProcessParts;
  readonly #backoff: Backoff;
  readonly #first = Promise.withResolvers<Listening>();
  readonly #stop = new AbortController();
  #child: ChildProcess | null = null;
  #outbox: Outbox | null = null;
  #isListening = false;
  /** Lets the next process start. */
  #leaveStart: Leave = () => {};
  /** Looks since the last sign of life. */
  #looks = 0;
  #restarts = 0;
  #isDraining = false;
  #ended = Promise.withResolvers<void>();
  /** Why the process ended, until it listens again. */
  #error: string | null = null;

  constructor(parts: ServeProcessParts) {
    this.number = parts.number;
    this.#parts = parts;
    this.#backoff = new Backoff(parts.clock, parts.random, restarts);
    this.#first.promise.catch(() => {});
  }

  /** Resolves when the process listens for the first time; rejects if it cannot be started. */
  get first(): Promise<Listening> {
    return this.#first.promise;
  }

  /** Does it listen, and give signs of life? */
  get isServing(): boolean {
    return this.#isListening && !this.#isQuiet;
  }

  /** Is there a process that has what it starts with? */
  get isBegun(): boolean {
    return this.#outbox !== null;
  }

  get restarts(): number {
    return this.#restarts;
  }

  /** Why it does not serve, if it has served or should; else null. */
  get error(): string | null {
    return this.#error ?? (this.#isQuiet ? 'it gives no sign of life' : null);
  }

  get #mostLooks(): number {
    return this.#isListening ? silentLooks : silentStartLooks;
  }

  get #isQuiet(): boolean {
    return this.#isListening && this.#looks >= quietLooks;
  }

  /** Resolves when the process of now has ended. */
  get end(): Promise<void> {
    return this.#ended.promise;
  }

  /** Runs the process until `close`. Never rejects. */
  async run(): Promise<void> {
    const { clock, log, othersServe, starts } = this.#parts;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      this.#leaveStart = await starts.enter(signal).catch(() => () => {});
      if (signal.aborted || this.#isDraining) return this.#leaveStart();
      const why = await this.#life().catch(messageOf);
      this.#leaveStart();
      this.#parts.ended();
      this.#ended.resolve();
      this.#ended = Promise.withResolvers();
      this.#first.reject(
        new PortolanError('INTERNAL_SERVER_ERROR', `Serve process ${this.number} cannot start: ${why}.`),
      );
      if (signal.aborted || this.#isDraining) return;
      this.#error = why;
      this.#restarts += 1;
      const pauseMs = Math.max(this.#backoff.next(), othersServe() ? takeoverMs : 0);
      log.error(
        { process: this.number, error: why, pauseMs: Math.round(pauseMs) },
        'a serve process has ended; it is started again',
      );
      this.#parts.changed();
      await clock.sleep(pauseMs, signal).catch(() => {});
    }
  }

  /** Hands a message to a process that has begun. */
  send(message: ToProcess): void {
    if (this.isBegun) post(this.#child, message);
  }

  /** Tells a process that has started what may be joined with what waits for it. The next one starts with the newest. */
  tell(message: JoinedMessage): void {
    this.#outbox?.tell(message);
  }

  /** Lets the clients of the process move to another gateway. From now on it is not started again. */
  drain(ms: number): void {
    this.#isDraining = true;
    this.send({ type: 'drain', ms });
  }

  /** Ends the process. Idempotent. */
  async close(): Promise<void> {
    this.#stop.abort();
    const child = this.#child;
    post(child, { type: 'close' });
    if (child === null) return;
    const late = setTimeout(() => child.kill('SIGKILL'), closeMs);
    await ended(child);
    clearTimeout(late);
  }

  /** One process, from its start to its end. @returns why it ended */
  async #life(): Promise<string> {
    const { module = new URL('./serve.process.ts', import.meta.url), take } = this.#parts;
    let failure: string | null = null;
    const child = fork(fileURLToPath(module), [], {
      serialization: 'advanced',
      execArgv: [...process.execArgv, ...flags],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    this.#child = child;
    child.on('message', (message: FromProcess) => {
      this.#looks = 0;
      if (message.type === 'hello') this.#begin(child);
      else if (message.type === 'listening') this.#listens(message);
      else if (message.type === 'failed') {
        failure = message.error;
        this.#first.reject(new PortolanError(message.code, message.error));
      } else if (message.type !== 'alive') take(message, (answer) => post(child, answer));
    });
    const over = new AbortController();
    this.#watch(child, over.signal).catch(() => {});
    try {
      const end = await ended(child);
      return failure ?? end;
    } finally {
      over.abort();
      this.#child = null;
      this.#outbox = null;
      this.#isListening = false;
    }
  }

  /** Kills a process that gives no sign of life. Rejects at the signal. */
  async #watch(child: ChildProcess, over: AbortSignal): Promise<void> {
    const { clock, log, number } = this.#parts;
    for (this.#looks = 0; this.#looks < this.#mostLooks; this.#looks += 1) await clock.sleep(lookMs, over);
    log.error({ process: number, looks: this.#looks }, 'a serve process gives no sign of life; it is killed');
    child.kill('SIGKILL');
  }

  #begin(child: ChildProcess): void {
    this.#outbox = new Outbox((message, taken) => {
      // A process that has ended takes nothing more; `taken` is not called, and the outbox goes with it.
      if (child.connected) child.send(message, (error) => error ?? taken());
    });
    this.send({ type: 'start', start: this.#parts.start() });
  }

  #listens(message: Listening): void {
    this.#isListening = true;
    this.#error = null;
    this.#leaveStart();
    this.#first.resolve(message);
    this.#parts.changed();
  }
}

function post(child: ChildProcess | null, message: ToProcess): void {
  if (child?.connected === true) child.send(message, () => {});
}

/** Resolves with the words for the end of the process, when its channel is read to the end. */
function ended(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(messageOf(error)));
    child.once('close', (code, signal) =>
      resolve(signal === null ? `it ended with code ${code}` : `it was ended by ${signal}`),
    );
  });
}
