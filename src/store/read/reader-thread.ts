/**
 * The pool's side of one reader thread: calls and their replies, cancellation, and the end of the thread.
 *
 * Invariant: each call settles once, with the thread's reply or with the error that ended the thread.
 */
import { Worker } from 'node:worker_threads';
import { PortolanError } from '../../base/errors.ts';
import type { LoopQueue } from '../../base/loop-queue.ts';
import type { FileDamage } from '../types/store-fault.ts';
import { flags as places, type ReaderReply, type ReaderRequest, type ReaderWorkerData } from './reader-messages.ts';

type Unsent<T> = T extends { readonly call: number } ? Omit<T, 'call'> : never;

interface PendingCall {
  resolve(reply: ReaderReply): void;
  reject(error: unknown): void;
}

export interface ReaderThreadOptions extends Omit<ReaderWorkerData, 'flags'> {
  /** Megabytes of JavaScript heap that the thread may use before it is ended. */
  readonly heapMb: number;
  /** Called when a statement has found the file damaged. */
  readonly onDamage: (damage: FileDamage) => void;
  /** That of the pool: what follows a reply may take long. */
  readonly replies: LoopQueue;
}

export class ReaderThread {
  /** Resolves with the reason when the thread has ended. */
  readonly ended: Promise<PortolanError>;
  readonly #worker: Worker;
  readonly #flags = new Int32Array(new SharedArrayBuffer(places.length * 4));
  readonly #pending = new Map<number, PendingCall>();
  readonly #onDamage: (damage: FileDamage) => void;
  #calls = 0;
  #leases = 0;

  constructor(options: ReaderThreadOptions) {
    const { heapMb, onDamage, replies, ...data } = options;
    this.#onDamage = onDamage;
    this.#worker = new Worker(new URL('./reader.worker.ts', import.meta.url), {
      name: 'reader',
      workerData: { ...data, flags: this.#flags } satisfies ReaderWorkerData,
      resourceLimits: { maxOldGenerationSizeMb: heapMb },
    });
    this.#worker.unref();
    this.#worker.on('message', (reply: ReaderReply) => replies.enter('', () => this.#settle(reply)));
    this.ended = new Promise((resolve) => {
      let cause: unknown = null;
      this.#worker.on('error', (error) => {
        cause = error;
      });
      this.#worker.on('exit', () => {
        const message = 'A reader thread ended; send the request again.';
        const error = new PortolanError('INTERNAL_SERVER_ERROR', message, { cause });
        for (const call of this.#pending.values()) call.reject(error);
        this.#pending.clear();
        resolve(error);
      });
    });
  }

  /** Calls that are not answered yet. */
  get running(): number {
    return this.#pending.size;
  }

  /** The number of a new lease; never 0, which means no lease. */
  nextLease(): number {
    this.#leases = (this.#leases % 0x7fff_fffe) + 1;
    return this.#leases;
  }

  call(request: Unsent<ReaderRequest>): Promise<ReaderReply> {
    this.#calls += 1;
    const call = this.#calls;
    return new Promise((resolve, reject) => {
      // A thread keeps the process alive only while a call is pending.
      if (this.#pending.size === 0) this.#worker.ref();
      this.#pending.set(call, { resolve, reject });
      this.#worker.postMessage({ ...request, call });
    });
  }

  /** Makes a running statement of the lease throw. Later calls of the lease fail too. */
  cancel(lease: number): void {
    Atomics.store(this.#flags, places.cancelled, lease);
  }

  endLease(lease: number): void {
    this.#worker.postMessage({ op: 'end', lease } satisfies ReaderRequest);
  }

  /** Ends the thread. A running statement fails at its next tick. After `graceMs` the thread is terminated in any case. */
  async close(graceMs: number): Promise<void> {
    Atomics.store(this.#flags, places.closing, 1);
    this.#worker.postMessage({ op: 'close' } satisfies ReaderRequest);
    const grace = setTimeout(() => void this.#worker.terminate(), graceMs);
    await this.ended;
    clearTimeout(grace);
  }

  #settle(reply: ReaderReply): void {
    const call = this.#pending.get(reply.call);
    if (call === undefined) return;
    this.#pending.delete(reply.call);
    if (this.#pending.size === 0) this.#worker.unref();
    if (reply.kind === 'failed') {
      if (reply.damage !== undefined) this.#onDamage(reply.damage);
      // A defect: its message has the statement. As a plain error it is logged, and the caller gets a number.
      const isDefect = reply.code === 'INTERNAL_SERVER_ERROR';
      call.reject(isDefect ? new Error(reply.message) : new PortolanError(reply.code, reply.message));
    } else call.resolve(reply);
  }
}
