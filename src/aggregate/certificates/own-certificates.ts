/**
 * The certificates that Portolan makes for the door. All replicas have the same ones, from one Secret, and tell kube-apiserver by the
 * `caBundle` of the APIService which authorities to trust.
 *
 *   at the start, and then every ten seconds:
 *     1  read the APIService and the Secret
 *     2  renew what is due
 *     3  something was renewed: write the Secret, at the resourceVersion of step 1
 *     4  the authorities are not those of the caBundle: patch it, at the resourceVersion of step 1
 *     A write that is answered with 409 leads to step 1. So if two replicas start at once, one of them makes the certificates.
 *
 *   Secret deleted, or its content broken      the authorities of before stay trusted, and their keys are replaced like old ones
 *   no APIService                              one warning; it gets its caBundle when it is there
 *   a right is missing, no answer              CONFIGURATION at the start. Later one warning, and the certificates of before stay
 *
 * Never: writes a Secret without its own label, any field of the APIService but `caBundle`, or a key into a log.
 */
import type { Clock } from '../../base/clock.ts';
import { messageOf, PortolanError } from '../../base/errors.ts';
import { isRecord } from '../../base/json.ts';
import type { Logger } from '../../base/log.ts';
import { must } from '../../base/must.ts';
import type { RestClient } from '../../kube/client/rest-client.ts';
import { ApiError, nullIfAbsent } from '../../kube/http/api-error.ts';
import { apiServiceName, apiServicePath } from '../../kube/http/api-service.ts';
import type { TlsMaterial } from '../../server/negotiation/tls-files.ts';
import type { ServedApi } from '../protocol/served-api.ts';
import { type KeptCertificates, keptIn, noCertificates, renewed, secretData } from './kept-certificates.ts';

/** The Service that leads to the door. */
export interface DoorService {
  readonly namespace: string;
  readonly name: string;
}

interface OwnCertificatesOptions {
  /** With Portolan's own account. */
  readonly client: Pick<RestClient, 'get' | 'post' | 'put' | 'patch'>;
  readonly service: DoorService;
  readonly api: ServedApi;
  readonly clock: Clock;
  readonly log: Logger;
}

interface FoundSecret {
  readonly resourceVersion: string;
  readonly data: Readonly<Record<string, string>>;
}

interface FoundApiService {
  readonly resourceVersion: string;
  readonly caBundle: string;
}

interface ApiObject {
  readonly metadata: {
    readonly resourceVersion: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: { readonly caBundle?: string };
}

const ownLabel = 'app.kubernetes.io/managed-by';
const ownValue = 'portolan';
/** By it, cert-manager writes the caBundle. */
const injected = 'cert-manager.io/inject-ca-from';
/** How often one look begins again because somebody else has written. */
const mostAttempts = 10;

/** Milliseconds between two looks. */
const everyMs = 10_000;

/** The name of the Secret in the namespace of the Service. */
export function certificatesSecret({ name }: DoorService): string {
  return `${name}-certificates`;
}

export class OwnCertificates {
  readonly #options: OwnCertificatesOptions;
  readonly #stop = new AbortController();
  #kept: KeptCertificates = noCertificates;
  #changed: () => void = () => {};
  #failure: string | null = null;
  /** No APIService was found, and that was logged. */
  #isUnregistered = false;

  private constructor(options: OwnCertificatesOptions) {
    this.#options = options;
  }

  /** @throws PortolanError CONFIGURATION if the certificates cannot be read or written. */
  static async open(options: OwnCertificatesOptions): Promise<OwnCertificates> {
    const opened = new OwnCertificates(options);
    try {
      await opened.#look();
    } catch (error) {
      if (error instanceof PortolanError && error.code === 'CONFIGURATION') throw error;
      throw new PortolanError('CONFIGURATION', `--aggregate-service cannot keep certificates: ${messageOf(error)}`, {
        cause: error,
      });
    }
    void opened.#run();
    return opened;
  }

