/**
 * Bounds the bytes of answers that clients do not read. They stay in memory until the network has taken them.
 *
 *   an answer is made -> the network took all of it: nothing is counted
 *                     -> it waits: its bytes count for its caller until it is sent or the connection ends
 *   a stream of events, or a WebSocket: what waits on the connection counts while it is open
 *   a body that many answers share (shared-body.ts): it takes no memory of its own, so it does not count
 *
 * A connection is ended when
 *   - the network took nothing of what waits for `stalledMs`;
 *   - the caller has more than `perCaller` bytes that wait: the connection with the most;
 *   - all callers together have more than `inAll`: the connection with the most, of the caller with the most.
 *
 * Without authentication each connection is a caller of its own.
 */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type Caller, userKey } from '../../access/caller.ts';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';

export interface UnsentBounds {
  /** Bytes of one caller. */
  readonly perCaller: number;
  /** Bytes of all callers together. */
  readonly inAll: number;
  readonly stalledMs: number;
  /** Milliseconds between two looks. */
  readonly everyMs: number;
}

const defaultUnsentBounds: UnsentBounds = {
  perCaller: 64 * 1024 * 1024,
  inAll: 192 * 1024 * 1024,
  stalledMs: 30_000,
  everyMs: 1000,
};

/** Bytes that wait on one connection, from which a message more is a reason to look at all. Else `everyMs` is soon enough. */
const leastChecked = 256 * 1024;

interface Waiting {
  /** Answers and streams that wait on the connection, and how many of them count. */
  holders: number;
  counted: number;
  /** The bytes that the network had taken at the last look at which there were more than before, and when that was. */
  taken: number;
  progressAt: number;
}

export class UnsentAnswers {
  readonly #bounds: UnsentBounds;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #log: Logger;
  readonly #callers = new WeakMap<Socket, string>();
  readonly #waiting = new Map<Socket, Waiting>();
  #timer: NodeJS.Timeout | null = null;

  constructor(log: Logger, clock: Pick<Clock, 'monotonic'>, bounds: UnsentBounds = defaultUnsentBounds) {
    this.#log = log;
    this.#clock = clock;
    this.#bounds = bounds;
  }

  /** Bytes that wait and count, of all connections. */
  get bytes(): number {
    let sum = 0;
    for (const [socket, waiting] of this.#waiting) sum += bytesOf(socket, waiting);
    return sum;
  }

  /** Names the caller whose answers come on the connection from now on. */
  belongs(socket: Socket, { user }: Caller): void {
    if (user !== null) this.#callers.set(socket, userKey(user));
  }

  /** Watches, and counts, what waits of an answer that has been written whole. @param isShared other answers have the same body */
  written(response: ServerResponse, isShared: boolean): void {
    const { socket } = response;
    if (socket === null || socket.writableLength === 0) return;
    response.once('close', this.watch(socket, isShared));
    if (!isShared) this.#enforce();
  }

  /** Looks whether too much waits, after more was written to the connection of a stream or a WebSocket. */
  check(socket: Socket): void {
    if (socket.writableLength >= leastChecked) this.#enforce();
  }

  /** Counts what waits on the connection of a stream or a WebSocket, until the returned function is called. */
  watch(socket: Socket, isShared = false): () => void {
    const counted = isShared ? 0 : 1;
    const known = this.#waiting.get(socket);
    if (known === undefined) {
      const progressAt = this.#clock.monotonic();
      this.#waiting.set(socket, { holders: 1, counted, taken: takenOf(socket), progressAt });
    } else {
      known.holders += 1;
      known.counted += counted;
    }
    this.#timer ??= setInterval(() => this.#look(), this.#bounds.everyMs).unref();
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      const waiting = this.#waiting.get(socket);
      if (waiting === undefined) return;
      waiting.holders -= 1;
      waiting.counted -= counted;
      if (waiting.holders === 0) this.#forget(socket);
    };
  }

  close(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  #look(): void {
    const now = this.#clock.monotonic();
    for (const [socket, waiting] of this.#waiting) {
      // The first byte of the next answer is progress.
      const taken = socket.writableLength === 0 ? 0 : takenOf(socket);
      if (taken === 0 || taken > waiting.taken) {
        waiting.taken = taken;
        waiting.progressAt = now;
      } else if (now - waiting.progressAt >= this.#bounds.stalledMs) this.#end(socket, 'it takes nothing');
    }
    this.#enforce();
  }

  #enforce(): void {
    const { perCaller, inAll } = this.#bounds;
    let all = this.bytes;
    if (all <= Math.min(perCaller, inAll)) return;
    const owners = new Map<string | Socket, { bytes: number; sockets: Socket[] }>();
    for (const [socket, waiting] of this.#waiting) {
      const bytes = bytesOf(socket, waiting);
      if (bytes === 0) continue;
      const owner = this.#callers.get(socket) ?? socket;
      const known = owners.get(owner) ?? { bytes: 0, sockets: [] };
      known.bytes += bytes;
      known.sockets.push(socket);
      owners.set(owner, known);
    }
    for (const owner of [...owners.values()].toSorted((a, b) => b.bytes - a.bytes)) {
      owner.sockets.sort((a, b) => b.writableLength - a.writableLength);
      for (const socket of owner.sockets) {
        if (owner.bytes <= perCaller && all <= inAll) break;
        owner.bytes -= socket.writableLength;
        all -= socket.writableLength;
        this.#end(
          socket,
          owner.bytes + socket.writableLength > perCaller ? 'its caller has too much' : 'all have too much',
        );
      }
    }
  }

  #end(socket: Socket, why: string): void {
    this.#log.debug({ bytes: socket.writableLength, why }, 'a client that does not read its answers was disconnected');
    this.#forget(socket);
    socket.destroy();
  }

  #forget(socket: Socket): void {
    this.#waiting.delete(socket);
    if (this.#waiting.size === 0) this.close();
  }
}

function bytesOf(socket: Socket, { counted }: Waiting): number {
  return counted === 0 ? 0 : socket.writableLength;
}

/** Calls `then` when the network has taken the whole answer, or the connection has ended. The answer may be yet unwritten. */
export function whenSent(response: ServerResponse, then: () => void): void {
  if (response.writableFinished || response.closed) then();
  else response.once('close', then);
}

/**
 * Bytes that the network has taken. Node's public figures change only at the end of a write, which may be one of many megabytes. Its own
 * timeouts (net.Socket) use the queue of the handle in the same way.
 */
function takenOf(socket: Socket): number {
  const { _bytesDispatched: dispatched = 0, _handle: handle } = socket as Socket & {
    readonly _bytesDispatched?: number;
    readonly _handle?: { readonly writeQueueSize?: number } | null;
  };
  return dispatched - (handle?.writeQueueSize ?? 0);
}
