/**
 * A thread that slices and parses the pages of large lists, so the writer's thread mostly writes. It starts with the first
 * long list and ends after some time without pages. Lists do not wait for its start.
 *
 *   warm -> ready -> page -> push each chunk, then end
 *                         -> next: objects in the order of the list, then the list's head
 *                         -> leave
 *
 * A page gives the same objects as slicing and storing the same bytes in this thread. A caller that waits for `room` has at
 * most `maxAhead` unread bytes of a page, plus the last chunk. Bytes are unread until they are taken as objects.
 *
 * If the thread is lost, all its pages reject with ParseThreadLost and an error is logged. It takes no further page: later
 * lists are parsed in this thread.
 */
import { Worker } from 'node:worker_threads';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { Recipe } from '../../store/types/prepared-object.ts';
import type { ListHead } from '../bytes/list-slicer.ts';
import { type SentObject, unpackObjects } from '../bytes/packed-objects.ts';
import { ProtocolError } from '../bytes/protocol-error.ts';
import { StoreFailure } from '../flow/failure.ts';
import type { ParseAnswer, ParseRequest } from './parse-messages.ts';

const maxAhead = 2 * 1024 * 1024;
/** Bytes per message. Fewer bytes than `maxAhead` wait to be sent, so a reply is always outstanding. */
const sentAtOnce = 256 * 1024;
/** Milliseconds without a page after which the thread ends. */
const idleMs = 10_000;
/** Milliseconds for the thread to end itself. */
const closeMs = 5000;

export class ParseThreadLost extends Error {
  override readonly name = 'ParseThreadLost';
}

/** A result of `next`: objects, or at the end the head. */
export type ParsedPart =
  | { readonly objects: readonly SentObject[]; readonly head: null }
  | { readonly objects: null; readonly head: ListHead };

interface Running {
  readonly worker: Worker;
  readonly ready: PromiseWithResolvers<void>;
  takesPages: boolean;
}

export class ParseThread {
  readonly #log: Logger;
  readonly #clock: Clock;
  readonly #script: URL;
  readonly #pages = new Map<number, ParsedPage>();
  #running: Running | null = null;
  #lastPage = 0;
  /** Cancels the idle timer. */
  #idle: AbortController | null = null;
  #lost = false;
  #closed = false;

  constructor(log: Logger, clock: Clock, script: URL = new URL('./parse.worker.ts', import.meta.url)) {
    this.#log = log;
    this.#clock = clock;
    this.#script = script;
  }

