/** The certificates, as openssl and Node read them. */
import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../../../test/kit/temporary-directory.ts';
import { contextTag, der, objectIdentifier, time, unsignedInteger } from './der.ts';
import { newAuthority, newServerCertificate } from './x509.ts';

const now = Date.UTC(2026, 10, 28, 12);
const year = { notBefore: now, notAfter: now + 365 * 86_400_000 };

function openssl(args: readonly string[], input?: string | Buffer): string {
  return execFileSync('openssl', [...args], {
    ...(input === undefined ? {} : { input }),
    encoding: 'utf8',
    stdio: 'pipe',
  });
}

test('openssl trusts the certificate for its name alone, at its time alone', () => {
  const dir = temporaryDirectory('x509');
  const authority = newAuthority(year);
  const other = newAuthority(year);
  const server = newServerCertificate('sets.portolan.svc', year, authority.key);
  const write = (name: string, text: string): string => {
    writeFileSync(join(dir, name), text);
    return join(dir, name);
  };
  const verify = (trusted: string, options: readonly string[], atMs = now + 1000): string => {
    const args = ['verify', '-x509_strict', '-purpose', 'sslserver', '-attime', String(atMs / 1000), ...options];
    try {
      return openssl([...args, '-CAfile', write('ca.crt', trusted), write('server.crt', server.cert)]);
    } catch (error) {
      return String((error as { stdout?: string; stderr?: string }).stderr);
    }
  };
  expect(verify(authority.cert, ['-verify_hostname', 'sets.portolan.svc'])).toMatch(/: OK\n$/);
  expect(verify(other.cert + authority.cert, ['-verify_hostname', 'sets.portolan.svc'])).toMatch(/: OK\n$/);
  expect(verify(authority.cert, ['-verify_hostname', 'sets.other.svc'])).toContain('hostname mismatch');
  expect(verify(other.cert, [])).toContain('unable to get local issuer certificate');
  expect(verify(authority.cert, [], now - 1000)).toContain('not yet valid');
  expect(verify(authority.cert, [], year.notAfter + 1000)).toContain('expired');
});

test('openssl shows what an authority and a server may do', () => {
  const authority = newAuthority(year);
  const shown = openssl(['x509', '-noout', '-text'], authority.cert);
  expect(shown).toContain('CA:TRUE, pathlen:0');
  expect(shown).toMatch(/Key Usage: critical\s+Certificate Sign\s/);
  const server = openssl(
    ['x509', '-noout', '-text'],
    newServerCertificate('sets.portolan.svc', year, authority.key).cert,
  );
  expect(server).toContain('CA:FALSE');
  expect(server).toMatch(/Key Usage: critical\s+Digital Signature\s/);
  expect(server).toMatch(/Extended Key Usage:\s+TLS Web Server Authentication\s/);
  expect(server).toMatch(/Subject Alternative Name:\s+DNS:sets\.portolan\.svc\s/);
});

test('Node reads the times, also those after 2049, and the key', () => {
  const long = { notBefore: Date.UTC(2049, 11, 31, 23, 59, 59), notAfter: Date.UTC(2050, 0, 1) };
  const { cert, key } = newAuthority(long);
  const read = new X509Certificate(cert);
  expect([read.validFromDate.getTime(), read.validToDate.getTime()]).toEqual([long.notBefore, long.notAfter]);
  expect(read.ca).toBe(true);
  expect(key).toContain('BEGIN PRIVATE KEY');
});

test('serial numbers differ', () => {
  const authority = newAuthority(year);
  const serials = [1, 2, 3].map(
    () => new X509Certificate(newServerCertificate('a', year, authority.key).cert).serialNumber,
  );
  expect(new Set(serials).size).toBe(3);
});

test('openssl reads every value as it was given', () => {
  const parsed = (value: Buffer): string => openssl(['asn1parse', '-inform', 'DER'], value);
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1, maxLength: 40 }), (bytes) => {
      const shown = parsed(unsignedInteger(bytes)).trim().split(':').at(-1) ?? '';
      expect(BigInt(`0x${shown}`)).toBe(BigInt(`0x${Buffer.from(bytes).toString('hex')}`));
    }),
    { numRuns: 20 },
  );
  fc.assert(
    fc.property(fc.array(fc.nat(2 ** 31 - 1), { maxLength: 6 }), (others) => {
      const text = ['1.3.9999', ...others].join('.');
      expect(parsed(objectIdentifier(text)).trim().split(':').at(-1)).toBe(text);
    }),
    { numRuns: 20 },
  );
  for (const length of [0, 1, 127, 128, 255, 256, 65_535, 65_536]) {
    expect(parsed(der(0x04, Buffer.alloc(length)))).toMatch(new RegExp(`l= *${length} prim: OCTET STRING`));
  }
  expect(parsed(time(Date.UTC(2031, 0, 2, 3, 4, 5)))).toContain('UTCTIME           :310102030405Z');
  expect(parsed(time(Date.UTC(2050, 0, 1)))).toContain('GENERALIZEDTIME   :20500101000000Z');
  expect(parsed(der(contextTag(3, 'constructed'), der(0x05)))).toContain('cons: cont [ 3 ]');
});
