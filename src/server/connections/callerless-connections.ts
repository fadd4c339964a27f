/**
 * Bounds the connections without a caller: those on which no request with accepted credentials has come yet, and WebSockets before
 * `connection_init`. No caller can be charged for them.
 *
 *   a connection opens                                        it counts
 *   its caller is known, or it closes                         it no longer counts
 *   one connection too many                                   the oldest connection that counts ends
 *   a WebSocket sends more than `mostCallerlessBytes` first   it ends
 *
 * A client sends its credentials at once. So it never waits longest while others wait. A flood ends its own connections.
 */
import type { Socket } from 'node:net';

/** Connections without a caller at a time. */
export const mostCallerless = 1000;
/** Bytes that a WebSocket may send before its caller is known. A token is much smaller. */
export const mostCallerlessBytes = 64 * 1024;

export class CallerlessConnections {
  readonly #most: number;
  /** Sockets that wait longest come first. */
  readonly #sockets = new Set<Socket>();

  constructor(most = mostCallerless) {
    this.#most = most;
  }

  get size(): number {
    return this.#sockets.size;
  }

  /** Counts a new connection until its caller is known or it closes. */
  opened(socket: Socket): void {
    socket.once('close', () => this.#sockets.delete(socket));
    this.#add(socket);
  }

  /** A WebSocket begins on the connection: its caller is the one of `connection_init`. */
  upgraded(socket: Socket): void {
    this.#add(socket);
    let bytes = 0;
    const count = (chunk: Buffer): void => {
      bytes += chunk.length;
      if (!this.#sockets.has(socket)) socket.off('data', count);
      else if (bytes > mostCallerlessBytes) socket.destroy();
    };
    socket.on('data', count);
  }

  /** The connection has a caller. */
  known(socket: Socket): void {
    this.#sockets.delete(socket);
  }

  #add(socket: Socket): void {
    this.#sockets.add(socket);
    if (this.#sockets.size <= this.#most) return;
    const [longest] = this.#sockets;
    if (longest === undefined) return;
    this.#sockets.delete(longest);
    longest.destroy();
  }
}
