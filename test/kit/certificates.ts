/** Certificates for tests, made by openssl in a temporary folder: authorities and the leaves that they sign. */
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
   * negative numbers are in the past. Kubernetes reads the organization of a client certificate as a group. Extensions are written as
   * for openssl, such as `extendedKeyUsage=serverAuth`.
   */
  issue(options: {
    names: readonly string[];
    commonName?: string;
    organization?: string;
    /** The uid of the user, as Kubernetes reads it. */
    uid?: string;
    extensions?: readonly string[];
    fromDays?: number;
    untilDays?: number;
  }): Promise<Certificate>;
  /** An intermediate authority that this one signs, by default with the extension that lets it sign others. */
  intermediate(commonName: string, extensions?: readonly string[]): Promise<CertificateAuthority>;
  /** A self-signed certificate. */
  selfSigned(names: readonly string[]): Promise<Certificate>;
  /** Removes the folder. */
  remove(): void;
}

/** A name for the attribute of a subject that Kubernetes reads as the uid. */
const uidName = 'oid_section=oids\n[oids]\nkubeUid=1.3.6.1.4.1.57683.2\n';

const mayIssue = 'basicConstraints=critical,CA:true';

/** A new authority. */
export function createCertificateAuthority(commonName = 'Test authority'): Promise<CertificateAuthority> {
  return openAuthority(async (key, certificate) => {
    const subject = `/CN=${commonName}`;
    await run('openssl', [
      ...['req', '-x509', ...ec, '-days', '30', '-subj', subject, '-keyout', key, '-out', certificate],
    ]);
  });
}

const ec = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

/** @param create writes the key and the certificate of the authority. */
async function openAuthority(
  create: (key: string, certificate: string) => Promise<void>,
): Promise<CertificateAuthority> {
  const dir = mkdtempSync(join(tmpdir(), 'portolan-certificates-'));
  const at = (name: string): string => join(dir, name);
  writeFileSync(
    at('ca.cnf'),
    `${uidName}[ca]\ndefault_ca=own\n[own]\ndatabase=${at('index.txt')}\nnew_certs_dir=${dir}\nserial=${at('serial')}\ndefault_md=sha256\npolicy=any\nunique_subject=no\ncopy_extensions=copy\n[any]\norganizationName=optional\ncommonName=supplied\nkubeUid=optional\n`,
  );
  writeFileSync(at('req.cnf'), `${uidName}[req]\ndistinguished_name=names\n[names]\n`);
  writeFileSync(at('index.txt'), '');
  writeFileSync(at('serial'), '01\n');
  await create(at('ca.key'), at('ca.crt'));
  let issued = 0;
  const sign = (request: string, certificate: string, fromDays: number, untilDays: number) =>
    run('openssl', [
      ...['ca', '-batch', '-notext', '-config', at('ca.cnf'), '-cert', at('ca.crt'), '-keyfile', at('ca.key')],
      ...['-startdate', asn1Time(fromDays), '-enddate', asn1Time(untilDays), '-in', request, '-out', certificate],
    ]);
  return {
    ca: readFileSync(at('ca.crt'), 'utf8'),
    issue: async ({
      names,
      commonName = 'leaf',
      organization,
      uid,
      extensions = [],
      fromDays = -1,
      untilDays = 30,
    }) => {
      const part = (name: string, value: string | undefined): string =>
        value === undefined ? '' : `/${name}=${value}`;
      const subject = `${part('O', organization)}/CN=${commonName}${part('kubeUid', uid)}`;
      const base = at(`leaf-${++issued}`);
      await run('openssl', [
        ...['req', '-new', ...ec, '-config', at('req.cnf'), '-subj', subject],
        ...['-keyout', `${base}.key`, '-out', `${base}.csr`],
        ...(names.length === 0 ? [] : ['-addext', `subjectAltName=${names.join(',')}`]),
        ...extensions.flatMap((extension) => ['-addext', extension]),
      ]);
      await sign(`${base}.csr`, `${base}.crt`, fromDays, untilDays);
      return { cert: readFileSync(`${base}.crt`, 'utf8'), key: readFileSync(`${base}.key`, 'utf8') };
    },
    intermediate: (commonName, extensions = [mayIssue]) =>
      openAuthority(async (key, certificate) => {
        const request = `${certificate}.csr`;
        const added = extensions.flatMap((extension) => ['-addext', extension]);
        await run('openssl', [
          'req',
          '-new',
          ...ec,
          '-subj',
          `/CN=${commonName}`,
          '-keyout',
          key,
          '-out',
          request,
          ...added,
        ]);
        await sign(request, certificate, -1, 30);
      }),
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
