/**
 * The site of an application in front of the gateway: one origin with a page, its script, and /graphql passed on to the gateway over
 * HTTP and WebSocket. It is also the network that a test can break: WebSockets can be cut, new ones kept waiting, and the answer of
 * one operation held back.
 */
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { buffer } from 'node:stream/consumers';

export interface Site {
  /** Of the page. */
  readonly url: string;
  /** How many WebSockets were opened. */
  readonly upgrades: number;
  /** Cuts all WebSockets in the middle; new ones wait until `mend`. */
  cut(): void;
  mend(): void;
  /** From now on, requests and new WebSockets go to this gateway. */
  moveTo(gateway: string): void;
  /** Keeps answers to bodies that contain this text, until the returned function is called; `arrived` when one is kept. */
  holdBack(text: string): { readonly arrived: Promise<void>; release(): void };
  close(): Promise<void>;
}

export async function startSite(gateway: string, script: string): Promise<Site> {
  let { port, hostname } = new URL(gateway);
  const sockets = new Set<Duplex>();
  const webSockets = new Set<Duplex>();
  const waiting: (() => void)[] = [];
  let isCut = false;
  let upgrades = 0;
  let held: { readonly text: string; readonly arrive: () => void; readonly released: Promise<void> } | null = null;

  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    if (pathname === '/graphql') void passOn(request, response).catch(() => response.destroy());
    else if (pathname === '/page.js')
      response.writeHead(200, { 'content-type': 'text/javascript; charset=utf-8' }).end(script);
    else if (pathname === '/') response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(html);
    else response.writeHead(404).end();
  });

  async function passOn(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request);
    const keep = held !== null && body.includes(held.text) ? held : null;
    const passed = httpRequest({ hostname, port, path: request.url, method: request.method, headers: request.headers });
    passed.on('error', () => response.destroy());
    passed.on('response', async (answer) => {
      const content = await buffer(answer);
      keep?.arrive();
      await keep?.released;
      response
        .writeHead(answer.statusCode ?? 502, { 'content-type': answer.headers['content-type'] ?? 'application/json' })
        .end(content);
    });
    passed.end(body);
  }

  server.on('connection', (socket) => track(socket, sockets));
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    upgrades += 1;
    track(socket, webSockets);
    const pass = (): void => {
      if (socket.destroyed) return;
      const inner = connect(Number(port), hostname);
      track(inner, sockets);
      const lines = [`${request.method} ${request.url} HTTP/1.1`];
      for (let i = 0; i < request.rawHeaders.length; i += 2)
        lines.push(`${request.rawHeaders[i]}: ${request.rawHeaders[i + 1]}`);
      inner.write(`${lines.join('\r\n')}\r\n\r\n`);
      inner.write(head);
      inner.pipe(socket).pipe(inner);
      inner.on('close', () => socket.destroy());
      socket.on('close', () => inner.destroy());
    };
    if (isCut) waiting.push(pass);
    else pass();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  return {
    url: `${origin}/`,
    get upgrades() {
      return upgrades;
    },
    cut() {
      isCut = true;
      for (const socket of webSockets) socket.destroy();
    },
    mend() {
      isCut = false;
      for (const pass of waiting.splice(0)) pass();
    },
    moveTo(another) {
      ({ port, hostname } = new URL(another));
    },
    holdBack(text) {
      const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>();
      const { promise: released, resolve: release } = Promise.withResolvers<void>();
      held = { text, arrive, released };
      return {
        arrived,
        release() {
          held = null;
          release();
        },
      };
    },
    async close() {
      for (const socket of [...webSockets, ...sockets]) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function track(socket: Socket | Duplex, all: Set<Duplex>): void {
  all.add(socket);
  socket.on('error', () => {});
  socket.on('close', () => all.delete(socket));
}

const html = `<!doctype html><meta charset="utf-8"><title>Clients</title><link rel="icon" href="data:,"><script src="/page.js"></script>`;
