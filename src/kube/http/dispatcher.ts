/**
 * Creates the undici dispatcher for all requests to one API server.
 *
 * HTTP/1.1 only: with HTTP/2, a paused stream blocks other streams, and one GOAWAY ends every watch at once. So each watch has
 * its own connection, and the number of connections is unlimited.
 */
import type { ConnectionOptions } from 'node:tls';
import { Agent, type buildConnector, type Dispatcher, ProxyAgent, Socks5ProxyAgent } from 'undici';

/** A direct connection, or one through a proxy. The TLS options are for the API server. */
export type Transport =
  | { readonly type: 'agent'; readonly connect: ConnectionOptions }
  | { readonly type: 'proxy' | 'socks'; readonly uri: string; readonly requestTls: ConnectionOptions };

/** Direct without a proxy. @param proxy a URL with the scheme http, https, socks, socks5 or socks5h. */
export function transportThrough(proxy: string | undefined, tls: ConnectionOptions): Transport {
  if (proxy === undefined) return { type: 'agent', connect: tls };
  return { type: proxy.startsWith('socks') ? 'socks' : 'proxy', uri: proxy, requestTls: tls };
}

/** Milliseconds to establish a connection, TLS included. */
const connectTimeoutMs = 10_000;
/** Milliseconds before an idle connection is closed. */
const idleMs = 30_000;
/** Milliseconds of silence before the first TCP keepalive probe. */
const probeMs = 30_000;

/** Creates a long-lived dispatcher for this transport. The caller closes it. */
export function createDispatcher(transport: Transport): Dispatcher {
  const common = { allowH2: false, connectTimeout: connectTimeoutMs, keepAliveTimeout: idleMs };
  const socket = { keepAlive: true, keepAliveInitialDelay: probeMs, allowH2: false, timeout: connectTimeoutMs };
  // Both types are passed to tls.connect; they differ only in whether an absent option may be undefined.
  const withTls = (tls: ConnectionOptions): buildConnector.BuildOptions =>
    ({ ...tls, ...socket }) as buildConnector.BuildOptions;
  switch (transport.type) {
    case 'agent':
      return new Agent({ ...common, connect: withTls(transport.connect) });
    case 'proxy':
      return new ProxyAgent({ ...common, uri: transport.uri, requestTls: withTls(transport.requestTls) });
    case 'socks':
      // undici accepts only the scheme `socks5`. The variants differ in who resolves host names: here it is always the proxy.
      return new Socks5ProxyAgent(transport.uri.replace(/^socks5?h?:/, 'socks5:'), {
        ...common,
        requestTls: withTls(transport.requestTls),
      });
  }
}
