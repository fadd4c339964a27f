/**
 * A connection to one API server: its address, the credentials there, and the transport.
 *
 * Owns: the connections to one cluster and the gateway's credentials there. A request has a path; its answer has a status,
 * headers and a stream. The RestClient interprets the answer.
 * Never: follows a redirect, accepts compression, parses a body, or contacts a server outside the configuration. Identity headers
 * come only from the gateway's credentials and from the RequestIdentity. A request that sets one itself is refused.
 *
 * A request of the gateway: credentials (shared, cached) -> dispatcher for their TLS material -> answer. On a 401 the credentials
 * are dropped and fetched again. If they have changed, the request is sent again.
 *
 * A request of a caller with a token: the callers' pool, without the gateway's certificate, key and headers -> answer. The
 * gateway's connections must not be used: kube-apiserver prefers the client certificate to a token, so the request would act as
 * the gateway. A 401 concerns the caller. It is returned, and the gateway's credentials are kept.
 *
 * All callers of a cluster share one pool. This mixes no identities. The pool speaks HTTP/1.1: each request has its own
 * Authorization header, and the server keeps no identity with a connection. No connection and no TLS session of the pool carries
 * a certificate.
 *
 * A request that impersonates a user: as a request of the gateway, with impersonation headers. Its 401 concerns the gateway.
 */
import type { Readable } from 'node:stream';
import { type Clock, systemClock } from '../../base/clock.ts';
import { PortolanError } from '../../base/errors.ts';
import { isLoopback } from '../../base/is-loopback.ts';
import type { SpanAttributes } from '../../base/tracing.ts';
import type { BearerToken } from '../credentials/bearer-token.ts';
import {
  CredentialProvider,
  type Credentials,
  checkStaticMaterial,
  hasCredentials,
  loadCredentials,
  loadWithoutIdentity,
} from '../credentials/credentials.ts';
import { type IdentityHeaders, type ImpersonatedUser, impersonationHeaders } from '../credentials/impersonation.ts';
import type { InlineKubeconfig } from '../credentials/inline-kubeconfig.ts';
import { type ClusterConfig, readClusterConfig } from '../credentials/kubeconfig.ts';
import { serverUrl } from '../credentials/server-address.ts';
import { proxyFromEnvironment } from '../http/environment-proxy.ts';
import { TransportPool } from '../http/transport-pool.ts';
import { inSpan, placeOf } from './request-span.ts';

/** The settings to connect to one cluster. Plain data, so that another thread can receive it. */
export interface ClusterOptions {
  /** The cluster's name in Portolan. Default: the context's name. */
  readonly name?: string | undefined;
  /** A kubeconfig as text. */
  readonly inline?: InlineKubeconfig | undefined;
  /** Path of a kubeconfig file. */
  readonly kubeconfig?: string | undefined;
  /** See KubeconfigOptions.isFound. */
  readonly isFound?: boolean | undefined;
  readonly context?: string | undefined;
  /** True: only this Pod's service account. */
  readonly inCluster?: boolean | undefined;
}

export interface ConnectOptions extends ClusterOptions {
  readonly env?: NodeJS.ProcessEnv;
  /** Folder of the service account's files. Default: the usual one. */
  readonly serviceAccountDir?: string | undefined;
  readonly clock?: Clock;
}

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** One request. `path` starts with a slash, is encoded and includes the query. It is relative to the server's base path. */
export interface ConnectionRequest {
  readonly method: HttpMethod;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body?: string | Buffer | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds to wait for the answer's headers. */
  readonly headersTimeoutMs: number;
  /** Milliseconds between two chunks of the body; 0 for no limit. */
  readonly bodyTimeoutMs: number;
}

/** An answer. Its body must be read to its end or destroyed. */
export interface ConnectionAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Readable;
}

/** The identity of a request that is not the gateway's own. */
export type RequestIdentity =
  /** The token is sent alone, without any of the gateway's credentials. */
  | { readonly type: 'token'; readonly token: BearerToken }
  /** The gateway's credentials are sent with headers that impersonate this user. */
  | { readonly type: 'impersonation'; readonly user: ImpersonatedUser };

