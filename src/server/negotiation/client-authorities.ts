/**
 * The authorities that sign client certificates: that of users, and that of front proxies. They have no key in common, because a proxy may
 * name any user.
 */
import { X509Certificate } from 'node:crypto';

/** The certificates of each authority; empty for one that the gateway does not accept. */
export interface Authorities {
  readonly users: readonly X509Certificate[];
  readonly proxy: readonly X509Certificate[];
}

/** The certificates of authorities in a PEM file. @throws Error if it has none, or one that may not sign others. */
export function certificatesIn(pem: string): readonly X509Certificate[] {
  const certificates = anyCertificatesIn(pem);
  const other = certificates.find(({ ca }) => !ca);
  if (other === undefined) return certificates;
  throw new Error(`it must have certificates of authorities only, and ${subjectOf(other)} is none`);
}

/** The certificates of a PEM file. @throws Error if it has none, or one that cannot be read. */
export function anyCertificatesIn(pem: string): readonly X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  if (blocks.length === 0) throw new Error('it has no certificate in PEM');
  return blocks.map((block) => new X509Certificate(block));
}

/** @throws Error for authorities with a key in common. */
export function requireApart({ users, proxy }: Authorities): void {
  const keyOf = ({ publicKey }: X509Certificate): string =>
    publicKey.export({ type: 'spki', format: 'der' }).toString('base64');
  const keys = new Set(users.map(keyOf));
  const common = proxy.find((each) => keys.has(keyOf(each)));
  if (common === undefined) return;
  throw new Error(
    `both have ${subjectOf(common)}, so every user could act as a proxy: give the proxies an authority of their own`,
  );
}

/**
 * The certificates in OpenSSL's form TRUSTED CERTIFICATE, trusted for clients of TLS. Only in this form does OpenSSL accept an intermediate
 * authority without its root.
 */
export function trustedPem({ users, proxy }: Authorities): string {
  const blocks = [...users, ...proxy].map(({ raw }) => {
    const lines =
      Buffer.concat([raw, trustedForClients])
        .toString('base64')
        .match(/.{1,64}/g) ?? [];
    return ['-----BEGIN TRUSTED CERTIFICATE-----', ...lines, '-----END TRUSTED CERTIFICATE-----', ''].join('\n');
  });
  return blocks.join('');
}

/** DER of OpenSSL's X509_CERT_AUX: a list of trusted usages with clientAuth. */
const trustedForClients = Buffer.from('300c300a06082b06010505070302', 'hex');

/** The subject on one line, for messages. */
export function subjectOf({ subject }: X509Certificate): string {
  return subject.replaceAll('\n', ', ');
}
