/** A TCP proxy that a test can cut. The server and its other clients are not affected. */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

export interface CutProxy {
  /** `https://127.0.0.1:<port>`. */
  readonly url: string;
  /** Resets every connection, and every new connection until `mend`. */
  cut(): void;
  mend(): void;
  close(): Promise<void>;
}

/** Starts a proxy for the server at this port of loopback. */
export async function startCutProxy(target: number): Promise<CutProxy> {
  const sockets = new Set<Socket>();
  let passes = true;
  const hold = (socket: Socket, peer: Socket): void => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => {
      sockets.delete(socket);
      peer.destroy();
    });
  };
  const server = createServer((inner) => {
    if (!passes) {
      inner.resetAndDestroy();
      return;
    }
    const outer = connect(target, '127.0.0.1');
    hold(inner, outer);
    hold(outer, inner);
    inner.pipe(outer);
    outer.pipe(inner);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const drop = (): void => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  return {
    url: `https://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`,
    cut() {
      passes = false;
      drop();
    },
    mend() {
      passes = true;
    },
    async close() {
      drop();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