/** Sends requests to one API server, all of them with the same identity. */
export interface RequestSender {
  /** The cluster's name in Portolan. */
  readonly cluster: string;
  /** The server's URL without a trailing slash. */
  readonly server: string;
  /** Rejects with the transport's error, with a PortolanError about credentials, or with the signal's reason. */
  request(request: ConnectionRequest): Promise<ConnectionAnswer>;
}

/** Sends requests as the gateway, and creates senders for other identities. */
export interface Connection extends RequestSender {
  readonly context: string;
  /** The source of the configuration, for messages. */
  readonly source: string;
  /** The proxy's URL, without its credentials. */
  readonly proxy: string | undefined;
  /** Does the configuration have credentials? */
  readonly hasCredentials: boolean;
  /** Do requests go over TLS, or stay on this machine? Otherwise the user of the kubeconfig is not named to the server. */
  readonly isPrivate: boolean;
  /**
   * A sender whose requests all have this identity. It ends with this connection. Throws FORBIDDEN for a user that headers
   * cannot represent. Throws CONFIGURATION when the kubeconfig itself impersonates a user, and when requests are not private.
   */
  connectAs(identity: RequestIdentity): RequestSender;
  /** Ends all running requests, also those of callers. */
  close(): Promise<void>;
}

/**
 * Creates the connection for these options and this environment. It sends nothing yet, so an unreachable server fails the first
 * request. Throws CONFIGURATION when the kubeconfig is missing or invalid.
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
  const isPrivate = server.protocol === 'https:' || staysHere(server, proxyUrl);
  const known = isPrivate ? found : withoutUser(found);
  const config = proxyUrl === undefined ? known : { ...known, cluster: { ...known.cluster, proxyUrl } };
  await checkStaticMaterial(config);
  const clock = options.clock ?? systemClock;
  return new UndiciConnection(
    config,
    options.name ?? config.context,
    { server, isPrivate },
    {
      gateway: new CredentialProvider(() => loadCredentials(config, { env, clock }), clock),
      caller: new CredentialProvider(() => loadWithoutIdentity(config, clock), clock),
    },
  );
}

/** Do requests to this server not leave this machine? */
function staysHere(server: URL, proxyUrl: string | undefined): boolean {
  if (!isLoopback(server.hostname)) return false;
  return proxyUrl === undefined || (URL.canParse(proxyUrl) && isLoopback(new URL(proxyUrl).hostname));
}

/** As client-go: no credentials of a user go through a network in the clear. */
function withoutUser(config: ClusterConfig): ClusterConfig {
  const user = { name: config.user.name };
  return { ...config, user, tokenFile: undefined, exec: undefined, oidc: undefined, impersonation: undefined };
}

/** Headers that identify the caller. Only a request's identity may set them. */
const identityHeader = /^(authorization|proxy-authorization|cookie|impersonate-.*|x-remote-.*)$/i;

class UndiciConnection implements Connection {
  readonly cluster: string;
  readonly server: string;
  readonly context: string;
  readonly source: string;
  readonly proxy: string | undefined;
  readonly hasCredentials: boolean;
  readonly isPrivate: boolean;
  readonly #origin: string;
  /** The server, for spans. */
  readonly #place: SpanAttributes;
  readonly #basePath: string;
  readonly #impersonates: boolean;
  readonly #gateway: CredentialProvider;
  readonly #caller: CredentialProvider;
  readonly #gatewayPool = new TransportPool();
  readonly #callerPool = new TransportPool();
  #closed = false;

  constructor(
    config: ClusterConfig,
    cluster: string,
    { server, isPrivate }: { readonly server: URL; readonly isPrivate: boolean },
    credentials: { readonly gateway: CredentialProvider; readonly caller: CredentialProvider },
  ) {
    this.cluster = cluster;
    this.context = config.context;
    this.source = config.source;
    this.proxy = config.cluster.proxyUrl?.replace(/\/\/[^/@]*@/, '//');
    this.hasCredentials = hasCredentials(config);
    this.isPrivate = isPrivate;
    this.#origin = server.origin;
    this.#place = placeOf(server, cluster);
    this.#basePath = server.pathname.replaceAll(/\/{2,}/g, '/').replace(/\/$/, '');
    this.server = this.#origin + this.#basePath;
    this.#impersonates = config.user.impersonateUser !== undefined || config.impersonation !== undefined;
    this.#gateway = credentials.gateway;
    this.#caller = credentials.caller;
  }

