/**
 * The gateway's one port: GraphQL and its playground over HTTP, subscriptions over WebSocket and event streams, health, metrics.
 *
 *   listening -> drain(): clients move to another gateway (drain.ts)
 *             -> close(): no new connections; WebSockets are closed with 1001
 *             -> running requests have `grace` to finish
 *             -> every socket is destroyed
 *
 * Invariant: close() resolves within a second.
 */

import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import { type Authenticate, type Caller, everyoneIsLocal } from '../access/caller.ts';
import { refuseUnlessLoopback } from '../access/loopback.ts';
import type { AuditLog } from '../admission/audit.ts';
import type { CallerBounds } from '../admission/caller-limits.ts';
import { Answers } from '../answers/answers.ts';
import { systemClock } from '../base/clock.ts';
import { messageOf } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { noTracer, type Tracer } from '../base/tracing.ts';
import { Documents } from '../graphql/document/documents.ts';
import type { GraphQLSource } from '../graphql/generation/generation.ts';
import { IntrospectionAnswers } from '../graphql/introspection/introspection-answers.ts';
import { Profiles } from '../graphql/introspection/profiles.ts';
import { PreparedCells } from '../graphql/prepared/prepared-cells.ts';
import type { PageReader } from '../store/types/page-reader.ts';
import { ArrivingBodies, arrivalMs, type BodyBounds } from './connections/arriving-bodies.ts';
import { CallerlessConnections } from './connections/callerless-connections.ts';
import { Drain } from './connections/drain.ts';
import { UnsentAnswers, type UnsentBounds } from './connections/unsent-answers.ts';
import { type Door, jsonType } from './doors/door.ts';
import { healthDoors, sendJson } from './doors/health.ts';
import { schemaDoor } from './doors/schema-file.ts';
import { type SiblingOptions, SiblingStreams } from './event-stream/sibling-streams.ts';
import { SingleConnections } from './event-stream/single-connection.ts';
import { beginRequest } from './graphql/request-spans.ts';
import { answerByYoga, createAdmission, maxRequestBytes, yogaOver } from './graphql/yoga-server.ts';
import type { Metrics } from './health/metrics.ts';
import type { Readiness } from './health/readiness.ts';
import { listen } from './listen.ts';
import { byWeight, prefersEvents } from './negotiation/accepted-type.ts';
import { connectionOf } from './negotiation/credentials.ts';
import { CrossOrigin } from './negotiation/cross-origin.ts';
import { guards, refusedRequest } from './negotiation/refused-request.ts';
import { endpoint, pathOf } from './negotiation/request-url.ts';
import type { TlsFiles } from './negotiation/tls-files.ts';
import { openTlsServer } from './negotiation/tls-server.ts';
import type { PlaygroundExample } from './playground/examples.ts';
import { Playground } from './playground/playground.ts';
import { playgroundFolder } from './playground-folder.ts';
import { codedError } from './plugins/coded-error.ts';
import { operationsProtocol } from './websocket/operations-protocol.ts';
import { chosenSubprotocol } from './websocket/socket-protocol.ts';
import { serveWebSockets } from './websocket/websocket.ts';

