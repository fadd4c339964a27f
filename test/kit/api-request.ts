/** A request to a control plane with the token of a user, and the whole answer, also of one that is refused. */
import { request } from 'node:https';
import { text } from 'node:stream/consumers';
import type { ControlPlane } from './control-plane.ts';

export interface ApiRequest {
  readonly method?: string;
  /** Default: JSON. */
  readonly accept?: string;
  /** A text, or an object as JSON. */
  readonly body?: unknown;
  /** The content type of the body; default: JSON. */
  readonly type?: string;
}

export interface ApiAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** Rejects without an answer alone. */
export async function apiRequest(
  plane: Pick<ControlPlane, 'server' | 'caPem'>,
  token: string,
  path: string,
  { method = 'GET', accept = 'application/json', body, type = 'application/json' }: ApiRequest = {},
): Promise<ApiAnswer> {
  const content = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
  const headers = {
    accept,
    authorization: `Bearer ${token}`,
    // Node sends the body of a DELETE without a length of its own.
    ...(content === undefined ? {} : { 'content-type': type, 'content-length': Buffer.byteLength(content) }),
  };
  return new Promise((resolve, reject) => {
    const sent = request(`${plane.server}${path}`, { method, headers, ca: plane.caPem() }, (response) => {
      text(response).then(
        (found) => resolve({ status: response.statusCode ?? 0, headers: response.headers, text: found }),
        reject,
      );
    });
    sent.on('error', reject);
    sent.end(content);
  });
}
