/** Certificates for tests, made by openssl in a temporary folder: an authority and the leaves that it signs. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface Certificate {
  /** PEM. */
  readonly cert: string;
  readonly key: string;
}

export interface CertificateAuthority {
  /** PEM of the authority. */
  readonly ca: string;
  /**
   * A leaf with these names, such as `IP:127.0.0.1` or `DNS:localhost`. It is valid from `fromDays` until `untilDays` days from now;
   * negative numbers are in the past. Kubernetes reads the organization of a client certificate as a group.
   */
  issue(options: {
    names: readonly string[];
    commonName?: string;
    organization?: string;
    fromDays?: number;
    untilDays?: number;
  }): Promise<Certificate>;
  /** A self-signed certificate. */
  selfSigned(names: readonly string[]): Promise<Certificate>;
  /** Removes the folder. */
  remove(): void;
}

/** A new authority. */
export async function createCertificateAuthority(): Promise<CertificateAuthority> {
  const dir = mkdtempSync(join(tmpdir(), 'portolan-certificates-'));
  const at = (name: string): string => join(dir, name);
  const ec = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  writeFileSync(
    at('ca.cnf'),
    `[ca]\ndefault_ca=own\n[own]\ndatabase=${at('index.txt')}\nnew_certs_dir=${dir}\nserial=${at('serial')}\ndefault_md=sha256\npolicy=any\nunique_subject=no\ncopy_extensions=copy\n[any]\norganizationName=optional\ncommonName=supplied\n`,
  );
  writeFileSync(at('index.txt'), '');
  writeFileSync(at('serial'), '01\n');
  await run('openssl', [
    ...['req', '-x509', ...ec, '-days', '30', '-subj', '/CN=Test authority'],
    ...['-keyout', at('ca.key'), '-out', at('ca.crt')],
  ]);
  let issued = 0;
  return {
    ca: readFileSync(at('ca.crt'), 'utf8'),
    issue: async ({ names, commonName = 'leaf', organization, fromDays = -1, untilDays = 30 }) => {
      const subject = `${organization === undefined ? '' : `/O=${organization}`}/CN=${commonName}`;
      const base = at(`leaf-${++issued}`);
      await run('openssl', [
        ...['req', '-new', ...ec, '-subj', subject, '-keyout', `${base}.key`, '-out', `${base}.csr`],
        ...(names.length === 0 ? [] : ['-addext', `subjectAltName=${names.join(',')}`]),
      ]);
      await run('openssl', [
        ...['ca', '-batch', '-notext', '-config', at('ca.cnf'), '-cert', at('ca.crt'), '-keyfile', at('ca.key')],
        ...['-startdate', asn1Time(fromDays), '-enddate', asn1Time(untilDays)],
        ...['-in', `${base}.csr`, '-out', `${base}.crt`],
      ]);
      return { cert: readFileSync(`${base}.crt`, 'utf8'), key: readFileSync(`${base}.key`, 'utf8') };
    },
    selfSigned: async (names) => {
      const base = at(`self-${++issued}`);
      await run('openssl', [
        ...['req', '-x509', ...ec, '-days', '30', '-subj', '/CN=self', '-addext', `subjectAltName=${names.join(',')}`],
        ...['-keyout', `${base}.key`, '-out', `${base}.crt`],
      ]);
      return { cert: readFileSync(`${base}.crt`, 'utf8'), key: readFileSync(`${base}.key`, 'utf8') };
    },
    remove: () => rmSync(dir, { recursive: true, force: true }),
  };
}

/** The time `days` days from now, as `20260131235959Z`. */
function asn1Time(days: number): string {
  return `${new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 19).replace(/[-:T]/g, '')}Z`;
}