export interface ServerOptions {
  readonly host: string;
  /** May the server be reached by any name and from any machine? Default: only from this one, by a name of loopback. */
  readonly isOpen?: boolean;
  /** The files of TLS; without them the server speaks plain HTTP. `startServer` takes ownership. */
  readonly tls?: TlsFiles;
  /** Milliseconds between two looks at these files; default 5 s. */
  readonly tlsLookMs?: number;
  /** 0 for any free port. */
  readonly port: number;
  /** The other processes that listen on the port. Default: there are none. */
  readonly siblings?: SiblingOptions;
  readonly source: GraphQLSource;
  /** Origins whose pages may use the gateway besides its own, as browsers write them. Read at each request. Default: none. */
  readonly allowOrigins?: readonly string[];
  /** Authenticates a request. Default: every caller is the local user. */
  readonly authenticate?: Authenticate;
  /** Limits of one caller's work in flight. */
  readonly callerBounds?: CallerBounds;
  /** Gets every denial. */
  readonly audit?: AuditLog;
  /** May a caller read the metrics and the details of the readiness? Default: everybody may. */
  readonly mayObserve?: (caller: Caller) => Promise<boolean>;
  readonly readiness: () => Readiness | Promise<Readiness>;
  /** The metrics of /metrics; without them the path answers 404. */
  readonly metrics?: Metrics;
  /** The values of --profile. Default: none. */
  readonly profiles?: () => readonly string[];
  /** The written examples of the playground. */
  readonly tabs: readonly PlaygroundExample[];
  /** The folder with the parts of the playground. Default: that of `npm run playground`. */
  readonly playground?: string;
  /** Reads pages for prepared answers, one for each cell; without it, the executor answers every query. */
  readonly pages?: PageReader | readonly PageReader[];
  /** Answers introspection of the whole schema. Default: a separate thread. */
  readonly introspection?: IntrospectionAnswers;
  /** Milliseconds that an idle connection is kept; default 75 s. Proxies must close theirs earlier, else they meet a closed one. */
  readonly keepAliveMs?: number;
  /** Bounds of what clients do not read. Default: those of unsent-answers.ts. */
  readonly unsentBounds?: UnsentBounds;
  /** Bounds of requests that have not come whole. Default: those of arriving-bodies.ts. */
  readonly bodyBounds?: BodyBounds;
  /** Milliseconds between two checks of the credentials of a connection; default 10 s. */
  readonly checkCallersMs?: number;
  /** Traces requests. Default: none is traced. */
  readonly tracer?: Tracer;
  readonly log: Logger;
}