  get material(): TlsMaterial {
    return { ...must(this.#kept.server, 'open has made a certificate'), authorities: null };
  }

  /** Calls `changed` after the material has changed. */
  watch(changed: () => void): void {
    this.#changed = changed;
  }

  close(): void {
    this.#stop.abort();
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    const { clock, log } = this.#options;
    for (;;) {
      await clock.sleep(everyMs, signal).catch(() => {});
      if (signal.aborted) return;
      try {
        await this.#look();
        this.#failure = null;
      } catch (error) {
        const failure = messageOf(error);
        if (signal.aborted || failure === this.#failure) continue;
        this.#failure = failure;
        log.warn({ error: failure }, 'the certificates of the door cannot be renewed; the earlier ones stay in use');
      }
    }
  }

  async #look(): Promise<void> {
    for (let attempt = 0; attempt < mostAttempts; attempt += 1) if (await this.#attempt()) return;
    throw new Error('somebody else writes the Secret or the APIService all the time.');
  }

  /** False if somebody else has written meanwhile. */
  async #attempt(): Promise<boolean> {
    const { clock, service } = this.#options;
    const apiService = await this.#apiService();
    const secret = await this.#secret();
    const found = this.#found(secret);
    const kept = renewed(found, {
      name: `${service.name}.${service.namespace}.svc`,
      now: clock.now(),
      published: apiService?.caBundle === bundleOf(found),
    });
    const data = secretData(kept);
    const isKept = secret !== null && Object.entries(data).every(([name, text]) => secret.data[name] === text);
    if (!isKept && !(await this.#write(secret, data))) return false;
    this.#use(kept);
    return this.#publish(apiService, kept);
  }

  /** The kept certificates, from the Secret or else from before. */
  #found(secret: FoundSecret | null): KeptCertificates {
    const { authorities, server } = this.#kept;
    const { log } = this.#options;
    if (secret === null) {
      if (server !== null)
        log.warn({ secret: this.#secretName }, 'the Secret of the certificates is gone: it is made anew');
      return { authorities, authorityKey: null, server };
    }
    const { kept, problems } = keptIn(secret.data);
    if (problems.length === 0) return kept;
    log.warn({ secret: this.#secretName, problems }, 'the Secret of the certificates is broken: it is made anew');
    return {
      authorities: kept.authorities.length === 0 ? authorities : kept.authorities,
      authorityKey: kept.authorityKey,
      server: kept.server ?? server,
    };
  }

  #use(kept: KeptCertificates): void {
    const former = this.#kept.server;
    this.#kept = kept;
    if (former?.cert === kept.server?.cert && former?.key === kept.server?.key) return;
    this.#options.log.info({ secret: this.#secretName }, 'a certificate of the door is used from now on');
    this.#changed();
  }

  /** False if somebody else has written it meanwhile. */
  async #write(former: FoundSecret | null, data: Readonly<Record<string, string>>): Promise<boolean> {
    const { client, service } = this.#options;
    const name = certificatesSecret(service);
    const metadata = { name, namespace: service.namespace, labels: { [ownLabel]: ownValue } };
    const body = { apiVersion: 'v1', kind: 'Secret', metadata, type: 'Opaque', data };
    const secrets = `/api/v1/namespaces/${service.namespace}/secrets`;
    if (former === null) {
      const right = `create secrets in the namespace ${service.namespace}`;
      return unless([409], () => this.#allowed(right, () => client.post(secrets, body)));
    }
    const changed = { ...body, metadata: { ...metadata, resourceVersion: former.resourceVersion } };
    return unless([404, 409], () =>
      this.#allowed(`update the secret ${this.#secretName}`, () => client.put(`${secrets}/${name}`, changed)),
    );
  }

  /** False if somebody else has written it meanwhile. */
  async #publish(apiService: FoundApiService | null, kept: KeptCertificates): Promise<boolean> {
    const { client, log } = this.#options;
    const name = this.#apiServiceName;
    if (apiService === null) {
      if (!this.#isUnregistered) log.warn({ apiService: name }, 'there is no APIService of this name: create it');
      this.#isUnregistered = true;
      return true;
    }
    this.#isUnregistered = false;
    const caBundle = bundleOf(kept);
    if (apiService.caBundle === caBundle) return true;
    const patch = { metadata: { resourceVersion: apiService.resourceVersion }, spec: { caBundle } };
    const isWritten = await unless([404, 409], () =>
      this.#allowed(`patch the apiservice ${name}`, () => client.patch(apiServicePath(name), 'merge', patch)),
    );
    if (isWritten)
      log.info(
        { apiService: name, authorities: kept.authorities.length },
        'the APIService has the authorities of the door',
      );
    return isWritten;
  }

  /** Null if there is none. @throws PortolanError CONFIGURATION for a Secret of somebody else. */
  async #secret(): Promise<FoundSecret | null> {
    const { client, service } = this.#options;
    const path = `/api/v1/namespaces/${service.namespace}/secrets/${certificatesSecret(service)}`;
    const found = await this.#allowed(`get the secret ${this.#secretName}`, () =>
      client.get<ApiObject>(path, { signal: this.#stop.signal }),
    ).catch(nullIfAbsent);
    if (found === null) return null;
    if (found.metadata.labels?.[ownLabel] !== ownValue) {
      throw new PortolanError(
        'CONFIGURATION',
        `--aggregate-service keeps certificates in the Secret ${this.#secretName}, and that one is of somebody else: it has no label ${ownLabel}=${ownValue}. Delete it, or give the Service another name.`,
      );
    }
    return { resourceVersion: found.metadata.resourceVersion, data: isRecord(found.data) ? found.data : {} };
  }

  /** Null if there is none. @throws PortolanError CONFIGURATION for one that cert-manager writes. */
  async #apiService(): Promise<FoundApiService | null> {
    const name = this.#apiServiceName;
    const { client } = this.#options;
    const found = await this.#allowed(`get the apiservice ${name}`, () =>
      client.get<ApiObject>(apiServicePath(name), { signal: this.#stop.signal }),
    ).catch(nullIfAbsent);
    if (found === null) return null;
    const { resourceVersion, annotations = {} } = found.metadata;
    if (annotations[injected] === undefined) return { resourceVersion, caBundle: found.spec?.caBundle ?? '' };
    throw new PortolanError(
      'CONFIGURATION',
      `cert-manager writes the caBundle of the APIService ${name}: take off its annotation ${injected}, or give its certificate with --aggregate-cert and --aggregate-key instead of --aggregate-service.`,
    );
  }

  get #secretName(): string {
    const { service } = this.#options;
    return `${service.namespace}/${certificatesSecret(service)}`;
  }

  get #apiServiceName(): string {
    const { group, version } = this.#options.api;
    return apiServiceName(group, version);
  }

  /** @param right as a verb and what it is for @throws PortolanError CONFIGURATION that names the right if it is missing */
  async #allowed<T>(right: string, ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof ApiError) || error.httpStatus !== 403) throw error;
      throw new PortolanError(
        'CONFIGURATION',
        `--aggregate-service needs the right to ${right}: ${error.message} Apply what \`portolan rbac --aggregate\` prints.`,
        { cause: error },
      );
    }
  }
}

/** The authorities in base64, as in the APIService. */
function bundleOf({ authorities }: KeptCertificates): string {
  return Buffer.from(authorities.join('')).toString('base64');
}

/** False if the answer has one of these statuses: somebody else has written the object, or has deleted it. */
async function unless(statuses: readonly number[], write: () => Promise<unknown>): Promise<boolean> {
  try {
    await write();
    return true;
  } catch (error) {
    if (error instanceof ApiError && statuses.includes(error.httpStatus)) return false;
    throw error;
  }
}
