/**
 * A connection to one API server: where it is, who we are there, and the wire.
 *
 * Owns: the dispatcher of one cluster and its credentials. Requests go in with a path and come out as a status, headers
 * and a stream; what they mean is the RestClient's business.
 * Never: follows a redirect, asks for compression, parses a body, or talks to a server nobody named.
 *
 * The life of a request: credentials (shared, cached) -> dispatcher for their TLS material -> answer. On a 401 the
 * credentials are dropped and fetched once more; when they have changed the request is sent once more. When the TLS
 * material has changed, a new dispatcher takes over and the old one ends with the last stream on it.
 */
import type { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { type Clock, systemClock } from '../../base/clock.ts';
import { PortolanError } from '../../base/errors.ts';
import {
  CredentialProvider,
  type Credentials,
  checkStaticMaterial,
  loadCredentials,
} from '../credentials/credentials.ts';
import { type ClusterConfig, readClusterConfig } from '../credentials/kubeconfig.ts';
import { createDispatcher } from '../http/dispatcher.ts';
import { proxyFromEnvironment } from '../http/environment-proxy.ts';

/** How to reach one cluster; plain data, so that it can cross to another thread. */
export interface ClusterOptions {
  /** The cluster's name in Portolan; without it the context's name. */
  readonly name?: string | undefined;
  /** Path of a kubeconfig file. */
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
  /** True: this Pod's service account and nothing else. */
  readonly inCluster?: boolean | undefined;
}

export interface ConnectOptions extends ClusterOptions {
  readonly env?: NodeJS.ProcessEnv;
  /** Folder of the service account's files, where it is not the usual one. */
  readonly serviceAccountDir?: string | undefined;
  readonly clock?: Clock;
}

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** One request. `path` starts with a slash, is encoded, has its query, and stands below the server's own path. */
export interface ConnectionRequest {
  readonly method: HttpMethod;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body?: string | Buffer | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds until the headers of the answer are there. */
  readonly headersTimeoutMs: number;
  /** Milliseconds between two pieces of the body; 0 waits for ever. */
  readonly bodyTimeoutMs: number;
}

/** An answer whose body has to be read to its end, or destroyed. */
export interface ConnectionAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Readable;
}

export interface Connection {
  /** The cluster's name in Portolan. */
  readonly cluster: string;
  /** The server's URL without a trailing slash. */
  readonly server: string;
  readonly context: string;
  /** Where the configuration came from, for messages. */
  readonly source: string;
  /** The proxy on the way, without its credentials. */
  readonly proxy: string | undefined;
  /** Rejects with what the transport threw, with a PortolanError about credentials, or with the signal's reason. */
  request(request: ConnectionRequest): Promise<ConnectionAnswer>;
  /** Ends all that runs on it. */
  close(): Promise<void>;
}

/**
 * The connection that options and environment describe. Sends nothing yet: a server that is down is met by the first
 * request. Throws CONFIGURATION when the kubeconfig is missing or broken.
 */
export async function connect(options: ConnectOptions = {}): Promise<Connection> {
  const env = options.env ?? process.env;
  const found = readClusterConfig({ ...options, env });
  const server = serverUrl(found);
  const proxyUrl = found.cluster.proxyUrl ?? proxyFromEnvironment(server, env);
  if (proxyUrl !== undefined && !/^(https?|socks5?h?):\/\/[^/]/.test(proxyUrl)) {
    throw new PortolanError(
      'CONFIGURATION',
      `The proxy of context ${found.context} in ${found.source} is not an address: write proxy-url or HTTPS_PROXY like http://host:3128.`,
    );
  }
  const config = proxyUrl === undefined ? found : { ...found, cluster: { ...found.cluster, proxyUrl } };
  await checkStaticMaterial(config);
  const clock = options.clock ?? systemClock;
  const provider = new CredentialProvider(() => loadCredentials(config, { env, clock }), clock);
  return new UndiciConnection(config, options.name ?? config.context, server, provider);
}