export interface RunningServer {
  /** The URL of the GraphQL endpoint: `http://127.0.0.1:4000/graphql`. */
  readonly url: string;
  readonly port: number;
  /** Lets clients move to another gateway. Resolves after `ms` milliseconds, or when the signal aborts. */
  drain(ms: number, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/** Milliseconds that running requests have to finish at shutdown. */
const grace = 700;

/**
 * Starts to listen.
 * @throws PortolanError CONFIGURATION for an address that is not loopback, and for a port in use.
 */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { host, port, log, tls, pages, isOpen = false, tracer = noTracer } = options;
  if (!isOpen) refuseUnlessLoopback(host);
  const crossOrigin = new CrossOrigin(() => options.allowOrigins ?? [], log, tls !== undefined);
  const callerless = new CallerlessConnections();
  const unsent = new UnsentAnswers(log, systemClock, options.unsentBounds);
  const bodies = new ArrivingBodies(log, options.bodyBounds);
  const authenticate = noting(options.authenticate ?? everyoneIsLocal, (socket, caller) => {
    callerless.known(socket);
    unsent.belongs(socket, caller);
    bodies.belongs(socket, caller);
  });
  const admission = createAdmission({ ...options, authenticate });
  const documents = new Documents();
  const prepared = pages === undefined ? null : new PreparedCells(admission.source, pages);
  const answers = prepared === null ? null : new Answers(admission, prepared, documents);
  const { introspection = new IntrospectionAnswers() } = options;
  const profiles = new Profiles(options.profiles);
  const yoga = yogaOver(admission, { ...options, introspection, profiles, documents }, answers);
  const playground = playgroundOf(options, profiles);
  const drain = new Drain(systemClock, Math.random);
  const doors = new Map(
    [...healthDoors({ ...options, admission, drain }), schemaDoor({ admission, introspection, profiles })].map(
      (door) => [door.path, door],
    ),
  );
  const protocol = operationsProtocol(yoga, admission, answers, options);
  let siblings: SiblingStreams | null = null;
  const streams = new SingleConnections({
    protocol,
    admission,
    path: endpoint,
    maxRequestBytes,
    log,
    siblings: () => siblings,
  });
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    // A request line may contain a full URL; Yoga expects a path.
    request.url = (request.url ?? '/').replace(/^https?:\/\/[^/?]*/i, '') || '/';
    if (request.headers.accept !== undefined) request.headers.accept = byWeight(request.headers.accept);
    if (drain.isOn) response.setHeader('connection', 'close');
    bodies.begin(request, maxRequestBytes);
    if (prefersEvents(request.headers.accept ?? null)) boundEvents(request, response, drain, unsent);
    let isShared = false;
    // Node emits it when the last byte has been handed to the socket.
    response.once('prefinish', () => unsent.written(response, isShared));
    const answerPlayground = (): Promise<void> | null => {
      const answering = playground.answer(request, response);
      isShared = answering !== null;
      return answering;
    };
    const answerQuery = (): Promise<void> =>
      answerByYoga(yoga, request, response, { span: beginRequest(tracer, request, response) });
    const answering =
      answerItself(request, response, { crossOrigin, audit: admission.audit, isOpen, doors }) ??
      answerPlayground() ??
      streams.answer(request, response) ??
      answerQuery();
    answering.catch((error: unknown) => failed(response, error, log));
  };
  const server: Server =
    tls === undefined ? createServer(handle) : openTlsServer(tls, handle, { lookMs: options.tlsLookMs, log });
  server.on(tls === undefined ? 'connection' : 'secureConnection', (socket: Socket) => callerless.opened(socket));
  server.keepAliveTimeout = options.keepAliveMs ?? 75_000;
  server.requestTimeout = arrivalMs;
  server.on('checkExpectation', (_request, response: ServerResponse) => {
    response.writeHead(417, Object.fromEntries(guards)).end();
  });
  const sockets = openSockets();
  const webSockets = serveWebSockets(protocol, sockets, { log, drain, unsent });
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const refused = refusedRequest(request, { crossOrigin, audit: admission.audit, isOpen });
    if (refused !== null) return refuseUpgrade(socket, refused.status, refused.type, refused.body);
    if (pathOf(request) !== endpoint) return refuseUpgrade(socket, 403, '', '');
    callerless.upgraded(request.socket);
    request.socket.once('close', unsent.watch(request.socket));
    sockets.handleUpgrade(request, socket, head, (opened) => sockets.emit('connection', opened, request));
  });
  if (options.siblings !== undefined) {
    siblings = await SiblingStreams.open(options.siblings, handle, (socket) => callerless.known(socket));
  }
  await listen(server, { host, port }, siblings !== null);
  const { port: taken } = server.address() as AddressInfo;
  const shown = host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
  let closing: Promise<unknown> | null = null;
  return {
    url: `${tls === undefined ? 'http' : 'https'}://${shown}:${taken}${endpoint}`,
    port: taken,
    drain: (ms, signal) => drain.begin(ms, signal),
    async close() {
      tls?.close();
      closing ??= shutdown(server, sockets, webSockets).finally(() => {
        unsent.close();
        return Promise.all([siblings?.close(), yoga.dispose()]);
      });
      await closing;
    },
  };
}

function playgroundOf(options: ServerOptions, profiles: Profiles): Playground {
  return new Playground({
    source: options.source,
    written: options.tabs,
    folder: options.playground ?? playgroundFolder,
    profiles: () => profiles.names(),
    authenticates: options.authenticate !== undefined,
    clock: systemClock,
  });
}

/** Authenticates, and notes the caller of the connection. */
function noting(authenticate: Authenticate, note: (socket: Socket, caller: Caller) => void): Authenticate {
  return (credentials, span) => {
    const socket = connectionOf(credentials);
    const known = (caller: Caller): Caller => {
      if (socket !== undefined) note(socket, caller);
      return caller;
    };
    const found = authenticate(credentials, span);
    return found instanceof Promise ? found.then(known) : known(found);
  };
}

