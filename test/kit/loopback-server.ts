/**
 * A server on loopback with a test's answers, with or without TLS. It records its requests.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type ServerOptions } from 'node:https';
import type { Socket } from 'node:net';

export interface LoopbackServer {
  /** `http://127.0.0.1:<port>` or `https:...`. */
  readonly url: string;
  readonly port: number;
  readonly requests: readonly IncomingMessage[];
  /** The number of connections opened so far. */
  connections(): number;
  close(): Promise<void>;
}

export type Answer = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

export async function startLoopbackServer(answer: Answer, tls?: ServerOptions): Promise<LoopbackServer> {
  const requests: IncomingMessage[] = [];
  const sockets = new Set<Socket>();
  let opened = 0;
  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    requests.push(request);
    Promise.resolve(answer(request, response)).catch((error: unknown) => {
      response.statusCode = 599;
      response.end(String(error));
    });
  };
  const server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener);
  server.on('connection', (socket: Socket) => {
    opened += 1;
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  server.on('tlsClientError', () => {});
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    port,
    requests,
    connections: () => opened,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** Answers with JSON. */
export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

/** Answers with a Status, as the Kubernetes API reports failures. */
export function sendStatus(
  response: ServerResponse,
  code: number,
  reason: string,
  message: string,
  details?: object,
): void {
  sendJson(response, code, { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message, details });
}

/** Writes, and waits until the response accepts more data or the client has disconnected. */
export async function writeOrClose(response: ServerResponse, chunk: string): Promise<void> {
  if (response.write(chunk)) return;
  const done = new AbortController();
  const happens = (event: string): Promise<unknown> => once(response, event, { signal: done.signal }).catch(() => {});
  await Promise.race([happens('drain'), happens('close')]);
  done.abort();
}
