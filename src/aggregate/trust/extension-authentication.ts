/**
 * Whom an aggregated API server trusts: the ConfigMap kube-system/extension-apiserver-authentication, which each kube-apiserver writes.
 *
 *   requestheader-client-ca-file           PEM of the authority that signs the certificate of the aggregator
 *   requestheader-allowed-names            JSON list of its common names; empty for any
 *   requestheader-username-headers, -uid-headers, -group-headers, -extra-headers-prefix     JSON lists of headers
 *
 *   open: read, or CONFIGURATION -> look every five seconds: other data -> used from the next request and handshake on
 *                                                            broken, or no answer -> one warning, and the earlier data stay
 *
 * The ConfigMap is read as the gateway, whose account needs the Role extension-apiserver-authentication-reader of kube-system.
 * Invariant: `authorities` is the same object until the authority changes, so that a connection is judged once.
 */
import type { Authenticate } from '../../access/caller.ts';
import { proxiedCaller, type TrustedProxies } from '../../auth/identity/front-proxy.ts';
import type { Clock } from '../../base/clock.ts';
import { messageOf, PortolanError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { RestClient } from '../../kube/client/rest-client.ts';
import { type Authorities, certificatesIn, trustedPem } from '../../server/negotiation/client-authorities.ts';

interface ExtensionAuthenticationOptions {
  readonly client: Pick<RestClient, 'get'>;
  readonly clock: Clock;
  /** Milliseconds between two looks; default 5 s. */
  readonly everyMs?: number | undefined;
  readonly log: Logger;
}

interface Trust {
  /** The PEM that `authorities` are made of. */
  readonly pem: string;
  readonly authorities: Authorities;
  readonly proxies: TrustedProxies;
}

const configMap = 'kube-system/extension-apiserver-authentication';
const path = '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication';
const authorityKey = 'requestheader-client-ca-file';

export class ExtensionAuthentication {
  readonly #options: ExtensionAuthenticationOptions;
  readonly #stop = new AbortController();
  readonly #listeners: (() => void)[] = [];
  #trust: Trust;
  #failure: string | null = null;

  private constructor(options: ExtensionAuthenticationOptions, trust: Trust) {
    this.#options = options;
    this.#trust = trust;
  }

  /** @throws PortolanError CONFIGURATION if the ConfigMap cannot be read or used. */
  static async open(options: ExtensionAuthenticationOptions): Promise<ExtensionAuthentication> {
    try {
      const opened = new ExtensionAuthentication(options, await readTrust(options.client));
      void opened.#run();
      return opened;
    } catch (error) {
      throw new PortolanError(
        'CONFIGURATION',
        `--aggregate needs the ConfigMap ${configMap}: ${messageOf(error)} Bind the account of Portolan to the Role extension-apiserver-authentication-reader in kube-system, and start kube-apiserver with --requestheader-client-ca-file.`,
        { cause: error },
      );
    }
  }

  get authorities(): Authorities {
    return this.#trust.authorities;
  }

  /** Who a request is from, by the headers of the aggregator. @throws PortolanError UNAUTHENTICATED for every other request. */
  readonly authenticate: Authenticate = (credentials) => {
    const caller = proxiedCaller(credentials, this.#trust.proxies);
    if (caller !== null) return caller;
    throw new PortolanError(
      'UNAUTHENTICATED',
      'This API server is asked through kube-apiserver, whose aggregator names the user: send the request there.',
    );
  };

  /** Calls back after a change of the authority. */
  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  close(): void {
    this.#stop.abort();
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    const { clock, everyMs = 5000 } = this.#options;
    for (;;) {
      await clock.sleep(everyMs, signal).catch(() => {});
      if (signal.aborted) return;
      await this.#look();
    }
  }

  /** Never rejects. */
  async #look(): Promise<void> {
    const { client, log } = this.#options;
    try {
      const found = await readTrust(client, this.#stop.signal);
      const former = this.#trust;
      const isSame = found.pem === former.pem;
      this.#trust = isSame ? { ...found, authorities: former.authorities } : found;
      this.#failure = null;
      if (isSame) return;
      log.info({ configMap }, 'the authority of the aggregator has changed; the new one is used from now on');
      for (const listener of this.#listeners) listener();
    } catch (error) {
      const failure = messageOf(error);
      if (this.#stop.signal.aborted || failure === this.#failure) return;
      this.#failure = failure;
      const text = 'the authority of the aggregator cannot be read again; the earlier one stays in use';
      log.warn({ configMap, error: failure }, text);
    }
  }
}

/** @throws Error for a ConfigMap that cannot be read or used. */
async function readTrust(client: Pick<RestClient, 'get'>, signal?: AbortSignal): Promise<Trust> {
  const { data = {} } = await client.get<{ readonly data?: Readonly<Record<string, string>> }>(path, { signal });
  const pem = data[authorityKey];
  if (pem === undefined || pem.trim() === '') throw new Error(`it has no ${authorityKey}.`);
  const authorities: Authorities = { users: [], proxy: certificatesIn(pem) };
  trustedPem(authorities);
  const listOf = (name: string): readonly string[] => namesIn(name, data[name]);
  const headersOf = (name: string): readonly string[] => listOf(name).map((each) => each.toLowerCase());
  const headers = {
    user: headersOf('requestheader-username-headers'),
    uid: headersOf('requestheader-uid-headers'),
    group: headersOf('requestheader-group-headers'),
    extra: headersOf('requestheader-extra-headers-prefix'),
  };
  if (headers.user.length === 0) throw new Error('it names no header of the user.');
  const names = listOf('requestheader-allowed-names');
  return { pem, authorities, proxies: { names, headers, authority: `the ConfigMap ${configMap}` } };
}

/** A JSON list of names; empty if it is absent. Servers before 1.32 name no header of the uid. */
function namesIn(name: string, text: string | undefined): readonly string[] {
  if (text === undefined || text === '') return [];
  let found: unknown;
  try {
    found = JSON.parse(text);
  } catch {
    found = null;
  }
  if (Array.isArray(found) && found.every((each) => typeof each === 'string' && each !== '')) return found as string[];
  throw new Error(`its ${name} is no JSON list of names.`);
}
