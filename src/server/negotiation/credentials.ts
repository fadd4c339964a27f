/** The caller's credentials in a request of Node's HTTP server, or in a WebSocket's upgrade request. */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { ClientCertificate, Credentials } from '../../access/caller.ts';
import type { Arrival } from '../../admission/admitted-request.ts';
import type { Span } from '../../base/tracing.ts';
import { peerOf } from './client-certificates.ts';

/** The parts of a request that carry credentials. */
export type CredentialedRequest = Pick<IncomingMessage, 'headers' | 'headersDistinct' | 'socket'>;

/** Credentials that are read from the request at their first use. A class, because a literal with getters takes microseconds to make. */
class RequestCredentials implements Credentials {
  readonly header: Credentials['header'];
  readonly headers: Credentials['headers'];
  readonly headerNames: Credentials['headerNames'];
  readonly connectionParams: Credentials['connectionParams'];
  readonly #request: CredentialedRequest;

  constructor(request: CredentialedRequest, connectionParams: Credentials['connectionParams']) {
    // Node lists the distinct headers when they are first asked for.
    this.header = (name) => {
      const value = request.headers[name];
      return Array.isArray(value) ? value.join(', ') : value;
    };
    this.headers = (name) => request.headersDistinct[name] ?? [];
    this.headerNames = (prefix) => Object.keys(request.headersDistinct).filter((name) => name.startsWith(prefix));
    this.connectionParams = connectionParams;
    this.#request = request;
  }

  static socketOf(credentials: Credentials): Socket | undefined {
    return credentials instanceof RequestCredentials ? credentials.#request.socket : undefined;
  }

  get certificate(): ClientCertificate | undefined {
    const peer = peerOf(this.#request.socket);
    return peer !== null && 'certificate' in peer ? peer.certificate : undefined;
  }

  get certificateRefusal(): string | undefined {
    const peer = peerOf(this.#request.socket);
    return peer !== null && 'refusal' in peer ? peer.refusal : undefined;
  }
}

/** The connection on which the credentials came; absent for credentials that `credentialsOf` has not read. */
export function connectionOf(credentials: Credentials): Socket | undefined {
  return RequestCredentials.socketOf(credentials);
}

export function credentialsOf(
  request: CredentialedRequest,
  connectionParams?: Readonly<Record<string, unknown>>,
): Credentials {
  return new RequestCredentials(request, connectionParams);
}

/**
 * The data of a request for its admission.
 * @param path of an entry point that is not GraphQL
 */
export function arrivalOf(request: CredentialedRequest, span?: Span, path?: string): Arrival {
  return { credentials: credentialsOf(request), address: addressOf(request), span, path };
}

/** The remote address; null where there is none. */
export function addressOf({ socket }: Pick<IncomingMessage, 'socket'>): string | null {
  return socket.remoteAddress ?? null;
}
