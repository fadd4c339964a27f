/**
 * The door: an aggregated API server for the kind ShadowResource, over HTTPS. kube-apiserver sends it the requests of its group.
 *
 *   /healthz /livez /readyz     everybody
 *   every other path            a request of the aggregator (trust) -> admitted (who calls, limits, audit)
 *     /version /apis… /openapi/v3…     every caller, as the ClusterRole system:discovery of Kubernetes grants them
 *     /apis/G/V/…shadowresources…      the caller's rights on the kind -> the answer
 *   every refusal               a Status object
 *
 *   drain(ms)   /readyz answers 503, so that the Service leaves this replica out. Everything else is answered for `ms`
 *               each answer asks the aggregator to close its connection. Watches end one by one. Both then move to another replica
 *   close()     discovery answers 503. The last watches end. No connection begins
 *               running requests have `graceMs`. Then their sockets are destroyed
 *
 * Discovery goes on during the drain. kube-apiserver keeps connections, also those by which it asks whether the group is available. A 503 on
 * one of them would make the group unavailable at all replicas, and deletions of namespaces would wait. Lists do not hang in the drain, so
 * nothing waits for this replica.
 *
 * Bounded: connections on which no caller is known yet, and the bytes of answers that a caller does not read.
 *
 * Never: believes a header of anybody but the aggregator, or asks an API server as itself for what a caller is shown.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Caller } from '../access/caller.ts';
import type { Admission } from '../admission/admission.ts';
import { systemClock } from '../base/clock.ts';
import { messageOf, PortolanError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import type { ServedKinds } from '../operation/served-kinds.ts';
import { ArrivingBodies, arrivalMs } from '../server/connections/arriving-bodies.ts';
import { CallerlessConnections } from '../server/connections/callerless-connections.ts';
import type { Drain } from '../server/connections/drain.ts';
import { UnsentAnswers, type UnsentBounds, whenSent } from '../server/connections/unsent-answers.ts';
import { listen } from '../server/listen.ts';
import { arrivalOf } from '../server/negotiation/credentials.ts';
import { isNotModified } from '../server/negotiation/entity-tag.ts';
import { pathOf, searchOf } from '../server/negotiation/request-url.ts';
import { openTlsServer, type TlsSource } from '../server/negotiation/tls-server.ts';
import { manifestBounds } from '../writes/manifests/manifest-bounds.ts';
import { groupDocument, groupsDocument, resourcesDocument } from './discovery/discovery-documents.ts';
import { openApiOf } from './discovery/openapi-document.ts';
import { discoveryVersion, requireJson } from './protocol/accept.ts';
import { sendJson, sendStatus } from './protocol/answer.ts';
import { wantsWatch } from './protocol/list-options.ts';
import { setPath, verbOf } from './protocol/request-path.ts';
import { apiVersionOf, type ServedApi } from './protocol/served-api.ts';
import { statusError } from './protocol/status.ts';
import type { SetRequests } from './set-requests.ts';
import type { Watchdog } from './watchdog.ts';

interface AggregateServerOptions {
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  /** Other processes listen on the port too. Default: false. */
  readonly sharesPort?: boolean;
  readonly tls: TlsSource;
  readonly api: ServedApi;
  /** The version of Portolan, for /version. */
  readonly version: string;
  /** Its authentication trusts the aggregator alone. */
  readonly admission: Admission<ServedKinds>;
  readonly watchdog: Pick<Watchdog, 'illness'>;
  readonly sets: SetRequests;
  /** Counts the requests, but those for the health. @returns notes the status; 0 where the client has ended the request before */
  readonly requested: (verb: string) => (code: number) => void;
  /** Its watches are those of `sets`. */
  readonly drain: Drain;
  /** Bounds of what clients do not read. Default: those of unsent-answers.ts. */
  readonly unsentBounds?: UnsentBounds;
  readonly log: Logger;
}

