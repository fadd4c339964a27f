/**
 * Client certificates of TLS connections. The authority of users and that of front proxies may both be configured. A certificate counts
 * only for the authority that signed it.
 *
 *   handshake -> OpenSSL verifies the presented chain against all authorities together
 *   request   -> the chain is assigned to one authority (certificate-path.ts), once for the socket and the authorities
 *             -> it counts while each certificate of its path is valid
 *
 * Never: ends a handshake because of a certificate. The client may send other credentials, and an answer can say what is wrong.
 * After a change of the authorities, a certificate must belong to the new ones. OpenSSL has verified it against the old ones, so a client
 * of a new authority must connect again.
 */
import { X509Certificate } from 'node:crypto';
import type { Server } from 'node:https';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { ClientCertificate } from '../../access/caller.ts';
import type { Logger } from '../../base/log.ts';
import { type CertificatePath, findPath, isWithin } from './certificate-path.ts';
import { type Authorities, subjectOf } from './client-authorities.ts';

/** The client's own certificate comes first. */
type Chain = readonly [X509Certificate, ...X509Certificate[]];
type Authority = ClientCertificate['authority'];

/** The certificate of a connection counts, or it does not for this reason. */
type PeerVerdict = { readonly certificate: ClientCertificate } | { readonly refusal: string };

type Judged = { readonly authority: Authority; readonly path: CertificatePath } | { readonly refusal: string };

/** The attribute of a subject that Kubernetes reads as the uid (KEP-4601). */
const uidAttribute = '1.3.6.1.4.1.57683.2';

const peers = new WeakMap<Socket, Peer>();

/** Lets `peerOf` judge the certificates of this server's clients. */
export function acceptCertificates(server: Server, authorities: () => Authorities, log: Logger): void {
  const chains = new WeakMap<Socket, readonly X509Certificate[]>();
  // Node 24.21 drops the first intermediate certificate of a chain that it has verified (nodejs/node#65579), so the chain is read before.
  // Of the server's events, only this one has the socket earlier. Its secrets are not used.
  server.on('keylog', (_secrets: Buffer, socket: TLSSocket) => {
    if (chains.has(socket)) return;
    chains.set(socket, []);
    socket.prependOnceListener('secure', () => chains.set(socket, presentedBy(socket)));
  });
  server.on('secureConnection', (socket: TLSSocket) => {
    const [leaf, ...others] = chains.get(socket) ?? [];
    if (leaf !== undefined) peers.set(socket, new Peer([leaf, ...others], socket, authorities, log));
  });
}

/** Null for a connection without a client certificate. */
export function peerOf(socket: Socket): PeerVerdict | null {
  return peers.get(socket)?.verdict() ?? null;
}

/** A client that has presented a certificate. */
class Peer {
  readonly #chain: Chain;
  /** Why OpenSSL refuses the chain. */
  readonly #unverified: string | null;
  readonly #authorities: () => Authorities;
  readonly #log: Logger;
  readonly #certificates = new Map<Authority, ClientCertificate>();
  #judgedBy: Authorities | null = null;
  #judged: Judged = { refusal: '' };

  constructor(chain: Chain, socket: TLSSocket, authorities: () => Authorities, log: Logger) {
    this.#chain = chain;
    this.#unverified = socket.authorized ? null : reasonOf(String(socket.authorizationError));
    this.#authorities = authorities;
    this.#log = log;
  }

  verdict(): PeerVerdict {
    const judged = this.#now();
    if ('refusal' in judged) return judged;
    const known = this.#certificates.get(judged.authority);
    const certificate = known ?? this.#certificateOf(judged.authority);
    this.#certificates.set(judged.authority, certificate);
    return { certificate };
  }

  #now(): Judged {
    const now = Date.now();
    const authorities = this.#authorities();
    if (this.#judgedBy !== authorities) {
      this.#judgedBy = authorities;
      this.#judged = this.#judge(authorities, now);
      if ('refusal' in this.#judged) {
        const fields = { subject: subjectOf(this.#chain[0]), reason: this.#judged.refusal };
        this.#log.debug(fields, 'a client certificate was refused');
      }
    }
    const judged = this.#judged;
    return 'refusal' in judged || isWithin(judged.path, now) ? judged : { refusal: 'it has expired' };
  }

  #judge({ users, proxy }: Authorities, now: number): Judged {
    if (this.#unverified !== null) return { refusal: this.#unverified };
    const ofUser = findPath(this.#chain, users, now);
    const ofProxy = findPath(this.#chain, proxy, now);
    if (ofUser !== null && ofProxy !== null) {
      return { refusal: 'the authority of users and that of proxies have both signed it' };
    }
    const subject = this.#subject();
    if (typeof subject === 'string') return { refusal: subject };
    if (ofUser !== null) return { authority: 'users', path: ofUser };
    if (ofProxy !== null) return { authority: 'proxy', path: ofProxy };
    return { refusal: 'no authority of this gateway has signed it' };
  }

  /** The same object for the life of the connection, so that its caller can be remembered. */
  #certificateOf(authority: Authority): ClientCertificate {
    const subject = this.#subject();
    if (typeof subject === 'string') throw new Error(subject);
    const until = (): number => {
      const judged = this.#now();
      return 'path' in judged && judged.authority === authority ? judged.path.validUntil : 0;
    };
    return {
      ...subject,
      authority,
      get validUntil() {
        return until();
      },
    };
  }

  /** The names of the certificate, or why they cannot be used. */
  #subject(): Pick<ClientCertificate, 'commonName' | 'organizations' | 'uid' | 'fingerprint'> | string {
    const [leaf] = this.#chain;
    const subject = leaf.toLegacyObject().subject as unknown as Record<string, string | string[] | undefined>;
    const { CN: commonName = '', O: organization = [], [uidAttribute]: uid = '' } = subject;
    if (Array.isArray(commonName)) return 'it has several common names';
    if (Array.isArray(uid)) return 'it has several uids';
    const organizations = [organization].flat();
    if ([commonName, uid, ...organizations].some((name) => /\p{Cc}/u.test(name)))
      return 'a name in it has a control character';
    return { commonName, organizations, uid, fingerprint: leaf.fingerprint256.replaceAll(':', '').toLowerCase() };
  }
}

/** The certificates that the client sent, its own first; empty if it sent none. */
function presentedBy(socket: TLSSocket): readonly X509Certificate[] {
  const found = new Map<object, X509Certificate>();
  let next: Partial<ReturnType<typeof socket.getPeerCertificate>> = socket.getPeerCertificate(true);
  // A certificate that has signed itself is its own issuer.
  while (next.raw !== undefined && !found.has(next)) {
    found.set(next, new X509Certificate(next.raw));
    next = ('issuerCertificate' in next ? (next.issuerCertificate as object | undefined) : undefined) ?? {};
  }
  return [...found.values()];
}

function reasonOf(code: string): string {
  switch (code) {
    case 'CERT_HAS_EXPIRED':
      return 'it has expired';
    case 'CERT_NOT_YET_VALID':
      return 'it is not valid yet';
    case 'INVALID_PURPOSE':
      return 'its extended key usage is not for clients';
    case 'CERT_SIGNATURE_FAILURE':
      return 'an authority has the name of its issuer, but another key';
    default:
      return `no authority of this gateway has signed it (${code})`;
  }
}
