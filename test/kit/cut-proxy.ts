/** A TCP proxy that a test can cut. The server and its other clients are not affected. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

export interface CutProxy {
  /** `https://127.0.0.1:<port>`. */
  readonly url: string;
  /** Resets every connection, and every new connection until `mend`. */
  cut(): void;
  /** As `cut`, but nothing listens until `mend`. client-go then asks again for what it has asked for. */
  refuse(): void;
  mend(): Promise<void>;
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
  });
  const port = await listenApart(server);
  const drop = (): void => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  return {
    url: `https://127.0.0.1:${port}`,
    cut() {
      passes = false;
      drop();
    },
    refuse() {
      server.close();
      drop();
    },
    async mend() {
      passes = true;
      if (server.listening) return;
      server.listen(port, '127.0.0.1');
      await once(server, 'listening');
    },
    async close() {
      drop();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A port below those that the kernel gives out: nobody connects from it, and only another such proxy may take it while nothing listens there. */
async function listenApart(server: Server): Promise<number> {
  for (;;) {
    server.listen(10_000 + Math.floor(Math.random() * 20_000), '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      (error: NodeJS.ErrnoException) => {
        if (error.code !== 'EADDRINUSE') throw error;
        return false;
      },
    );
    if (isFree) return (server.address() as AddressInfo).port;
  }
}