class UndiciConnection implements Connection {
  readonly cluster: string;
  readonly server: string;
  readonly context: string;
  readonly source: string;
  readonly proxy: string | undefined;
  readonly #origin: string;
  readonly #basePath: string;
  readonly #credentials: CredentialProvider;
  #wire: { readonly fingerprint: string; readonly dispatcher: Dispatcher } | undefined;
  readonly #retired = new Set<Dispatcher>();
  #closed = false;

  constructor(config: ClusterConfig, cluster: string, server: URL, credentials: CredentialProvider) {
    this.cluster = cluster;
    this.context = config.context;
    this.source = config.source;
    this.proxy = config.cluster.proxyUrl?.replace(/\/\/[^/@]*@/, '//');
    this.#origin = server.origin;
    this.#basePath = server.pathname.replace(/\/+$/, '');
    this.server = this.#origin + this.#basePath;
    this.#credentials = credentials;
  }

  async request(request: ConnectionRequest): Promise<ConnectionAnswer> {
    request.signal?.throwIfAborted();
    const first = await this.#credentials.get();
    const answer = await this.#send(request, first);
    if (answer.status !== 401) return answer;
    this.#credentials.drop(first);
    const second = await this.#credentials.get().catch((error: unknown) => {
      discard(answer.body);
      throw error;
    });
    if (sameCaller(first, second)) return answer;
    discard(answer.body);
    return this.#send(request, second);
  }

  async close(): Promise<void> {
    this.#closed = true;
    const dispatchers = [...this.#retired, ...(this.#wire === undefined ? [] : [this.#wire.dispatcher])];
    this.#wire = undefined;
    this.#retired.clear();
    await Promise.all(dispatchers.map((dispatcher) => dispatcher.destroy()));
  }

  async #send(request: ConnectionRequest, credentials: Credentials): Promise<ConnectionAnswer> {
    request.signal?.throwIfAborted();
    const { statusCode, headers, body } = await this.#dispatcherFor(credentials).request({
      origin: this.#origin,
      path: this.#basePath + request.path,
      method: request.method,
      headers: { 'accept-encoding': 'identity', ...request.headers, ...credentials.headers },
      body: request.body ?? null,
      signal: request.signal ?? null,
      headersTimeout: request.headersTimeoutMs,
      bodyTimeout: request.bodyTimeoutMs,
    });
    return { status: statusCode, headers, body };
  }

  #dispatcherFor(credentials: Credentials): Dispatcher {
    if (this.#closed) {
      throw new PortolanError('UPSTREAM_UNAVAILABLE', `The connection to ${this.cluster} was closed: open a new one.`);
    }
    const wire = this.#wire;
    if (wire?.fingerprint === credentials.transportFingerprint) return wire.dispatcher;
    const dispatcher = createDispatcher(credentials.transport);
    this.#wire = { fingerprint: credentials.transportFingerprint, dispatcher };
    if (wire !== undefined) this.#retire(wire.dispatcher);
    return dispatcher;
  }

  #retire(dispatcher: Dispatcher): void {
    this.#retired.add(dispatcher);
    dispatcher.close().then(
      () => this.#retired.delete(dispatcher),
      () => this.#retired.delete(dispatcher),
    );
  }
}

function sameCaller(a: Credentials, b: Credentials): boolean {
  return a.transportFingerprint === b.transportFingerprint && JSON.stringify(a.headers) === JSON.stringify(b.headers);
}

/** Ends a body nobody will read. Its failure is of no interest: the connection is given back or thrown away. */
function discard(body: Readable): void {
  body.on('error', () => {});
  body.destroy();
}

function serverUrl(config: ClusterConfig): URL {
  const { server } = config.cluster;
  const url = URL.canParse(server) ? new URL(server) : undefined;
  if (
    url === undefined ||
    (url.protocol !== 'https:' && url.protocol !== 'http:') ||
    url.search !== '' ||
    url.hash !== ''
  ) {
    throw new PortolanError(
      'CONFIGURATION',
      `The server ${JSON.stringify(server)} of context ${config.context} in ${config.source} is not an address: write it like https://host:6443.`,
    );
  }
  return url;
}
