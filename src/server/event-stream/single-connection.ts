/**
 * GraphQL over Server-Sent Events, single connection mode: one stream carries the results of all operations of a client.
 *
 *   PUT                        a reservation: 201 and its token
 *   GET, with the token        the stream of the reservation
 *   POST, with the token       an operation: 202; its results are events with the id in extensions.operationId
 *   DELETE ?operationId=       ends an operation: 200
 *
 * A request with a token must come from the caller of the reservation. The messages of the operations go through the protocol of the
 * WebSockets, so their limits, costs and rights are those of WebSockets. A stream counts as a connection of its caller.
 *
 * Invariants: a reservation without a stream ends after `reservedMs`; one caller has at most `mostReserved` of them. A reservation has at
 * most one stream, and ends with it. A stream on which `mostUnsent` bytes wait takes no operation. An id is taken until its operation has
 * ended.
 */
import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Server as ProtocolServer, validateMessage } from 'graphql-ws';
import { type Caller, isSameUser, userKey } from '../../access/caller.ts';
import type { Admission } from '../../admission/admission.ts';
import type { AdmittedRequest } from '../../admission/admitted-request.ts';
import { messageOf, PortolanError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { Generation } from '../../graphql/generation/generation.ts';
import { type AdmittedAnswer, answerAdmitted, sendRefusal } from '../doors/door.ts';
import { prefersEvents } from '../negotiation/accepted-type.ts';
import { peerOf } from '../negotiation/client-certificates.ts';
import { parseRequestJson } from '../negotiation/request-json.ts';
import { searchOf } from '../negotiation/request-url.ts';
import type { Connection } from '../websocket/operations-protocol.ts';
import { JointWrites } from '../websocket/socket-events.ts';
import { CloseCode, clientMessage } from '../websocket/socket-protocol.ts';
import { EventSocket } from './event-socket.ts';
import { noStream, type SiblingStreams } from './sibling-streams.ts';

const tokenHeader = 'x-graphql-event-stream-token';
/** Milliseconds in which a client opens the stream of a reservation. */
const reservedMs = 10_000;
const mostReserved = 100;
/** Bytes that wait for the network on a stream, above which it takes no further operation. */
const mostUnsent = 1024 * 1024;
/** Characters of the id of an operation. */
const longestId = 200;

interface SingleConnectionParts {
  readonly protocol: ProtocolServer<Connection>;
  readonly admission: Admission<Generation>;
  /** The path of the endpoint. */
  readonly path: string;
  readonly maxRequestBytes: number;
  readonly log: Logger;
  /** The streams of the gateway's other processes; null where this one is alone. */
  readonly siblings: () => SiblingStreams | null;
}

interface Stream {
  /** Ids of the operations that have not ended. */
  readonly operations: Set<string>;
  readonly socket: EventSocket;
  /** Handles a message of the protocol. Resolves when its operation has ended. */
  take(message: object): Promise<void>;
}

interface Reservation {
  readonly caller: Caller;
  /** Rejects when the reservation ends without one. */
  readonly stream: Promise<Stream>;
  isOpened: boolean;
  /** Called when the stream has begun. */
  opened(stream: Stream): void;
  /** Ends the reservation, with its stream or without one. */
  end(): void;
}

export class SingleConnections {
  readonly #parts: SingleConnectionParts;
  readonly #reservations = new Map<string, Reservation>();
  /** Reservations without a stream, by caller. */
  readonly #waiting = new Map<string, number>();

  constructor(parts: SingleConnectionParts) {
    this.#parts = parts;
  }

  /** Answers a request of this mode; null for every other request. */
  answer(request: IncomingMessage, response: ServerResponse): Promise<void> | null {
    const answering = this.#answering(request);
    if (answering === null) return null;
    const siblings = this.#parts.siblings();
    const other = request.method === 'PUT' ? null : (siblings?.otherOf(tokenIn(request) ?? '') ?? null);
    if (siblings !== null && other !== null) return this.#pass(siblings, other, request, response);
    const { admission, path } = this.#parts;
    return answerAdmitted(admission, path, request, response, answering);
  }

  async #pass(
    siblings: SiblingStreams,
    other: number,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    try {
      await siblings.pass(other, request, response, boundedBody(request, response, this.#parts.maxRequestBytes));
    } catch (error) {
      if (!(error instanceof PortolanError)) throw error;
      sendRefusal(response, error);
    }
  }

  #answering(request: IncomingMessage): AdmittedAnswer | null {
    const { method, headers } = request;
    if (method === 'PUT') return (asked, answer, { caller }) => this.#reserve(asked, answer, caller);
    if (tokenIn(request) === null) return null;
    if (method === 'POST') return (asked, answer, admitted) => this.#operate(asked, answer, admitted);
    if (method === 'DELETE') return (asked, answer, admitted) => this.#complete(asked, answer, admitted);
    const isStream = method === 'GET' && prefersEvents(headers.accept ?? null);
    return isStream ? (...given) => this.#open(...given) : null;
  }

  async #reserve(request: IncomingMessage, response: ServerResponse, caller: Caller): Promise<void> {
    const siblings = this.#parts.siblings();
    if (siblings !== null && peerOf(request.socket) !== null) {
      throw new PortolanError(
        'BAD_USER_INPUT',
        'A gateway with several processes has no single connection mode for callers with certificates; use a WebSocket, or a stream for each operation.',
      );
    }
    const key = caller.user === null ? '' : userKey(caller.user);
    const waiting = this.#waiting.get(key) ?? 0;
    if (waiting >= mostReserved) {
      throw new PortolanError('TOO_MANY_REQUESTS', `${waiting} reservations wait for their streams; open these first.`);
    }
    this.#waiting.set(key, waiting + 1);
    const random = randomBytes(24).toString('base64url');
    const token = siblings?.signed(random) ?? random;
    const { promise: stream, resolve, reject } = Promise.withResolvers<Stream>();
    stream.catch(() => {});
    let isWaiting = true;
    const settled = (): void => {
      clearTimeout(late);
      if (!isWaiting) return;
      isWaiting = false;
      const left = (this.#waiting.get(key) ?? 1) - 1;
      if (left === 0) this.#waiting.delete(key);
      else this.#waiting.set(key, left);
    };
    const end = (): void => {
      this.#reservations.delete(token);
      settled();
      // Nothing happens if the stream has begun.
      reject(noStream());
    };
    const late = setTimeout(end, reservedMs).unref();
    const opened = (found: Stream): void => {
      settled();
      resolve(found);
    };
    const reservation: Reservation = { caller, stream, isOpened: false, opened, end };
    this.#reservations.set(token, reservation);
    response.writeHead(201, { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' }).end(token);
  }

  /** The reservation of a request. @throws PortolanError NOT_FOUND, also for the one of another caller */
  #reservationOf(request: IncomingMessage, { caller }: AdmittedRequest): Reservation {
    const found = this.#reservations.get(tokenIn(request) ?? '');
    if (found === undefined || !isSameUser(found.caller, caller)) throw noStream();
    return found;
  }

  async #open(
    request: IncomingMessage,
    response: ServerResponse,
    admitted: AdmittedRequest,
    leave: () => void,
  ): Promise<void> {
    const reservation = this.#reservationOf(request, admitted);
    if (reservation.isOpened) throw new PortolanError('CONFLICT', 'The reservation has a stream already.');
    if (response.socket === null) {
      throw new PortolanError(
        'CONFLICT',
        'The connection has another answer to send first; open the stream on one of its own.',
      );
    }
    reservation.isOpened = true;
    // The client left while it was admitted.
    if (response.closed) return reservation.end();
    const lost = new AbortController();
    const socket = new EventSocket(response);
    const close = (code: number, reason: string): void => {
      if (response.writableEnded) return;
      // Results that wait must not reach a client whose credentials have ended.
      if (response.headersSent) response.destroy();
      else sendRefusal(response, refusalOfClose(code, reason));
    };
    let handle: (text: string) => Promise<void> = () => Promise.resolve();
    const closed = this.#parts.protocol.opened(
      {
        protocol: 'graphql-transport-ws',
        send: (text) => socket.sendMessage(text),
        close,
        onMessage(handler) {
          handle = handler;
        },
      },
      {
        socket,
        writes: new JointWrites(request.socket),
        signal: lost.signal,
        request,
        name: 'event stream',
        close,
        admitted: null,
        params: undefined,
        waiting: 0,
      },
    );
    response.once('close', () => {
      lost.abort();
      reservation.end();
      void closed(CloseCode.goingAway, '');
    });
    await handle(JSON.stringify({ type: 'connection_init' }));
    if (response.headersSent || response.closed) return reservation.end();
    socket.begin();
    // The stream counts as a connection.
    leave();
    const take = (message: object): Promise<void> => handle(clientMessage(JSON.stringify(message)) ?? '');
    reservation.opened({ operations: new Set(), socket, take });
  }

  async #operate(request: IncomingMessage, response: ServerResponse, admitted: AdmittedRequest): Promise<void> {
    const { admission, log } = this.#parts;
    const { stream } = this.#reservationOf(request, admitted);
    // The body is read when there is a stream, so that bodies do not wait in memory.
    const gone = new Promise<null>((left) => response.once('close', () => left(null)));
    const found = await Promise.race([stream, gone]);
    if (found === null) return;
    const { operations, socket, take } = found;
    if (socket.bufferedAmount > mostUnsent) {
      throw new PortolanError('TOO_MANY_REQUESTS', 'The client does not read its stream; read on, and send it again.');
    }
    await admission.turns.turn(admitted.caller.name);
    const message = subscribeMessage(await this.#bodyOf(request, response), request);
    const { id } = message;
    // The stream may have ended while the body came.
    this.#reservationOf(request, admitted);
    if (operations.has(id)) throw new PortolanError('CONFLICT', `The operation ${JSON.stringify(id)} has not ended.`);
    operations.add(id);
    response.writeHead(202).end();
    take(message)
      .catch((error: unknown) => log.error({ error: messageOf(error) }, 'an operation of an event stream failed'))
      .finally(() => operations.delete(id));
  }

  async #complete(request: IncomingMessage, response: ServerResponse, admitted: AdmittedRequest): Promise<void> {
    const { isOpened, stream } = this.#reservationOf(request, admitted);
    const id = searchOf(request).get('operationId') ?? '';
    if (isOpened) {
      const { operations, take } = await stream;
      if (operations.has(id)) await take({ id, type: 'complete' });
    }
    response.writeHead(200).end();
  }

  /** @throws PortolanError BAD_USER_INPUT for a body that is too long, or no JSON */
  async #bodyOf(request: IncomingMessage, response: ServerResponse): Promise<unknown> {
    const { maxRequestBytes } = this.#parts;
    if (!/json\b/i.test(request.headers['content-type'] ?? '')) {
      throw new PortolanError('BAD_USER_INPUT', 'Send the operation as application/json.');
    }
    const pieces: Buffer[] = [];
    for await (const piece of boundedBody(request, response, maxRequestBytes)) pieces.push(piece);
    try {
      return parseRequestJson(Buffer.concat(pieces).toString('utf8'));
    } catch {
      throw new PortolanError('BAD_USER_INPUT', 'The body of the request must be JSON.');
    }
  }
}

