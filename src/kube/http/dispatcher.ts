/**
 * Makes the undici dispatcher that carries all requests to one API server.
 *
 * HTTP/1.1 only: with HTTP/2 a paused stream starves its neighbours, and one GOAWAY ends every watch at once. So each
 * running watch has a connection of its own, and there is no limit on their number.
 */
import type { ConnectionOptions } from 'node:tls';
import { Agent, type buildConnector, type Dispatcher, ProxyAgent, Socks5ProxyAgent } from 'undici';

/** How a server is reached: by itself, or through a proxy. The TLS options are those of the server. */
export type Transport =
  | { readonly type: 'agent'; readonly connect: ConnectionOptions }
  | { readonly type: 'proxy' | 'socks'; readonly uri: string; readonly requestTls: ConnectionOptions };

/** Milliseconds to establish a connection, TLS included. */
const connectTimeoutMs = 10_000;
/** Milliseconds that an unused connection is kept. */
const idleMs = 30_000;
/** Milliseconds of silence before TCP asks whether the other side is still there. */
const probeMs = 30_000;

/** One long-lived dispatcher for this transport. The caller closes it. */
export function createDispatcher(transport: Transport): Dispatcher {
  const common = { allowH2: false, connectTimeout: connectTimeoutMs, keepAliveTimeout: idleMs };
  const socket = { keepAlive: true, keepAliveInitialDelay: probeMs, allowH2: false, timeout: connectTimeoutMs };
  // Both sides hand these to tls.connect; only their declarations differ on what an absent option is.
  const withTls = (tls: ConnectionOptions): buildConnector.BuildOptions =>
    ({ ...tls, ...socket }) as buildConnector.BuildOptions;
  switch (transport.type) {
    case 'agent':
      return new Agent({ ...common, connect: withTls(transport.connect) });
    case 'proxy':
      return new ProxyAgent({ ...common, uri: transport.uri, requestTls: withTls(transport.requestTls) });
    case 'socks':
      // undici knows version 5 by one name; the variants differ in who resolves names, and the proxy always does here.
      return new Socks5ProxyAgent(transport.uri.replace(/^socks5?h?:/, 'socks5:'), {
        ...common,
        requestTls: withTls(transport.requestTls),
      });
  }
}