export interface RunningAggregateServer {
  readonly port: number;
  /** Lets the aggregator move to another replica. Resolves after `ms` milliseconds, or when the signal aborts. */
  drain(ms: number, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/** Milliseconds that running requests have to finish at the end. */
const graceMs = 700;
const stopping = 'this API server is stopping';
/** A user has a header for each group, and may have many groups. */
const maxHeaderBytes = 128 * 1024;
/** The aggregator ends idle connections after 90 s. It must be the first, or else its next request may meet a closed one. */
const keepAliveMs = 120_000;

/** @throws PortolanError CONFIGURATION for a port in use. */
export async function startAggregateServer(options: AggregateServerOptions): Promise<RunningAggregateServer> {
  const door = new AggregateDoor(options);
  const server = openTlsServer(options.tls, (request, response) => void door.answer(request, response), {
    maxHeaderBytes,
    log: options.log,
  });
  server.keepAliveTimeout = keepAliveMs;
  server.requestTimeout = arrivalMs;
  server.on('secureConnection', (socket: Socket) => door.opened(socket));
  await listen(server, { ...options, flag: '--aggregate-port' }, options.sharesPort);
  const { port } = server.address() as AddressInfo;
  let closing: Promise<void> | null = null;
  return {
    port,
    drain: (ms, signal) => options.drain.begin(ms, signal),
    close() {
      door.stop();
      options.sets.endWatches();
      closing ??= closed(server).finally(() => door.close());
      return closing;
    },
  };
}

async function closed(server: Server): Promise<void> {
  const ended = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const late = setTimeout(() => server.closeAllConnections(), graceMs);
  await ended;
  clearTimeout(late);
}

interface Document {
  readonly type: string;
  /** An object, or its JSON. */
  readonly body: object | string;
  readonly isOpenApi?: boolean;
}

class AggregateDoor {
  readonly #options: AggregateServerOptions;
  readonly #openApi: ReturnType<typeof openApiOf>;
  readonly #callerless = new CallerlessConnections();
  readonly #unsent: UnsentAnswers;
  readonly #bodies: ArrivingBodies;
  #isClosing = false;

  constructor(options: AggregateServerOptions) {
    this.#options = options;
    this.#openApi = openApiOf(options.api);
    this.#unsent = new UnsentAnswers(options.log, systemClock, options.unsentBounds);
    this.#bodies = new ArrivingBodies(options.log);
  }

  /** Counts a new connection until it has a caller. */
  opened(socket: Socket): void {
    this.#callerless.opened(socket);
  }

  /** Discovery answers 503 from now on. */
  stop(): void {
    this.#isClosing = true;
  }

  close(): void {
    this.#unsent.close();
  }

  /** Never rejects. */
  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = pathOf(request);
    response.setHeader('x-content-type-options', 'nosniff');
    this.#bodies.begin(request, manifestBounds.bytes);
    if (this.#isLeaving) response.setHeader('connection', 'close');
    try {
      if (this.#answerHealth(path, response)) return;
      const { admission, api, requested } = this.#options;
      const sets = setPath(path, api);
      const isWatch = sets !== null && wantsWatch(searchOf(request));
      const ended = requested(sets === null ? 'discovery' : verbOf(request.method, sets, isWatch));
      whenSent(response, () => ended(response.headersSent ? response.statusCode : 0));
      const admitted = await admission.admit(arrivalOf(request, undefined, path));
      this.#callerless.known(request.socket);
      this.#bound(request.socket, response, admitted.caller);
      try {
        const leave = admitted.enter('requests');
        whenSent(response, leave);
        if (sets === null) this.#answerDocument(path, request, response);
        else await this.#options.sets.answer(request, response, sets, admitted, leave);
      } catch (error) {
        if (error instanceof PortolanError) admitted.denied(error);
        throw error;
      }
    } catch (error) {
      if (!(error instanceof PortolanError)) {
        this.#options.log.error({ path, error: messageOf(error) }, 'a request for sets failed');
      }
      if (response.headersSent) response.destroy();
      else sendStatus(response, error);
    }
  }

  /** Counts what the caller does not read of the answer. */
  #bound(socket: Socket, response: ServerResponse, caller: Caller): void {
    this.#unsent.belongs(socket, caller);
    this.#bodies.belongs(socket, caller);
    whenSent(response, this.#unsent.watch(socket));
    // Node emits it when the last byte has been handed to the socket.
    response.once('prefinish', () => this.#unsent.check(socket));
  }

  get #isLeaving(): boolean {
    return this.#isClosing || this.#options.drain.isOn;
  }

  /** Why nothing can be answered; null if it can. */
  get #illness(): string | null {
    return this.#isClosing ? stopping : this.#options.watchdog.illness;
  }

  #answerHealth(path: string, response: ServerResponse): boolean {
    if (path !== '/healthz' && path !== '/livez' && path !== '/readyz') return false;
    const illness = path === '/readyz' ? (this.#isLeaving ? stopping : this.#illness) : null;
    response.writeHead(illness === null ? 200 : 503, { 'content-type': 'text/plain; charset=utf-8' });
    response.end(illness === null ? 'ok' : `not ready: ${illness}`);
    return true;
  }

  /** The paths that are no sets. @throws PortolanError for a path that there is not, and while the door is ill. */
  #answerDocument(path: string, request: IncomingMessage, response: ServerResponse): void {
    const { accept } = request.headers;
    const { type, body, isOpenApi = false } = this.#document(path, accept);
    if (request.method !== 'GET') {
      throw statusError('MethodNotAllowed', 'the server does not allow this method on the requested resource');
    }
    if (path !== '/apis') requireJson(accept);
    response.setHeader('vary', 'Accept');
    if (isOpenApi) this.#sendTagged(request, response, body);
    else sendJson(response, body, type);
  }

  #document(path: string, accept: string | undefined): Document {
    const { api, version } = this.#options;
    const plain = 'application/json';
    switch (path) {
      case '/version':
        return { type: plain, body: { major: '1', minor: '0', gitVersion: `v${version}`, platform: 'portolan' } };
      case '/apis':
        this.#requireHealth();
        return groupsDocument(api, discoveryVersion(accept));
      case `/apis/${api.group}`:
        this.#requireHealth();
        return groupDocument(api);
      case `/apis/${apiVersionOf(api)}`:
        this.#requireHealth();
        return resourcesDocument(api);
      case '/openapi/v3':
        return { type: plain, body: this.#openApi.index, isOpenApi: true };
      case this.#openApi.path:
        return { type: plain, body: this.#openApi.document, isOpenApi: true };
      default:
        throw statusError('NotFound', 'the server could not find the requested resource');
    }
  }

  #requireHealth(): void {
    const illness = this.#illness;
    if (illness !== null) throw statusError('ServiceUnavailable', `The sets cannot be listed now: ${illness}.`);
  }

  /** Both documents of OpenAPI change with the hash. */
  #sendTagged({ headers }: IncomingMessage, response: ServerResponse, body: object | string): void {
    const tag = `"${this.#openApi.hash}"`;
    response.setHeader('etag', tag);
    if (isNotModified(headers['if-none-match'], tag)) response.writeHead(304).end();
    else sendJson(response, body);
  }
}
