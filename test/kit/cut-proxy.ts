/** A way to a server that can be cut: bytes of TCP pass, until they do not. The server and everybody else on it notice nothing. */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

export interface CutProxy {
  /** `https://127.0.0.1:<port>`. */
  readonly url: string;
  /** Resets every connection, and every new one until `mend`. */
  cut(): void;
  mend(): void;
  close(): Promise<void>;
}

/** Stands before the server at this port of loopback. */
export async function startCutProxy(target: number): Promise<CutProxy> {
  const sockets = new Set<Socket>();
  let whole = true;
  const hold = (socket: Socket, peer: Socket): void => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => {
      sockets.delete(socket);
      peer.destroy();
    });
  };
  const server = createServer((inner) => {
    if (!whole) {
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
      whole = false;
      drop();
    },
    mend() {
      whole = true;
    },
    async close() {
      drop();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