/** Answers a request of which something failed that should not. The caller learns nothing of it but a number. */
function failed(response: ServerResponse, error: unknown, log: Logger): void {
  // A client that has gone gets no answer, and that is no defect.
  if (response.socket === null || response.socket.destroyed) {
    log.debug({ error: messageOf(error) }, 'a client left before its answer');
    return;
  }
  const coded = codedError(error, log);
  if (response.headersSent) response.destroy();
  else response.writeHead(500, { 'content-type': jsonType }).end(JSON.stringify({ errors: [coded] }));
}

/** Ends the stream of events with the drain, and when too many of its bytes wait. */
function boundEvents(request: IncomingMessage, response: ServerResponse, drain: Drain, unsent: UnsentAnswers): void {
  response.once(
    'close',
    drain.add(() => endStream(response)),
  );
  response.once('close', unsent.watch(request.socket));
  // Yoga writes the events. Too many bytes that wait must be seen at once.
  const write = response.write.bind(response) as (...given: readonly unknown[]) => boolean;
  response.write = (...given: readonly unknown[]): boolean => {
    const isTaken = write(...given);
    unsent.check(request.socket);
    return isTaken;
  };
}

/** Takes upgrades; a request that is no right upgrade is refused. */
function openSockets(): WebSocketServer {
  // One message in each turn of the event loop, so that many messages at once do not delay other connections.
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: maxRequestBytes,
    allowSynchronousEvents: false,
    handleProtocols: chosenSubprotocol,
  });
  sockets.on('wsClientError', (error, socket) => {
    const body = JSON.stringify({ errors: [{ message: `${error.message}.`, extensions: { code: 'BAD_USER_INPUT' } }] });
    refuseUpgrade(socket, 400, jsonType, body, ['Sec-WebSocket-Version: 13']);
  });
  return sockets;
}

/** Ends an event stream. Another answer to a client that would take a stream is left alone. */
function endStream(response: ServerResponse): void {
  if (String(response.getHeader('content-type')).startsWith('text/event-stream')) response.destroy();
}

async function shutdown(
  server: Server,
  sockets: WebSocketServer,
  protocol: ReturnType<typeof serveWebSockets>,
): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const late = setTimeout(() => {
    for (const socket of sockets.clients) socket.terminate();
    server.closeAllConnections();
  }, grace);
  await Promise.race([protocol.dispose(), closed]);
  server.closeIdleConnections();
  await closed;
  clearTimeout(late);
}

/** Answers and ends the connection. */
function refuseUpgrade(
  socket: Duplex,
  status: 400 | 403,
  type: string,
  body: string,
  more: readonly string[] = [],
): void {
  socket.on('error', () => socket.destroy());
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Connection: close',
    ...guards.map(([name, value]) => `${name}: ${value}`),
    ...(type === '' ? [] : [`Content-Type: ${type}`]),
    ...more,
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}

interface Answering {
  readonly crossOrigin: CrossOrigin;
  readonly audit: AuditLog;
  readonly isOpen: boolean;
  readonly doors: ReadonlyMap<string, Door>;
}

/** Answers every path except the GraphQL endpoint; null for the endpoint. */
function answerItself(
  request: IncomingMessage,
  response: ServerResponse,
  { crossOrigin, audit, isOpen, doors }: Answering,
): Promise<void> | null {
  const refused = refusedRequest(request, { crossOrigin, audit, isOpen });
  for (const [name, value] of guards) response.setHeader(name, value);
  response.setHeader('vary', 'Origin');
  if (refused !== null) {
    response.writeHead(refused.status, { 'content-type': refused.type }).end(refused.body);
    return Promise.resolve();
  }
  if (!crossOrigin.admit(request, response)) return Promise.resolve();
  const path = pathOf(request);
  if (path === endpoint) return null;
  const door = doors.get(path);
  if (door !== undefined) return door.answer(request, response);
  if (path !== '/') {
    return sendJson(request, response, 404, { error: `There is nothing here; GraphQL is at ${endpoint}.` });
  }
  // Relative, because a proxy may serve the gateway under a path of its own.
  response.writeHead(302, { location: `.${endpoint}` }).end();
  return Promise.resolve();
}
