/**
 * The certificates of the door as replicas keep them in a Secret, and the rule by which they are renewed. Pure: time is given.
 *
 *   ca.crt   the authorities that clients trust, the newest first      ca.key   the key of the newest one
 *   tls.crt  the certificate of the server                             tls.key  its key
 *
 *   day 0     authority A, for a year; server certificate by A, for 90 days
 *   day 60    another server certificate by A                                  two thirds have passed
 *   day 243   authority B is added; the key of A is forgotten                  clients are told to trust both
 *             ten minutes later, if clients were told: server certificate by B
 *             ten minutes after that: A is removed
 *
 * Invariant: the server certificate is of an authority that clients were told ten minutes ago. Only without a usable server certificate
 * one is made at once.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { certificatesIn } from '../../server/negotiation/client-authorities.ts';
import { newAuthority, newServerCertificate, type SignedKey } from './x509.ts';

export interface KeptCertificates {
  /** PEM, the newest first. */
  readonly authorities: readonly string[];
  /** PEM of the key of the newest authority. */
  readonly authorityKey: string | null;
  readonly server: SignedKey | null;
}

const day = 86_400_000;
const authorityLife = 365 * day;
const serverLife = 90 * day;
/** The part of a life after which a certificate is renewed. */
const usedPart = 2 / 3;
/** Certificates begin earlier, because the clock of an API server may be slow. */
const slowClock = 3_600_000;
/** Milliseconds that clients have to take a new authority, and replicas to take a new certificate. */
const overlap = 600_000;

export const noCertificates: KeptCertificates = { authorities: [], authorityKey: null, server: null };

/** The certificates in a Secret. Parts that are missing or no PEM are left out, and named in `problems`. @param data in base64 */
export function keptIn(data: Readonly<Record<string, string>>): {
  readonly kept: KeptCertificates;
  readonly problems: readonly string[];
} {
  const problems: string[] = [];
  const part = <T>(names: string, read: () => T, without: T): T => {
    try {
      return read();
    } catch {
      problems.push(`${names} cannot be read`);
      return without;
    }
  };
  const text = (name: string): string => Buffer.from(data[name] ?? '', 'base64').toString('utf8');
  const kept = {
    authorities: part('ca.crt', () => certificatesIn(text('ca.crt')).map(String), []),
    authorityKey: part('ca.key', () => keyIn(text('ca.key')), null),
    server: part('tls.crt with tls.key', () => pairIn(text('tls.crt'), text('tls.key')), null),
  };
  return { kept, problems };
}

/** The data of the Secret, in base64. */
export function secretData({ authorities, authorityKey, server }: KeptCertificates): Readonly<Record<string, string>> {
  const texts = {
    'ca.crt': authorities.join(''),
    'ca.key': authorityKey ?? '',
    'tls.crt': server?.cert ?? '',
    'tls.key': server?.key ?? '',
  };
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, Buffer.from(text).toString('base64')]));
}

interface RenewalAt {
  /** The name that clients check. */
  readonly name: string;
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
  /** Clients were told of all authorities that are kept. */
  readonly published: boolean;
}

/** The certificates to keep from now on: with an authority, its key and a server certificate. The same value if nothing is to be done. */
export function renewed(kept: KeptCertificates, { name, now, published }: RenewalAt): KeptCertificates {
  const usable = kept.authorities.map(certificateOf).filter((each) => isUsable(each, now));
  const [newest] = usable;
  const mayIssue =
    newest !== undefined &&
    kept.authorityKey !== null &&
    newest.checkPrivateKey(createPrivateKey(kept.authorityKey)) &&
    now < renewalOf(newest);
  const added = mayIssue ? null : newAuthority({ notBefore: now - slowClock, notAfter: now + authorityLife });
  const issuer = added === null ? newest : certificateOf(added.cert);
  const authorityKey = added === null ? kept.authorityKey : added.key;
  if (issuer === undefined || authorityKey === null) throw new Error('invariant broken: there is an authority');
  const trusted = added === null ? usable : [issuer, ...usable];

  const current = kept.server === null ? null : certificateOf(kept.server.cert);
  const serves = current !== null && isUsable(current, now) && current.checkHost(name) !== undefined;
  const signer = serves
    ? trusted.find((each) => current.checkIssued(each) && current.verify(each.publicKey))
    : undefined;
  const isKnown = published && added === null && ageOf(issuer, now) >= overlap;
  const isDue =
    current === null || signer === undefined || (isKnown && (signer !== issuer || now >= renewalOf(current)));
  const server = isDue
    ? newServerCertificate(
        name,
        { notBefore: now - slowClock, notAfter: Math.min(now + serverLife, issuer.validToDate.getTime()) },
        authorityKey,
      )
    : kept.server;
  // Replicas may still serve the former certificate.
  const isSettled = !isDue && signer === issuer && ageOf(current, now) >= overlap;
  const authorities = (isSettled ? [issuer] : trusted).map(String);
  if (added === null && !isDue && authorities.length === kept.authorities.length) return kept;
  return { authorities, authorityKey, server };
}

function certificateOf(pem: string): X509Certificate {
  return new X509Certificate(pem);
}

/** A certificate of a clock that was far ahead is not usable: it would not be renewed in time. */
function isUsable({ validFromDate, validToDate }: X509Certificate, now: number): boolean {
  return validFromDate.getTime() <= now + slowClock && now < validToDate.getTime();
}

function ageOf({ validFromDate }: X509Certificate, now: number): number {
  return now - slowClock - validFromDate.getTime();
}

function renewalOf({ validFromDate, validToDate }: X509Certificate): number {
  const from = validFromDate.getTime();
  return from + (validToDate.getTime() - from) * usedPart;
}

function keyIn(pem: string): string {
  createPrivateKey(pem);
  return pem;
}

function pairIn(cert: string, key: string): SignedKey {
  if (!certificateOf(cert).checkPrivateKey(createPrivateKey(key))) throw new Error('another key');
  return { cert, key };
}
