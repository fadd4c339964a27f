/**
 * WebSockets: the connections of the graphql-transport-ws protocol (operations-protocol.ts answers their messages).
 *
 * Owns: pings, which find dead connections, and the end of a connection.
 *
 *   connection -> init, ack -> subscribe … complete -> closed (by client, missed ping or dispose) -> its operations and reads end
 */
import type { IncomingMessage } from 'node:http';
import type { Server as ProtocolServer } from 'graphql-ws';
import type { WebSocket, WebSocketServer } from 'ws';
import { messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { Drain } from '../connections/drain.ts';
import type { UnsentAnswers } from '../connections/unsent-answers.ts';
import type { Connection } from './operations-protocol.ts';
import { JointWrites } from './socket-events.ts';
import { CloseCode, clientMessage, closeReason, refuseSubprotocol } from './socket-protocol.ts';

/** Milliseconds between pings. A connection without a pong since the last ping is terminated. */
const heartbeat = 12_000;

interface WebSocketOptions {
  readonly log: Logger;
  readonly drain: Drain;
  readonly unsent: UnsentAnswers;
}

/** Answers the protocol on every connection of `sockets`; the returned `dispose` ends them with 1001. */
export function serveWebSockets(
  protocol: ProtocolServer<Connection>,
  sockets: WebSocketServer,
  { log, drain, unsent }: WebSocketOptions,
): { dispose(): Promise<void> } {
  const alive = new WeakSet<WebSocket>();
  const pings = setInterval(() => {
    for (const socket of sockets.clients) {
      if (!alive.delete(socket) && !socket.isPaused) socket.terminate();
      else socket.ping();
    }
  }, heartbeat);
  pings.unref();

  sockets.on('connection', (socket: WebSocket, request: IncomingMessage) => {
    const lost = new AbortController();
    alive.add(socket);
    socket.on('pong', () => alive.add(socket));
    socket.on('error', (error) => log.debug({ error: messageOf(error) }, 'a WebSocket failed'));
    if (refuseSubprotocol(socket)) return;
    const written = (): void => unsent.check(request.socket);
    const close = (code: number, reason: string): void => socket.close(code, closeReason(reason));
    const closed = protocol.opened(
      {
        protocol: socket.protocol,
        send: (text) => sendText(socket, text, written),
        close,
        onMessage: (take) => {
          socket.on('message', (received: Buffer) => {
            const text = clientMessage(received.toString('utf8'));
            if (text === null) return close(CloseCode.badRequest, 'Only servers send messages of this type');
            take(text).catch((error: unknown) => {
              // A client that has gone gets no answer, and that is no defect.
              if (lost.signal.aborted || socket.readyState !== socket.OPEN) {
                log.debug({ error: messageOf(error) }, 'a client left before its answer');
                return;
              }
              log.error({ error: messageOf(error) }, 'a WebSocket message could not be handled');
              close(CloseCode.internalError, 'Internal server error');
            });
          });
        },
      },
      {
        socket,
        writes: new JointWrites(request.socket, written),
        signal: lost.signal,
        request,
        name: 'WebSocket',
        admitted: null,
        params: undefined,
        waiting: 0,
        close,
      },
    );
    const leaveDrain = drain.add(() => close(CloseCode.goingAway, 'Going away'));
    socket.once('close', (code, reason) => {
      leaveDrain();
      lost.abort();
      void closed(code, reason.toString('utf8'));
    });
  });

  return {
    async dispose() {
      clearInterval(pings);
      for (const socket of sockets.clients) socket.close(CloseCode.goingAway, 'Going away');
      await new Promise<void>((resolve) => sockets.close(() => resolve()));
    },
  };
}

/** Resolves when the text has been written to the network, so that a slow client slows its subscription. */
function sendText(socket: WebSocket, text: string, written: () => void): Promise<void> {
  return new Promise((resolve, reject) => {
    if (socket.readyState !== socket.OPEN) return resolve();
    socket.send(text, (error) => (error ? reject(error) : resolve()));
    written();
  });
}
