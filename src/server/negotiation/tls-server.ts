/** A server of HTTPS with files that may change. It asks for client certificates if the gateway accepts some. */
import { constants } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { createServer, type Server, type ServerOptions } from 'node:https';
import type { Socket } from 'node:net';
import { messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { type Authorities, trustedPem } from './client-authorities.ts';
import { acceptCertificates } from './client-certificates.ts';
import type { TlsFiles, TlsMaterial } from './tls-files.ts';

/** Milliseconds that a client has for its handshake. */
const handshakeMs = 10_000;

const noOne: Authorities = { users: [], proxy: [] };

/** The material of a server's TLS, which may change. */
export type TlsSource = Pick<TlsFiles, 'material' | 'watch'>;

interface TlsServerOptions {
  /** Milliseconds between two looks at the files. */
  readonly lookMs?: number | undefined;
  /** Bytes of the headers of one request. Default: that of Node, and at most 2000 headers. */
  readonly maxHeaderBytes?: number;
  readonly log: Logger;
}

/** Owns the watch of the files until they are closed. */
export function openTlsServer(
  files: TlsSource,
  listener: RequestListener,
  { lookMs, maxHeaderBytes, log }: TlsServerOptions,
): Server {
  const server = createServer(
    {
      ...contextOf(files.material),
      requestCert: files.material.authorities !== null,
      rejectUnauthorized: false,
      handshakeTimeout: handshakeMs,
      ...(maxHeaderBytes === undefined ? {} : { maxHeaderSize: maxHeaderBytes }),
    },
    listener,
  );
  // Node leaves headers out that are too many, without a word.
  if (maxHeaderBytes !== undefined) server.maxHeadersCount = 0;
  server.on('tlsClientError', (error) => log.debug({ error: messageOf(error) }, 'a TLS handshake failed'));
  if (files.material.authorities !== null) acceptCertificates(server, () => files.material.authorities ?? noOne, log);
  files.watch(() => {
    server.setSecureContext(contextOf(files.material));
    // So that clients whose authority is new connect again.
    server.closeIdleConnections();
  }, lookMs);
  closeWithHandshakes(server);
  return server;
}

function contextOf({ cert, key, authorities }: TlsMaterial): ServerOptions {
  return {
    cert,
    key,
    minVersion: 'TLSv1.2',
    ...(authorities === null ? {} : { ca: trustedPem(authorities) }),
    // A resumed session has lost the client's chain. After a renegotiation, the client could have another certificate.
    secureOptions: constants.SSL_OP_NO_TICKET | constants.SSL_OP_NO_RENEGOTIATION,
  };
}

/** Lets `closeAllConnections` close connections during their handshake too. Otherwise, a silent client would delay `close`. */
function closeWithHandshakes(server: Server): void {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  const closeAll = server.closeAllConnections.bind(server);
  server.closeAllConnections = () => {
    closeAll();
    for (const socket of sockets) socket.destroy();
  };
}
