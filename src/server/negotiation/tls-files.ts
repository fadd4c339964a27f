/**
 * The files of the gateway's TLS. They are read again every few seconds: Kubernetes replaces the files of a mounted Secret by moving a
 * link, which file notifications miss.
 *
 *   changed and good   the next handshakes use them     changed and broken   one error in the log, and the old ones stay
 */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import { messageOf, PortolanError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { type Authorities, certificatesIn } from './client-certificates.ts';

export interface TlsPaths {
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
  /** PEM of all authorities; empty if no certificates are accepted. */
  readonly ca: string;
  readonly authorities: Authorities;
}

/** Milliseconds between two looks at the files. */
const lookMs = 5000;

export class TlsFiles {
  readonly #paths: TlsPaths;
  readonly #log: Logger;
  #material: TlsMaterial;
  #digest: string;
  #failed = '';
  #timer: NodeJS.Timeout | null = null;

  private constructor(paths: TlsPaths, log: Logger, read: ReadFiles) {
    this.#paths = paths;
    this.#log = log;
    this.#material = read.material;
    this.#digest = read.digest;
  }

  /** @throws PortolanError CONFIGURATION for a file that cannot be read or used. */
  static async open(paths: TlsPaths, log: Logger): Promise<TlsFiles> {
    return new TlsFiles(paths, log, await readFiles(paths));
  }

  get material(): TlsMaterial {
    return this.#material;
  }

  /** Calls `changed` with new material. */
  watch(changed: (material: TlsMaterial) => void, everyMs = lookMs): void {
    this.#timer = setInterval(() => void this.#look(changed), everyMs);
    this.#timer.unref();
  }

  close(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
  }

  async #look(changed: (material: TlsMaterial) => void): Promise<void> {
    try {
      const { material, digest } = await readFiles(this.#paths);
      this.#failed = '';
      if (digest === this.#digest) return;
      this.#digest = digest;
      this.#material = material;
      this.#log.info({ cert: this.#paths.cert }, 'the files of TLS have changed and are in use');
      changed(material);
    } catch (error) {
      const text = messageOf(error);
      if (text === this.#failed) return;
      this.#failed = text;
      this.#log.error({ error: text }, 'the files of TLS have changed and cannot be used; the old ones stay in use');
    }
  }
}

interface ReadFiles {
  readonly material: TlsMaterial;
  readonly digest: string;
}

async function readFiles({ cert, key, clientCa, proxyCa }: TlsPaths): Promise<ReadFiles> {
  const [certText, keyText, users, proxy] = await Promise.all([
    read('--tls-cert', cert),
    read('--tls-key', key),
    clientCa === undefined ? '' : read('--client-ca', clientCa),
    proxyCa === undefined ? '' : read('--proxy-client-ca', proxyCa),
  ]);
  const material = {
    cert: certText,
    key: keyText,
    ca: [users, proxy].filter((text) => text !== '').join('\n'),
    authorities: {
      users: users === '' ? [] : usable('--client-ca', clientCa, () => certificatesIn(users)),
      proxy: proxy === '' ? [] : usable('--proxy-client-ca', proxyCa, () => certificatesIn(proxy)),
    },
  };
  usable('--tls-cert and --tls-key', cert, () => createSecureContext({ cert: certText, key: keyText }));
  const digest = createHash('sha256')
    .update(JSON.stringify([certText, keyText, users, proxy]))
    .digest('hex');
  return { material, digest };
}

async function read(flag: string, path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new PortolanError('CONFIGURATION', `${flag}: ${path} cannot be read: ${messageOf(error)}.`, { cause: error });
  }
}

function usable<T>(flag: string, path: string | undefined, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new PortolanError('CONFIGURATION', `${flag}: ${path ?? ''} cannot be used: ${messageOf(error)}.`, {
      cause: error,
    });
  }
}