/** The message of the protocol that begins the operation of a request. @throws PortolanError BAD_USER_INPUT */
function subscribeMessage(
  body: unknown,
  { headers: { traceparent, tracestate } }: IncomingMessage,
): { readonly id: string; readonly type: string; readonly payload: object } {
  const { extensions } = (body ?? {}) as { readonly extensions?: { readonly operationId?: unknown } | null };
  const id = extensions?.operationId;
  if (typeof id !== 'string' || id === '' || id.length > longestId) {
    const message = `Name the operation by the text extensions.operationId, of 1 to ${longestId} characters.`;
    throw new PortolanError('BAD_USER_INPUT', message);
  }
  // The trace is that of the operation's own request.
  const trace = traceparent === undefined ? {} : { traceparent, ...(tracestate === undefined ? {} : { tracestate }) };
  const payload = { ...(body as object), extensions: { ...trace, ...extensions } };
  const message = { id, type: 'subscribe', payload };
  const text = clientMessage(JSON.stringify(message)) ?? '';
  try {
    // A message that is not valid would close the stream.
    validateMessage(JSON.parse(text));
  } catch (error) {
    throw new PortolanError('BAD_USER_INPUT', `The operation is not valid: ${messageOf(error)}`);
  }
  return message;
}

/** The token of a request; null without one. A page's EventSource can send no headers. */
function tokenIn(request: IncomingMessage): string | null {
  const sent = request.headers[tokenHeader];
  if (sent !== undefined) return Array.isArray(sent) ? (sent[0] ?? null) : sent;
  return request.method === 'GET' ? searchOf(request).get('token') : null;
}

/** The answer to a request for a stream whose connection the protocol has closed before it began. */
function refusalOfClose(code: number, reason: string): PortolanError {
  if (code === CloseCode.tryAgainLater) return new PortolanError('TOO_MANY_REQUESTS', reason);
  return new PortolanError(code === CloseCode.forbidden ? 'FORBIDDEN' : 'UPSTREAM_UNAVAILABLE', reason);
}

/** The pieces of the body. @throws PortolanError BAD_USER_INPUT after `maxBytes`; the rest of the body is not read then. */
async function* boundedBody(
  request: IncomingMessage,
  response: ServerResponse,
  maxBytes: number,
): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const piece of request as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > maxBytes) {
      response.setHeader('connection', 'close');
      throw new PortolanError('BAD_USER_INPUT', `The operation has more than ${maxBytes} bytes.`);
    }
    yield piece;
  }
}
