/**
 * The files of the gateway's TLS. They are read again every few seconds.
 *
 *   changed and good   the next handshakes use them     changed and broken   one error in the log, and the old ones stay
 *
 * The pair of certificate and key, and the authorities, are loaded apart: a broken file of authorities does not keep out a new certificate.
 */
import { createSecureContext } from 'node:tls';
import type { Logger } from '../../base/log.ts';
import { ReloadedFiles } from '../../base/reloaded-files.ts';
import { type Authorities, certificatesIn, requireApart, trustedPem } from './client-authorities.ts';

interface TlsPaths {
  /** The flags that name the certificate and its key. Default: --tls-cert and --tls-key. */
  readonly flags?: readonly [cert: string, key: string];
  /** PEM of the certificate, with intermediate certificates behind it. */
  readonly cert: string;
  readonly key: string;
  /** The authority of users' certificates; absent if they are not accepted. */
  readonly clientCa?: string | undefined;
  /** The authority of front proxies' certificates; absent if there is no proxy. */
  readonly proxyCa?: string | undefined;
}

export interface TlsMaterial {
  readonly cert: string;
  readonly key: string;
  /** Null if no client certificates are accepted. */
  readonly authorities: Authorities | null;
}

/** Milliseconds between two looks at the files. */
const lookMs = 5000;

export class TlsFiles {
  readonly #pair: ReloadedFiles<Omit<TlsMaterial, 'authorities'>>;
  readonly #authorities: ReloadedFiles<Authorities> | null;
  #timer: NodeJS.Timeout | null = null;
  #changed: () => void = () => {};

  private constructor(paths: TlsPaths, log: Logger) {
    const changed = (): void => this.#changed();
    this.#pair = new ReloadedFiles({ ...pairOf(paths), changed, log });
    const authorities = authoritiesOf(paths);
    this.#authorities = authorities === null ? null : new ReloadedFiles({ ...authorities, changed, log });
  }

  /** @throws PortolanError CONFIGURATION for a file that cannot be read or used. */
  static async open(paths: TlsPaths, log: Logger): Promise<TlsFiles> {
    return new TlsFiles(paths, log);
  }

  get material(): TlsMaterial {
    return { ...this.#pair.current, authorities: this.#authorities?.current ?? null };
  }

  /** Calls `changed` after the material has changed. */
  watch(changed: () => void, everyMs = lookMs): void {
    this.#changed = changed;
    this.#timer = setInterval(() => {
      void this.#pair.look();
      void this.#authorities?.look();
    }, everyMs);
    this.#timer.unref();
  }

  close(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
  }
}

type Loading<T> = Pick<ConstructorParameters<typeof ReloadedFiles<T>>[0], 'what' | 'files' | 'load'>;

function pairOf({
  cert,
  key,
  flags: [certFlag, keyFlag] = ['--tls-cert', '--tls-key'],
}: TlsPaths): Loading<Omit<TlsMaterial, 'authorities'>> {
  return {
    what: 'certificate',
    files: [
      { flag: certFlag, path: cert },
      { flag: keyFlag, path: key },
    ],
    load([certText = '', keyText = '']) {
      if (!certText.includes('-----BEGIN CERTIFICATE-----')) throw new Error('the first has no certificate in PEM');
      if (!keyText.includes('PRIVATE KEY-----')) throw new Error('the second has no private key in PEM');
      createSecureContext({ cert: certText, key: keyText });
      return { cert: certText, key: keyText };
    },
  };
}

/** Null if no client certificates are accepted. */
function authoritiesOf({ clientCa, proxyCa }: TlsPaths): Loading<Authorities> | null {
  const ofUsers = clientCa === undefined ? [] : [{ flag: '--client-ca', path: clientCa }];
  const ofProxies = proxyCa === undefined ? [] : [{ flag: '--proxy-client-ca', path: proxyCa }];
  if (ofUsers.length + ofProxies.length === 0) return null;
  return {
    what: 'list of authorities',
    files: [...ofUsers, ...ofProxies],
    load(texts) {
      const read = texts.map(certificatesIn);
      const authorities = {
        users: read.slice(0, ofUsers.length).flat(),
        proxy: read.slice(ofUsers.length).flat(),
      };
      requireApart(authorities);
      createSecureContext({ ca: trustedPem(authorities) });
      return authorities;
    },
  };
}
