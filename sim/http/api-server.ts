/**
 * The HTTP server: routes each request of one node:http server to its handler.
 *
 * Order, as in a real server: availability -> hooks -> health -> authentication -> authorization -> version -> OpenAPI
 * and discovery -> the resource. Every failure is a Status. Never: holds state besides open sockets.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { messageOf } from '../../src/base/errors.ts';
import type { Logger } from '../../src/base/log.ts';
import type { Callers } from '../access/callers.ts';
import type { Rbac } from '../access/rbac.ts';
import { versionInfo } from '../builtin/kubernetes-version.ts';
import { statusErrors } from '../objects/status-error.ts';
import type { ResourceRegistry } from '../resources/resource-registry.ts';
import type { AnswerHooks } from './answer-hooks.ts';
import { authorize } from './authorize.ts';
import { Discovery } from './discovery.ts';
import { OpenApi, type OpenApiDocument } from './openapi.ts';
import { parseResourcePath } from './request-info.ts';
import type { ResourceHandlers } from './resource-handlers.ts';
import { sendError, sendJson, sendText } from './respond.ts';

interface ApiServerOptions {
  readonly registry: ResourceRegistry;
  readonly handlers: ResourceHandlers;
  readonly log: Logger;
  readonly hooks: AnswerHooks | undefined;
  readonly aggregatedDiscovery: boolean;
  readonly openapiV3: boolean;
  readonly callers: Callers;
  readonly rbac: Rbac;
}

export class ApiServer {
  readonly #options: ApiServerOptions;
  readonly #discovery: Discovery;
  readonly #openapi: OpenApi;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #available = true;
  #requests = 0;

  constructor(options: ApiServerOptions) {
    this.#options = options;
    this.#discovery = new Discovery(options.registry);
    this.#openapi = new OpenApi(options.registry);
    this.#server = createServer({ keepAlive: true, noDelay: true, requestTimeout: 0 }, (request, response) => {
      void this.#serve(request, response);
    });
    this.#server.keepAliveTimeout = 90_000;
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
    });
  }

  /** How many requests have been received. */
  get requests(): number {
    return this.#requests;
  }

  /** Listens; resolves to the port. */
  listen(port: number, host: string): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, host, () => resolve((this.#server.address() as AddressInfo).port));
    });
  }

  /** While false, every request is answered with 503 and open watches are cut. */
  setAvailable(available: boolean): void {
    this.#available = available;
    if (!available) this.#options.handlers.dropWatches();
  }

  /** Destroys every socket. */
  close(): Promise<void> {
    this.#options.handlers.dropWatches();
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      for (const socket of this.#sockets) socket.destroy();
    });
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.#requests++;
    response.on('error', () => response.destroy());
    try {
      await this.#route(request, response);
    } catch (error) {
      this.#options.log.debug({ url: request.url, error: messageOf(error) }, 'a request was refused');
      sendError(response, error);
    }
  }

  async #route(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!this.#available) throw statusErrors.unavailable();
    const url = new URL(request.url ?? '/', 'http://localhost');
    const path = url.pathname.length > 1 ? url.pathname.replace(/\/+$/, '') : url.pathname;
    const about = parseResourcePath(path);
    if (this.#options.hooks?.request(request, response, about, url.searchParams)) return;
    const probe = /^\/(healthz|readyz|livez)(\/|$)/.test(path);
    if (probe) return sendText(response, 200, 'ok', { 'Content-Type': 'text/plain; charset=utf-8' });
    const caller = this.#options.callers.identify(request.headers.authorization);
    authorize(this.#options.rbac, caller, { method: request.method ?? 'GET', path, about, params: url.searchParams });
    if (path === '/version') return sendJson(response, 200, versionInfo);
    if (path === '/openapi' || path.startsWith('/openapi/'))
      return this.#openapiAnswer(request, response, path, url.searchParams);
    if (path === '/')
      return sendJson(response, 200, {
        paths: ['/api', '/apis', '/healthz', '/livez', '/openapi/v2', '/openapi/v3', '/readyz', '/version'],
      });
    const { accept } = request.headers;
    if (request.method === 'GET' || request.method === 'HEAD') {
      const found = this.#discovery.answer(path, accept, this.#options.aggregatedDiscovery);
      if (found) {
        const other = this.#options.hooks?.discovery(path, found.body);
        if (other) return sendJson(response, 200, other, { 'Content-Type': found.headers['Content-Type'] ?? '' });
        const etag = found.headers.ETag;
        if (etag !== undefined && request.headers['if-none-match'] === etag) {
          response.writeHead(304, { ETag: etag }).end();
          return;
        }
        return sendJson(response, 200, found.body, found.headers);
      }
    }
    const resource = about && this.#options.registry.find(about.group, about.version, about.plural);
    if (!about || !this.#options.registry.hasGroupVersion(about.group, about.version)) {
      sendText(response, 404, '404 page not found\n', { 'Content-Type': 'text/plain; charset=utf-8' });
      return;
    }
    if (!resource) throw statusErrors.noSuchPath();
    await this.#options.handlers.handle(request, response, resource, about, url.searchParams, caller);
  }

  #openapiAnswer(request: IncomingMessage, response: ServerResponse, path: string, params: URLSearchParams): void {
    if (request.method !== 'GET') throw statusErrors.methodNotAllowed();
    if (path === '/openapi/v2') {
      sendDocument(request, response, this.#openapi.v2(), {});
      return;
    }
    if (!this.#options.openapiV3 || !path.startsWith('/openapi/v3')) throw statusErrors.noSuchPath();
    if (path === '/openapi/v3') {
      sendJson(response, 200, this.#openapi.v3Index());
      return;
    }
    const name = decodeURIComponent(path.slice('/openapi/v3/'.length));
    const document = this.#openapi.v3(name);
    if (!document) throw statusErrors.noSuchPath();
    const hash = params.get('hash');
    if (hash !== null && hash !== document.hash) {
      response.writeHead(301, { Location: `/openapi/v3/${name}?hash=${document.hash}` }).end();
      return;
    }
    sendDocument(
      request,
      response,
      document,
      hash === null ? {} : { 'Cache-Control': 'public, immutable', Vary: 'Accept' },
    );
  }
}

function sendDocument(
  request: IncomingMessage,
  response: ServerResponse,
  document: OpenApiDocument,
  headers: Record<string, string>,
): void {
  const etag = `"${document.hash}"`;
  if (request.headers['if-none-match'] === etag) {
    response.writeHead(304, { ETag: etag }).end();
    return;
  }
  sendText(response, 200, document.text, { ETag: etag, ...headers });
}
