/**
 * Requests that no part of the gateway may see, over HTTP and for WebSockets:
 *
 *   a malformed Host or target                       400 with the code BAD_USER_INPUT
 *   without authentication, a name beside loopback   403 (src/access/loopback.ts)
 *   of a page that may not use the gateway           403 with the code FORBIDDEN (negotiation/cross-origin.ts)
 *
 * The audit gets those with 403.
 */
import type { IncomingMessage } from 'node:http';
import { isLoopbackHost } from '../../access/loopback.ts';
import type { AuditLog } from '../../admission/audit.ts';
import { addressOf } from './credentials.ts';
import type { CrossOrigin } from './cross-origin.ts';
import { pathOf } from './request-url.ts';

interface GuardOptions {
  readonly crossOrigin: CrossOrigin;
  readonly audit: AuditLog;
  /** May the gateway be reached by any name? */
  readonly isOpen: boolean;
}

/**
 * Headers of every answer. A browser takes an answer only for its content type. It does not show the answer to a page of another origin
 * that did not ask.
 */
export const guards = [
  ['X-Content-Type-Options', 'nosniff'],
  ['Cross-Origin-Resource-Policy', 'same-origin'],
] as const;

interface RefusedRequest {
  readonly status: 400 | 403;
  readonly type: string;
  readonly body: string;
}

/** The answer to a refused request; null for every other one. */
export function refusedRequest(
  request: IncomingMessage,
  { crossOrigin, audit, isOpen }: GuardOptions,
): RefusedRequest | null {
  const { host } = request.headers;
  const type = 'application/json; charset=utf-8';
  if (!isWellFormed(request)) {
    const message = 'The Host header or the target of the request is malformed.';
    return {
      status: 400,
      type,
      body: JSON.stringify({ errors: [{ message, extensions: { code: 'BAD_USER_INPUT' } }] }),
    };
  }
  const denied = (message: string): void => {
    audit.denied({ caller: null, code: 'FORBIDDEN', message, address: addressOf(request), path: [pathOf(request)] });
  };
  if (!isOpen && !isLoopbackHost(host)) {
    const error =
      'Without authentication, Portolan answers only to loopback names; use http://127.0.0.1 or http://localhost.';
    denied(error);
    return { status: 403, type, body: `${JSON.stringify({ error })}\n` };
  }
  const refusal = crossOrigin.refusalOf(request);
  if (refusal === null) return null;
  denied(refusal.message);
  return { status: 403, ...refusal };
}

/** A name has at most 253 characters. */
const longestHost = 260;
const hostForm = /^(?:\[[\da-f:.]+\]|[\w.~%!$&'()*+,;=-]+)(?::\d*)?$/i;

/** Can the URL of the request be parsed, with the host as its host? HTTP/1.0 has no Host. */
function isWellFormed({ url = '', headers: { host } }: IncomingMessage): boolean {
  if (host !== undefined && (host.length > longestHost || !hostForm.test(host))) return false;
  if (url === '*') return true;
  return url.startsWith('/') && URL.canParse(`http://${host ?? 'localhost'}${url}`);
}