  request(request: ConnectionRequest): Promise<ConnectionAnswer> {
    return this.#requestAsGateway(request, {});
  }

  connectAs(identity: RequestIdentity): RequestSender {
    const { cluster, server } = this;
    if (!this.isPrivate) {
      throw new PortolanError(
        'CONFIGURATION',
        `The server ${server} of context ${this.context} in ${this.source} is one of plain HTTP on another machine or behind a proxy there, so nothing is sent in the name of callers: write its address with https.`,
      );
    }
    if (identity.type === 'token') {
      const { token } = identity;
      return { cluster, server, request: (request) => this.#requestWithToken(request, token) };
    }
    if (this.#impersonates) {
      throw new PortolanError(
        'CONFIGURATION',
        `Context ${this.context} in ${this.source} impersonates a user itself, so it cannot impersonate callers: remove its as, as-groups, as-uid and as-user-extra.`,
      );
    }
    const headers = impersonationHeaders(identity.user);
    return { cluster, server, request: (request) => this.#requestAsGateway(request, headers) };
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([this.#gatewayPool.close(), this.#callerPool.close()]);
  }

  async #requestAsGateway(request: ConnectionRequest, impersonation: IdentityHeaders): Promise<ConnectionAnswer> {
    request.signal?.throwIfAborted();
    const send = (credentials: Credentials): Promise<ConnectionAnswer> =>
      this.#send(request, this.#gatewayPool, credentials, { ...credentials.headers, ...impersonation });
    const first = await this.#gateway.get();
    const answer = await send(first);
    if (answer.status !== 401) return answer;
    this.#gateway.drop(first);
    const second = await this.#gateway.get().catch((error: unknown) => {
      discard(answer.body);
      throw error;
    });
    if (sameCaller(first, second)) return answer;
    discard(answer.body);
    return send(second);
  }

  async #requestWithToken(request: ConnectionRequest, token: BearerToken): Promise<ConnectionAnswer> {
    request.signal?.throwIfAborted();
    const trust = await this.#caller.get();
    return this.#send(request, this.#callerPool, trust, { authorization: `Bearer ${token.reveal()}` });
  }

  async #send(
    request: ConnectionRequest,
    pool: TransportPool,
    { transport, transportFingerprint }: Credentials,
    identity: IdentityHeaders,
  ): Promise<ConnectionAnswer> {
    request.signal?.throwIfAborted();
    refuseIdentityHeaders(request);
    if (this.#closed) {
      throw new PortolanError('UPSTREAM_UNAVAILABLE', `The connection to ${this.cluster} was closed: open a new one.`);
    }
    const dispatcher = pool.dispatcherFor(transport, transportFingerprint);
    return inSpan(request, this.#place, async (trace) => {
      const { statusCode, headers, body } = await dispatcher.request({
        origin: this.#origin,
        path: this.#basePath + request.path,
        method: request.method,
        headers: { 'accept-encoding': 'identity', ...trace, ...request.headers, ...identity },
        body: request.body ?? null,
        signal: request.signal ?? null,
        headersTimeout: request.headersTimeoutMs,
        bodyTimeout: request.bodyTimeoutMs,
      });
      return { status: statusCode, headers, body };
    });
  }
}

/** Throws for a defect of Portolan, never of a caller. The message omits the header's value. */
function refuseIdentityHeaders({ headers = {} }: ConnectionRequest): void {
  const refused = Object.keys(headers).find((name) => identityHeader.test(name));
  if (refused === undefined) return;
  throw new PortolanError(
    'INTERNAL_SERVER_ERROR',
    `A request sets the header ${refused}, which identifies the caller: send the request with connectAs.`,
  );
}

function sameCaller(a: Credentials, b: Credentials): boolean {
  return a.transportFingerprint === b.transportFingerprint && JSON.stringify(a.headers) === JSON.stringify(b.headers);
}

/** Ends a body that is not read. Its errors are ignored, because the connection is then reused or discarded. */
export function discard(body: Readable): void {
  body.on('error', () => {});
  body.destroy();
}
