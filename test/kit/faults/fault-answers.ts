/** Faults that replace a response, and faults that change a request or a discovery document. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ResourcePath } from '../../../sim/http/request-info.ts';
import { sendText } from '../../../sim/http/respond.ts';
import { asArray, asObject, at, type JsonObject } from '../../../sim/objects/json.ts';
import { StatusError, statusErrors } from '../../../sim/objects/status-error.ts';
import type { Faults, RequestKind } from './faults.ts';
import { revealVersion } from './opaque-versions.ts';

const page = '<html><head><title>Bad Gateway</title></head><body><h1>The proxy has no answer</h1></body></html>\n';

/** The kind of a request for a collection; undefined for all other requests. */
function requestKind(
  method: string | undefined,
  about: ResourcePath,
  params: URLSearchParams,
): RequestKind | undefined {
  if (method !== 'GET' || about.name !== undefined) return undefined;
  if (about.watch || /^(true|1)$/.test(params.get('watch') ?? '')) return 'watch';
  return params.has('continue') ? 'page' : 'list';
}

export class FaultAnswers {
  readonly #faults: Faults;
  /** The number of the last requested page of the newest list, by plural. */
  readonly #pages = new Map<string, number>();

  constructor(faults: Faults) {
    this.#faults = faults;
  }

  /** Sends a response or throws a Status when a fault applies to the request; false otherwise. */
  answer(
    request: IncomingMessage,
    response: ServerResponse,
    about: ResourcePath | undefined,
    params: URLSearchParams,
  ): boolean {
    const faults = this.#faults;
    const plural = about?.plural;
    const kind = about && requestKind(request.method, about, params);
    const number = this.#page(plural, kind);
    if (!faults.active) return false;
    if (faults.take('F26', plural)) throw statusErrors.unauthorized();
    const group = faults.on('F30', plural)?.group;
    if (group !== undefined && about?.group === group && faults.take('F30', plural)) throw statusErrors.unavailable();
    if (kind === undefined || about === undefined) return false;
    const allowed = faults.on('F27', plural)?.except ?? [];
    if (!allowed.includes(about.namespace ?? '') && faults.take('F27', plural))
      throw statusErrors.forbidden(about, '', 'the right was taken away');
    if (faults.on('F23', plural)?.on === kind) {
      const { retryAfterSeconds = 1 } = faults.take('F23', plural) ?? {};
      const message = 'the server has received too many requests, please try again later';
      throw new StatusError(429, 'TooManyRequests', message, { retryAfterSeconds });
    }
    const html = faults.take('F31', plural);
    if (html) {
      sendText(response, html.status, page, { 'Content-Type': 'text/html; charset=utf-8' });
      return true;
    }
    return kind === 'watch' ? this.#watch(response, about) : this.#list(response, about, params, kind, number);
  }

  /** Replaces a hidden resourceVersion (F53) in the request by the real one. */
  reveal(about: ResourcePath | undefined, params: URLSearchParams): void {
    const version = params.get('resourceVersion');
    if (version === null || !this.#faults.on('F53', about?.plural)) return;
    params.set('resourceVersion', revealVersion(version));
  }

  /** Discovery of all groups with the faulty group stale and empty; undefined when the fault does not apply. */
  staleDiscovery(path: string, body: JsonObject): JsonObject | undefined {
    const group = this.#faults.on('F30', undefined)?.group;
    if (path !== '/apis' || group === undefined || body.kind !== 'APIGroupDiscoveryList') return undefined;
    const items = asArray(body.items).map((item) => {
      if (at(item, 'metadata', 'name') !== group) return item;
      const versions = asArray(at(item, 'versions')).map((version) => ({
        ...asObject(version),
        freshness: 'Stale',
        resources: [],
      }));
      return { ...asObject(item), versions };
    });
    return { ...body, items };
  }

  #watch(response: ServerResponse, { plural }: ResourcePath): boolean {
    const faults = this.#faults;
    if (faults.take('F5', plural)) throw statusErrors.expired('too old resource version');
    const expired = faults.take('F6', plural) !== undefined;
    if (!expired && !faults.take('F3', plural)) return false;
    response.writeHead(200, { 'Content-Type': 'application/json' });
    response.end(expired ? expiredLine() : '');
    return true;
  }

  #list(
    response: ServerResponse,
    { plural }: ResourcePath,
    params: URLSearchParams,
    kind: RequestKind,
    number: number,
  ): boolean {
    const faults = this.#faults;
    const named = !/^0?$/.test(params.get('resourceVersion') ?? '');
    if (faults.take('F29', plural)) throw new StatusError(500, 'InternalError', 'conversion webhook failed');
    if (named && faults.take('F8', plural)) throw statusErrors.expired('too old resource version');
    const tooNew = named ? faults.take('F9', plural) : undefined;
    if (tooNew?.form === 'cause') throw statusErrors.tooLargeResourceVersion(2, 1);
    if (tooNew) throw new StatusError(504, 'Timeout', 'Timeout: Too large resource version: 2, current: 1');
    for (const fault of ['F10', 'F11'] as const) {
      if (faults.on(fault, plural)?.page !== number || !faults.take(fault, plural)) continue;
      const token = fault === 'F11' ? { continue: params.get('continue') } : {};
      throw new StatusError(410, 'Expired', 'The provided continue parameter is too old', {}, token);
    }
    if (kind !== 'list' || faults.on('F54', plural)?.form !== 'redirect') return false;
    faults.take('F54', plural);
    response.writeHead(302, { Location: 'http://127.0.0.1:1/elsewhere', 'Content-Length': 0 }).end();
    return true;
  }

  #page(plural: string | undefined, kind: RequestKind | undefined): number {
    if (plural === undefined || kind === undefined || kind === 'watch') return 0;
    const number = kind === 'list' ? 1 : (this.#pages.get(plural) ?? 0) + 1;
    this.#pages.set(plural, number);
    return number;
  }
}

/** The ERROR event that ends a watch whose version is too old. */
export function expiredLine(): string {
  return `{"type":"ERROR","object":${JSON.stringify(statusErrors.expired('too old resource version').status)}}\n`;
}
