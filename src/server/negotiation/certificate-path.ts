/**
 * The path from a client certificate to a certificate of an authority (RFC 5280). It decides which of several authorities a certificate
 * belongs to. OpenSSL has verified the chain before. It checks the rest: lengths of paths, name constraints, weak signatures.
 *
 *   jane, signed by "users 2026" (sent with it), signed by "users" (in the file of the authority)
 */
import type { X509Certificate } from 'node:crypto';

/** When every certificate of a path is valid: milliseconds since the epoch. */
export interface CertificatePath {
  readonly validFrom: number;
  readonly validUntil: number;
}

/** Signatures that are verified for one chain. A client may send many certificates of the same names. */
const mostSignatures = 64;

/** OIDs of the extended key usage: TLS clients, and every usage. */
const clientAuth = '1.3.6.1.5.5.7.3.2';
const anyUsage = '2.5.29.37.0';

/**
 * The path that is valid for longest. Null if no path leads from the first certificate of the chain to an anchor.
 * @param chain the client's certificate, then the others that it sent.
 * @param anchors are trusted, whoever signed them.
 */
export function findPath(
  chain: readonly X509Certificate[],
  anchors: readonly X509Certificate[],
  now: number,
): CertificatePath | null {
  const [leaf, ...others] = chain;
  if (leaf === undefined) return null;
  let signatures = 0;
  const isSignedBy = (certificate: X509Certificate, issuer: X509Certificate): boolean => {
    if (!issuer.ca || !certificate.checkIssued(issuer)) return false;
    signatures += 1;
    return signatures <= mostSignatures && certificate.verify(issuer.publicKey);
  };
  const search = (certificate: X509Certificate, before: readonly X509Certificate[]): CertificatePath | null => {
    const own = validityOf(certificate);
    if (!isWithin(own, now) || !isForClients(certificate)) return null;
    if (anchors.some(({ raw }) => raw.equals(certificate.raw))) return own;
    const path = [...before, certificate];
    let best: CertificatePath | null = null;
    for (const issuer of [...anchors, ...others]) {
      if (path.some(({ raw }) => raw.equals(issuer.raw)) || !isSignedBy(certificate, issuer)) continue;
      const rest = search(issuer, path);
      if (rest !== null && (best === null || rest.validUntil > best.validUntil)) best = rest;
    }
    return best === null ? null : overlap(own, best);
  };
  return search(leaf, []);
}

export function isWithin({ validFrom, validUntil }: CertificatePath, now: number): boolean {
  return validFrom <= now && now <= validUntil;
}

function overlap(one: CertificatePath, other: CertificatePath): CertificatePath {
  return {
    validFrom: Math.max(one.validFrom, other.validFrom),
    validUntil: Math.min(one.validUntil, other.validUntil),
  };
}

function validityOf({ validFromDate, validToDate }: X509Certificate): CertificatePath {
  return { validFrom: validFromDate.getTime(), validUntil: validToDate.getTime() };
}

/** `keyUsage` has the OIDs of the extended key usage. A certificate without that extension is for every usage. */
function isForClients({ keyUsage }: X509Certificate): boolean {
  const usages = keyUsage as readonly string[] | undefined;
  return usages === undefined || usages.includes(clientAuth) || usages.includes(anyUsage);
}
