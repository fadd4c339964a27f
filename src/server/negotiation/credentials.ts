/** The caller's credentials in a request of Node's HTTP server, or in a WebSocket's upgrade request. */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Credentials } from '../../access/caller.ts';
import type { Arrival } from '../../admission/admitted-request.ts';
import type { Span } from '../../base/tracing.ts';
import { peerOf } from './client-certificates.ts';

/** The parts of a request that carry credentials. */
export type CredentialedRequest = Pick<IncomingMessage, 'headers' | 'headersDistinct' | 'socket'>;

const connections = new WeakMap<Credentials, Socket>();

/** The connection that the credentials came on; absent for those that `credentialsOf` has not read. */
export function connectionOf(credentials: Credentials): Socket | undefined {
  return connections.get(credentials);
}

export function credentialsOf(
  { headers, headersDistinct, socket }: CredentialedRequest,
  connectionParams?: Readonly<Record<string, unknown>>,
): Credentials {
  const credentials: Credentials = {
    header(name) {
      const value = headers[name];
      return Array.isArray(value) ? value.join(', ') : value;
    },
    headers: (name) => headersDistinct[name] ?? [],
    headerNames: (prefix) => Object.keys(headersDistinct).filter((name) => name.startsWith(prefix)),
    connectionParams,
    get certificate() {
      const peer = peerOf(socket);
      return peer !== null && 'certificate' in peer ? peer.certificate : undefined;
    },
    get certificateRefusal() {
      const peer = peerOf(socket);
      return peer !== null && 'refusal' in peer ? peer.refusal : undefined;
    },
  };
  connections.set(credentials, socket);
  return credentials;
}

/**
 * What arrives with a request, for its admission.
 * @param path of an entry point that is not GraphQL
 */
export function arrivalOf(request: CredentialedRequest, span?: Span, path?: string): Arrival {
  return { credentials: credentialsOf(request), address: addressOf(request), span, path };
}

/** The remote address; null where there is none. */
export function addressOf({ socket }: Pick<IncomingMessage, 'socket'>): string | null {
  return socket.remoteAddress ?? null;
}