  /** Starts the thread if it does not run; resolves when it takes pages, or never will. */
  warm(): Promise<void> {
    if (this.#lost || this.#closed) return Promise.resolve();
    this.#running ??= this.#start();
    this.#restartIdleTimer();
    return this.#running.ready.promise;
  }

  /** Begins a page; null if the thread is not ready. The caller must leave the page. */
  page(recipe: Recipe, maxItemBytes: number): ParsedPage | null {
    if (this.#running?.takesPages !== true) return null;
    const { worker } = this.#running;
    this.#lastPage += 1;
    const number = this.#lastPage;
    const page = new ParsedPage(number, worker, () => this.#left(number));
    this.#pages.set(number, page);
    this.#restartIdleTimer();
    send(worker, { type: 'begin', page: number, recipe, maxItemBytes });
    return page;
  }

  /** Ends the thread; resolves when it has ended. Idempotent. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#end();
  }

  #start(): Running {
    const worker = new Worker(this.#script, { name: 'parse' });
    const running: Running = { worker, ready: Promise.withResolvers<void>(), takesPages: false };
    worker.on('message', (answer: ParseAnswer) => {
      if (answer.type !== 'ready') {
        this.#pages.get(answer.page)?.take(answer);
        return;
      }
      running.takesPages = true;
      running.ready.resolve();
    });
    worker.on('error', (error) => this.#onLoss(worker, messageOf(error)));
    worker.on('exit', (code) => this.#onLoss(worker, `it ended with code ${code}`));
    return running;
  }

  #left(number: number): void {
    this.#pages.delete(number);
    this.#restartIdleTimer();
  }

  /** Restarts the idle timer, or stops it while a page is open. */
  #restartIdleTimer(): void {
    this.#idle?.abort();
    this.#idle = null;
    if (this.#pages.size > 0 || this.#running === null) return;
    const idle = new AbortController();
    this.#idle = idle;
    this.#clock.sleep(idleMs, idle.signal).then(
      () => this.#end(),
      () => {},
    );
  }

  async #end(): Promise<void> {
    const running = this.#running;
    this.#running = null;
    this.#restartIdleTimer();
    for (const page of this.#pages.values()) page.fail(new ParseThreadLost('the parse thread was closed'));
    if (running === null) return;
    const { worker } = running;
    running.ready.resolve();
    // A thread that is terminated while it loads a native module aborts the process. So it ends itself, between two messages.
    const ended = new AbortController();
    worker.once('exit', () => ended.abort());
    worker.postMessage({ type: 'close' } satisfies ParseRequest);
    await this.#clock.sleep(closeMs, ended.signal).then(
      () => worker.terminate(),
      () => {},
    );
  }

  #onLoss(worker: Worker, why: string): void {
    if (worker !== this.#running?.worker) return;
    this.#running.ready.resolve();
    this.#running = null;
    this.#lost = true;
    this.#restartIdleTimer();
    this.#log.error({ error: why }, 'the parse thread was lost; lists are parsed in the ingest thread from now on');
    for (const page of this.#pages.values()) page.fail(new ParseThreadLost(`the parse thread was lost: ${why}`));
  }
}

export class ParsedPage {
  readonly #number: number;
  readonly #worker: Worker;
  readonly #left: () => void;
  readonly #parts: (ParsedPart & { readonly bytes: number })[] = [];
  /** Chunks that are collected into one message, because each message has a fixed cost. */
  #unsent: Uint8Array[] = [];
  #unsentBytes = 0;
  /** Bytes that were pushed and not yet taken as objects. */
  #ahead = 0;
  #error: unknown = null;
  #over = false;
  readonly #waiting = new Set<() => void>();

  constructor(number: number, worker: Worker, left: () => void) {
    this.#number = number;
    this.#worker = worker;
    this.#left = left;
  }

  push(chunk: Uint8Array): void {
    this.#unsent.push(chunk);
    this.#unsentBytes += chunk.length;
    this.#ahead += chunk.length;
    if (this.#unsentBytes >= sentAtOnce) this.#flush();
  }

  #flush(): void {
    // A separate copy: several chunks share the buffer of one socket read.
    const bytes = new Uint8Array(this.#unsentBytes);
    let at = 0;
    for (const chunk of this.#unsent) {
      bytes.set(chunk, at);
      at += chunk.length;
    }
    this.#unsent = [];
    this.#unsentBytes = 0;
    send(this.#worker, { type: 'chunk', page: this.#number, bytes }, [bytes.buffer]);
  }

  end(): void {
    if (this.#unsentBytes > 0) this.#flush();
    send(this.#worker, { type: 'end', page: this.#number });
  }

  /** Resolves when more may be pushed, or the page is no longer needed. */
  async room(signal: AbortSignal): Promise<void> {
    while (this.#ahead > maxAhead && !this.#over) await this.#waitForChange(signal);
  }

  /** The next part. Rejects with a ProtocolError for an invalid list, ParseThreadLost, or the error passed to `fail`. */
  async next(signal: AbortSignal): Promise<ParsedPart> {
    for (;;) {
      signal.throwIfAborted();
      const part = this.#parts.shift();
      if (part !== undefined) {
        this.#ahead -= part.bytes;
        this.#wake();
        return part;
      }
      if (this.#over) throw this.#error;
      await this.#waitForChange(signal);
    }
  }

  async #waitForChange(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { promise, resolve } = Promise.withResolvers<void>();
    const wake = (): void => resolve();
    this.#waiting.add(wake);
    signal.addEventListener('abort', wake, { once: true });
    await promise;
    signal.removeEventListener('abort', wake);
    this.#waiting.delete(wake);
  }

  #wake(): void {
    for (const wake of this.#waiting) wake();
  }

  leave(): void {
    send(this.#worker, { type: 'leave', page: this.#number });
    this.fail(new ParseThreadLost('the page was left'));
    this.#left();
  }

  /** Ends the page for this reason; the first reason counts. Parts that have arrived may still be taken. */
  fail(error: unknown): void {
    if (this.#over) return;
    this.#over = true;
    this.#error = error;
    this.#wake();
  }

  take(answer: Exclude<ParseAnswer, { readonly type: 'ready' }>): void {
    if (answer.type === 'failed') {
      const { reason, message } = answer;
      this.fail(reason === null ? new StoreFailure(new Error(message)) : new ProtocolError(reason, message));
      return;
    }
    if (answer.type === 'head') this.#parts.push({ objects: null, head: answer.head, bytes: 0 });
    else {
      const { chunkBytes: bytes } = answer;
      const objects = unpackObjects(answer.objects);
      if (objects.length > 0) this.#parts.push({ objects, head: null, bytes });
      else this.#ahead -= bytes;
    }
    this.#wake();
  }
}

function send(worker: Worker, request: ParseRequest, transfer: ArrayBuffer[] = []): void {
  worker.postMessage(request, transfer);
}
