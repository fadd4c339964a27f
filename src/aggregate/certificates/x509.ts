/**
 * The two certificates that Portolan makes: an authority that signs itself, and a server's certificate that the authority signs (RFC 5280).
 * Keys are of P-256, signatures ECDSA with SHA-256. An authority signs certificates of servers alone, not of authorities.
 *
 * The subject of an authority has the beginning of its key's identifier. So no two authorities have the same name, and the key of an
 * authority is all that is needed to sign.
 */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
} from 'node:crypto';
import {
  bitString,
  booleanTrue,
  contextTag,
  der,
  objectIdentifier,
  octetString,
  sequence,
  set,
  time,
  unsignedInteger,
  utf8String,
} from './der.ts';

/** Both as PEM. */
export interface SignedKey {
  readonly cert: string;
  readonly key: string;
}

/** Milliseconds since the Unix epoch; whole seconds count. */
interface Validity {
  readonly notBefore: number;
  readonly notAfter: number;
}

/** A new authority with a new key. */
export function newAuthority(validity: Validity): SignedKey {
  const { publicKey, privateKey } = newKey();
  const extensions = [
    extension('2.5.29.19', sequence(booleanTrue, unsignedInteger(Buffer.from([0]))), 'critical'),
    extension('2.5.29.15', keyUsage.certSign, 'critical'),
    extension('2.5.29.14', octetString(keyIdentifier(publicKey))),
  ];
  const cert = signed({ subject: authorityName(publicKey), publicKey, validity, extensions }, privateKey);
  return { cert, key: pemOf(privateKey) };
}

/**
 * A certificate with a new key for a server of this name.
 * @param authorityKey PEM of the private key of an authority that `newAuthority` has made
 */
export function newServerCertificate(name: string, validity: Validity, authorityKey: string): SignedKey {
  const issuerKey = createPrivateKey(authorityKey);
  const { publicKey, privateKey } = newKey();
  const extensions = [
    extension('2.5.29.19', sequence(), 'critical'),
    extension('2.5.29.15', keyUsage.digitalSignature, 'critical'),
    extension('2.5.29.37', sequence(objectIdentifier('1.3.6.1.5.5.7.3.1'))),
    extension('2.5.29.17', sequence(der(contextTag(2), Buffer.from(name, 'ascii')))),
    extension('2.5.29.14', octetString(keyIdentifier(publicKey))),
    extension('2.5.29.35', sequence(der(contextTag(0), keyIdentifier(createPublicKey(issuerKey))))),
  ];
  const cert = signed({ subject: commonName('portolan'), publicKey, validity, extensions }, issuerKey);
  return { cert, key: pemOf(privateKey) };
}

const keyUsage = { digitalSignature: bitString(Buffer.from([0x80]), 7), certSign: bitString(Buffer.from([0x04]), 2) };

interface Certified {
  readonly subject: Buffer;
  readonly publicKey: KeyObject;
  readonly validity: Validity;
  readonly extensions: readonly Buffer[];
}

/** PEM of the certificate. @param issuerKey the private key of the authority */
function signed({ subject, publicKey, validity, extensions }: Certified, issuerKey: KeyObject): string {
  const algorithm = sequence(objectIdentifier('1.2.840.10045.4.3.2'));
  const version3 = der(contextTag(0, 'constructed'), unsignedInteger(Buffer.from([2])));
  const certified = sequence(
    version3,
    unsignedInteger(randomBytes(16)),
    algorithm,
    authorityName(createPublicKey(issuerKey)),
    sequence(time(validity.notBefore), time(validity.notAfter)),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(contextTag(3, 'constructed'), sequence(...extensions)),
  );
  const certificate = sequence(certified, algorithm, bitString(sign('sha256', certified, issuerKey)));
  const lines = certificate.toString('base64').match(/.{1,64}/g) ?? [];
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
}

function newKey(): { readonly publicKey: KeyObject; readonly privateKey: KeyObject } {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' });
}

function pemOf(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString();
}

function authorityName(key: KeyObject): Buffer {
  return commonName(`Portolan sets ${keyIdentifier(key).toString('hex').slice(0, 16)}`);
}

function commonName(text: string): Buffer {
  return sequence(set(sequence(objectIdentifier('2.5.4.3'), utf8String(text))));
}

function keyIdentifier(publicKey: KeyObject): Buffer {
  return createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest()
    .subarray(0, 20);
}

function extension(identifier: string, value: Buffer, critical?: 'critical'): Buffer {
  return sequence(objectIdentifier(identifier), ...(critical === undefined ? [] : [booleanTrue]), octetString(value));
}
