/** A TCP proxy before a gateway. Its address stays when the gateway is started again at another port, and a test can cut its connections. */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { must } from '../../../src/base/must.ts';

export interface GatewayProxy {
  /** `http://127.0.0.1:<port>/graphql`. */
  readonly url: string;
  /** New connections go to the gateway with this URL; null refuses them. */
  target(url: string | null): void;
  /** The number of open connections. */
  readonly open: number;
  /** Resets one of the open connections, on both sides. */
  cut(index: number): void;
  close(): Promise<void>;
}

export async function startGatewayProxy(): Promise<GatewayProxy> {
  const pairs = new Set<readonly [Socket, Socket]>();
  let port: number | null = null;
  const server = createServer((inner) => {
    if (port === null) return void inner.resetAndDestroy();
    const outer = connect(port, '127.0.0.1');
    const pair = [inner, outer] as const;
    pairs.add(pair);
    for (const socket of pair) {
      socket.setNoDelay(true);
      socket.on('error', () => {});
      socket.on('close', () => {
        pairs.delete(pair);
        inner.destroy();
        outer.destroy();
      });
    }
    inner.pipe(outer).pipe(inner);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = must(server.address(), 'the address of the proxy');
  const cutPair = ([inner, outer]: readonly [Socket, Socket]): void => {
    outer.resetAndDestroy();
    inner.resetAndDestroy();
  };
  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? address.port : ''}/graphql`,
    target(url) {
      port = url === null ? null : Number(new URL(url).port);
    },
    get open() {
      return pairs.size;
    },
    cut(index) {
      const pair = [...pairs][index];
      if (pair !== undefined) cutPair(pair);
    },
    async close() {
      for (const pair of [...pairs]) cutPair(pair);
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
