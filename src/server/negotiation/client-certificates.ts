/**
 * Client certificates of TLS connections. A certificate counts for the authority that signed it, and for no other: the authority of users
 * and that of front proxies may both be configured.
 *
 *   handshake -> the presented chain is verified against each authority -> the verdict is kept for the socket
 *   request   -> the verdict, if the chain is still valid and the authorities are the same
 *
 * Source: crypto/x509 of Go as kube-apiserver uses it: validity of each certificate, CA bit of each issuer, extended key usage clientAuth
 * where the certificate states any.
 */
import { X509Certificate } from 'node:crypto';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { ClientCertificate } from '../../access/caller.ts';

/** The certificates of each authority. */
export interface Authorities {
  readonly users: readonly X509Certificate[];
  readonly proxy: readonly X509Certificate[];
}

interface Verdict {
  readonly authorities: Authorities;
  readonly certificate: Omit<ClientCertificate, 'authority'> | null;
  readonly authority: ClientCertificate['authority'] | null;
  /** When the first certificate of the chain expires: milliseconds since the epoch. */
  readonly until: number;
}

const clientAuth = '1.3.6.1.5.5.7.3.2';
const anyUsage = '2.5.29.37.0';
const longestChain = 8;

const sources = new WeakMap<Socket, () => Authorities>();
const verdicts = new WeakMap<Socket, Verdict>();

/** Lets `certificateOf` verify the certificate of this connection. */
export function acceptCertificates(socket: TLSSocket, authorities: () => Authorities): void {
  sources.set(socket, authorities);
}

/** The verified client certificate of a connection; undefined without one. */
export function certificateOf(socket: Socket): ClientCertificate | undefined {
  const source = sources.get(socket);
  if (source === undefined || !(socket instanceof TLSSocket)) return undefined;
  const authorities = source();
  const known = verdicts.get(socket);
  const verdict = known?.authorities === authorities ? known : verdictOn(socket, authorities, Date.now());
  verdicts.set(socket, verdict);
  const { certificate, authority, until } = verdict;
  if (certificate === null || authority === null || Date.now() > until) return undefined;
  return { ...certificate, authority };
}

function verdictOn(socket: TLSSocket, authorities: Authorities, now: number): Verdict {
  const refused: Verdict = { authorities, certificate: null, authority: null, until: 0 };
  const leaf = socket.getPeerX509Certificate();
  const certificate = leaf === undefined ? null : subjectOf(leaf);
  if (leaf === undefined || certificate === null || !isForClients(leaf)) return refused;
  for (const authority of ['users', 'proxy'] as const) {
    const until = chainUntil(leaf, authorities[authority], now);
    if (until !== null) return { authorities, certificate, authority, until };
  }
  return refused;
}

/** When the first certificate of a valid chain to one of the authorities expires; null without such a chain. */
function chainUntil(leaf: X509Certificate, authorities: readonly X509Certificate[], now: number): number | null {
  let current = leaf;
  let until = Number.POSITIVE_INFINITY;
  for (let depth = 0; depth < longestChain; depth += 1) {
    if (!isValid(current, now)) return null;
    until = Math.min(until, current.validToDate.getTime());
    const issued = current;
    const authority = authorities.find((each) => isIssuer(each, issued) && isValid(each, now));
    if (authority !== undefined) return Math.min(until, authority.validToDate.getTime());
    const next = current.issuerCertificate;
    if (next === undefined || next.fingerprint256 === current.fingerprint256 || !isIssuer(next, current)) return null;
    current = next;
  }
  return null;
}

function isIssuer(issuer: X509Certificate, issued: X509Certificate): boolean {
  return issuer.ca && issued.checkIssued(issuer) && issued.verify(issuer.publicKey);
}

function isValid({ validFromDate, validToDate }: X509Certificate, now: number): boolean {
  return validFromDate.getTime() <= now && now <= validToDate.getTime();
}

/** Without an extended key usage, a certificate is for every use. */
function isForClients({ keyUsage }: X509Certificate): boolean {
  const usages = keyUsage as readonly string[] | undefined;
  return usages === undefined || usages.includes(clientAuth) || usages.includes(anyUsage);
}

/** Null for a subject with several common names. */
function subjectOf(leaf: X509Certificate): Omit<ClientCertificate, 'authority'> | null {
  const subject = leaf.toLegacyObject().subject as unknown as Record<string, string | string[] | undefined>;
  const { CN: commonName = '', O: organizations = [] } = subject;
  if (Array.isArray(commonName)) return null;
  return { commonName, organizations: [organizations].flat() };
}

/** The certificates of a PEM file. @throws Error for text without a certificate, or with one that cannot be read. */
export function certificatesIn(pem: string): readonly X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  if (blocks.length === 0) throw new Error('it has no certificate in PEM');
  return blocks.map((block) => new X509Certificate(block));
}
