/** The caller's credentials in a request of Node's HTTP server, or in a WebSocket's upgrade request. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Credentials } from '../access/caller.ts';

export function credentialsOf(
  headers: IncomingHttpHeaders,
  connectionParams?: Readonly<Record<string, unknown>>,
): Credentials {
  return {
    header(name) {
      const value = headers[name];
      return Array.isArray(value) ? value.join(', ') : value;
    },
    connectionParams,
  };
}
