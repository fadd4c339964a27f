/**
 * Which pages may use the gateway. The HTTP server asks before any other part sees a request, so Yoga, prepared answers and WebSockets
 * follow one rule. It concerns browsers: most other clients send no Origin.
 *
 *   no Origin, or the gateway's own (its host is the request's Host)   goes on; with TLS, only the origin of https is its own
 *   an Origin of --allow-origin                                        goes on; CORS headers let the page read the answer
 *   any other                                                          403 with the code FORBIDDEN
 *
 * Browsers send no Origin with a GET of an image, a script or a frame. They tell by Sec-Fetch-Site (W3C Fetch Metadata) that a page of
 * another site asks. Then the request is refused too, unless it opens the playground or loads a part of its page. Older browsers do not
 * send Sec-Fetch-Site. Their GET of a query needs a header that no page of another site can send: a token, or the content type of JSON.
 *
 * The check of the Host header (src/access/loopback.ts) comes first. Without it, a page could make its own name lead to this machine and
 * be of the same origin. Cookies are not used, so no answer allows credentials. But browsers send client certificates by
 * themselves, also for the WebSocket of a page that came over plain HTTP. An attacker in the network can forge that page.
 */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from '../../base/log.ts';
import { opensPlayground, partAsked } from './playground-request.ts';

const forced =
  'A browser sends this request for a page of another site, which may not use this gateway. A page of an origin of --allow-origin must ask with CORS; a browser that sends no Sec-Fetch-Site must POST the query, or send a GET with the content type application/json.';

/** Seconds for which a browser may keep the answer to a preflight; Chrome keeps none longer. */
const preflightSeconds = '7200';
/** Refused origins that are logged, each once. Any page can make an entry, so there is a limit. */
const mostLogged = 16;

/** A URL without a port has these. */
const defaultPorts: Readonly<Record<string, number>> = { 'http:': 80, 'ws:': 80, 'https:': 443, 'wss:': 443 };

/** An answer to a refused request. */
interface Refusal {
  readonly message: string;
  readonly type: string;
  /** A GraphQL response with one error. */
  readonly body: string;
}

export class CrossOrigin {
  readonly #allowed: () => readonly string[];
  readonly #log: Logger;
  readonly #isTls: boolean;
  readonly #logged = new Set<string>();

  /**
   * @param allowed origins as browsers write them.
   * @param isTls does the gateway itself serve TLS? Otherwise, a proxy in front may do it, and the scheme is unknown.
   */
  constructor(allowed: () => readonly string[], log: Logger, isTls: boolean) {
    this.#allowed = allowed;
    this.#log = log;
    this.#isTls = isTls;
  }

  /** The answer to a request of a page that may not use the gateway; null for every other request. */
  refusalOf(request: Pick<IncomingMessage, 'method' | 'url' | 'headers'>): Refusal | null {
    const { origin, host } = request.headers;
    if (origin === undefined) return isForced(request) ? refusal(forced) : null;
    if (this.#allowed().includes(origin) || this.#isOwn(origin, host)) return null;
    const page = URL.canParse(origin) ? origin.slice(0, 300) : null;
    const message =
      page === null
        ? 'The page has no origin: it is a file or a sandboxed frame. Serve it over HTTP, and start the gateway with --allow-origin and its origin.'
        : `Pages of ${page} may not use this gateway. To allow them, start it with --allow-origin ${page}.`;
    if (page !== null && !this.#logged.has(page) && this.#logged.size < mostLogged) {
      this.#logged.add(page);
      this.#log.warn({ origin: page }, `a page was refused; to allow it, start with --allow-origin ${page}`);
    }
    return refusal(message);
  }

  /** Sets the CORS headers of a response to a request that is not refused. Returns false if it answered it itself: a preflight. */
  admit(request: IncomingMessage, response: ServerResponse): boolean {
    const { method, headers } = request;
    const { origin } = headers;
    if (origin === undefined || !this.#allowed().includes(origin)) return true;
    response.setHeader('access-control-allow-origin', origin);
    if (method !== 'OPTIONS' || headers['access-control-request-method'] === undefined) return true;
    const wanted = headers['access-control-request-headers'];
    response
      .writeHead(204, {
        // PUT and DELETE are those of event streams in single connection mode.
        'access-control-allow-methods': 'GET, POST, PUT, DELETE',
        ...(wanted === undefined ? {} : { 'access-control-allow-headers': wanted }),
        'access-control-max-age': preflightSeconds,
        vary: 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers',
      })
      .end();
    return false;
  }

  /**
   * Is the page one of the gateway itself, or of a proxy that passes its Host on? Apollo iOS sends the URL of the WebSocket as its Origin,
   * and a Host with the default port.
   */
  #isOwn(origin: string, host: string | undefined): boolean {
    if (!URL.canParse(origin)) return false;
    const { protocol, host: own } = new URL(origin);
    if (this.#isTls && protocol !== 'https:' && protocol !== 'wss:') return false;
    return own === host || `${own}:${defaultPorts[protocol]}` === host;
  }
}

function refusal(message: string): Refusal {
  const body = JSON.stringify({ errors: [{ message, extensions: { code: 'FORBIDDEN' } }] });
  return { message, type: 'application/json; charset=utf-8', body };
}

/** Can a page of another site make a browser send this request, without asking by CORS? */
function isForced({ method, url = '', headers }: Pick<IncomingMessage, 'method' | 'url' | 'headers'>): boolean {
  const site = headers['sec-fetch-site'];
  if (site === 'same-origin' || site === 'none') return false;
  if (partAsked({ method, url }) !== null) return false;
  const opensPage = opensPlayground({ method, headers });
  if (site !== undefined) {
    return !(opensPage && headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document');
  }
  if (method === 'POST' || opensPage || !url.includes('?')) return false;
  return isBrowser(headers) && !isDeliberate(headers);
}

/** A page of another site can set none of these without asking by CORS. */
function isDeliberate(headers: IncomingHttpHeaders): boolean {
  return (
    headers.authorization !== undefined ||
    /json\b/i.test(headers['content-type'] ?? '') ||
    headers['x-requested-with'] !== undefined ||
    headers['apollo-require-preflight'] !== undefined
  );
}

function isBrowser(headers: IncomingHttpHeaders): boolean {
  return headers['user-agent']?.startsWith('Mozilla/') === true;
}
