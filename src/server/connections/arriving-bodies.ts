/**
 * Bounds the bodies of requests that have not come whole. Their arrived parts stay in memory.
 *
 *   a request begins     -> its body counts by its length, one without a length by the most that it may have
 *   its caller is known  -> it counts for the caller
 *   it has come, or its connection ends: it counts no longer
 *
 * A connection is ended when
 *   - the bodies of its caller have more than `perCaller` bytes: of them, the body that began first;
 *   - all bodies together have more than `inAll` bytes: the body that began first.
 *
 * A client sends a body at once. So its body is never the first while others wait. Node ends a request that has not come whole after
 * `arrivalMs`.
 */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { type Caller, userKey } from '../../access/caller.ts';
import type { Logger } from '../../base/log.ts';

export interface BodyBounds {
  /** Bytes of one caller. */
  readonly perCaller: number;
  /** Bytes of all callers together. */
  readonly inAll: number;
}

const defaultBodyBounds: BodyBounds = { perCaller: 32 * 1024 * 1024, inAll: 128 * 1024 * 1024 };

/** Milliseconds within which a request must have come whole. For `requestTimeout` of Node's server. */
export const arrivalMs = 60_000;

/** A body counts as so many bytes at least: its request and its connection take memory too. */
const leastBytes = 16 * 1024;

interface Arriving {
  readonly request: IncomingMessage;
  readonly bytes: number;
  /** Null until it is known, and without authentication. */
  caller: string | null;
}

export class ArrivingBodies {
  readonly #log: Logger;
  readonly #bounds: BodyBounds;
  /** In the order in which they began. */
  readonly #arriving = new Set<Arriving>();
  readonly #newest = new WeakMap<Socket, Arriving>();
  readonly #callers = new Map<string, number>();
  #bytes = 0;

  constructor(log: Logger, bounds: BodyBounds = defaultBodyBounds) {
    this.#log = log;
    this.#bounds = bounds;
  }

  /** Bytes of all that have not come whole. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Counts the body of a request. @param mostBytes that a body may have */
  begin(request: IncomingMessage, mostBytes: number): void {
    const { 'content-length': length, 'transfer-encoding': coding } = request.headers;
    const whole = coding === undefined ? Math.min(Number(length ?? 0), mostBytes) : mostBytes;
    if (!(whole > 0)) return;
    const bytes = Math.max(whole, leastBytes);
    const arriving = { request, bytes, caller: null };
    this.#arriving.add(arriving);
    this.#newest.set(request.socket, arriving);
    this.#bytes += bytes;
    const end = (): void => this.#forget(arriving);
    request.once('end', end).once('close', end);
    this.#enforce(null);
  }

  /** Names the caller of the newest request on the connection. */
  belongs(socket: Socket, { user }: Caller): void {
    const arriving = this.#newest.get(socket);
    if (arriving === undefined || user === null || arriving.caller !== null || !this.#arriving.has(arriving)) return;
    const caller = userKey(user);
    arriving.caller = caller;
    this.#callers.set(caller, this.#bytesOf(caller) + arriving.bytes);
    this.#enforce(caller);
  }

  #bytesOf(caller: string | null): number {
    return caller === null ? 0 : (this.#callers.get(caller) ?? 0);
  }

  #enforce(caller: string | null): void {
    const { perCaller, inAll } = this.#bounds;
    for (const arriving of this.#arriving) {
      const isFull = this.#bytes > inAll;
      if (!isFull && this.#bytesOf(caller) <= perCaller) return;
      const { request, bytes } = arriving;
      if (!request.complete && !isFull && arriving.caller !== caller) continue;
      this.#forget(arriving);
      // It has come whole: its answer is being made.
      if (request.complete) continue;
      const why = isFull ? 'all have too much' : 'its caller has too much';
      this.#log.debug({ bytes, why }, 'a client whose request does not come whole was disconnected');
      request.socket.destroy();
    }
  }

  #forget(arriving: Arriving): void {
    const { bytes, caller } = arriving;
    if (!this.#arriving.delete(arriving)) return;
    this.#bytes -= bytes;
    if (caller === null) return;
    const left = this.#bytesOf(caller) - bytes;
    if (left > 0) this.#callers.set(caller, left);
    else this.#callers.delete(caller);
  }
}
