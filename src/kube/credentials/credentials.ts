/**
 * The credentials of one cluster: headers and TLS material, and their renewal.
 *
 * Owns: the only conversion from a ClusterConfig to a request's credentials. All concurrent users share one fetch.
 * Never: keeps credentials that a server has rejected, and never runs a plugin twice for concurrent requests.
 *
 * Life of credentials: fetched on first use -> fetched again after `refreshAt` (files every minute, a plugin's credential a
 * minute before it expires) -> if that fails, used until `expiresAt`. A 401 drops them at once.
 *
 * client-node's authenticators make the credentials of plugins (exec-credential.ts), OIDC providers (oidc-credential.ts) and deprecated
 * auth providers (auth-provider.ts). This file reads what the kubeconfig or a file holds; client-node.test.ts compares it with client-node.
 */
import { createHash, X509Certificate } from 'node:crypto';
import { type ConnectionOptions, createSecureContext } from 'node:tls';
import type { Clock } from '../../base/clock.ts';
import { messageOf, PortolanError } from '../../base/errors.ts';
import { readSmallFile } from '../../base/read-small-file.ts';
import { type Transport, transportThrough } from '../http/dispatcher.ts';
import { providerHeaders } from './auth-provider.ts';
import { runExecPlugin } from './exec-credential.ts';
import { extraHeader, headerBytes } from './impersonation.ts';
import type { ClusterConfig } from './kubeconfig.ts';
import { oidcCredential } from './oidc-credential.ts';
import { userOfServer } from './server-address.ts';

/** The headers and TLS material of one request. Times are in milliseconds since the Unix epoch. */
export interface Credentials {
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly transport: Transport;
  /** Two credentials may share connections exactly if their fingerprints are equal. */
  readonly transportFingerprint: string;
  readonly refreshAt: number;
  readonly expiresAt: number;
}

/** The interval between reads of the files, and the time before expiry at which a plugin's credential is renewed. */
const refreshMs = 60_000;
const pluginTimeoutMs = 60_000;

export class CredentialProvider {
  readonly #load: () => Promise<Credentials>;
  readonly #clock: Clock;
  #current: Credentials | undefined;
  #loading: Promise<Credentials> | undefined;

  constructor(load: () => Promise<Credentials>, clock: Clock) {
    this.#load = load;
    this.#clock = clock;
  }

  /** Valid credentials; fetches them when needed. */
  async get(): Promise<Credentials> {
    const held = this.#current;
    const now = this.#clock.now();
    if (held !== undefined && now < held.refreshAt) return held;
    try {
      return await this.#fetch();
    } catch (error) {
      if (held !== undefined && held === this.#current && this.#clock.now() < held.expiresAt) return held;
      throw error;
    }
  }

  /** Drops these credentials if they are still the current ones. Several requests may be rejected at once. */
  drop(refused: Credentials): void {
    if (this.#current === refused) this.#current = undefined;
  }

  #fetch(): Promise<Credentials> {
    this.#loading ??= this.#load()
      .then((credentials) => {
        this.#current = credentials;
        return credentials;
      })
      .finally(() => {
        this.#loading = undefined;
      });
    return this.#loading;
  }
}

/** Without them, an API server takes a request for one of `system:anonymous`, or refuses it. */
export function hasCredentials({ cluster, user, tokenFile, exec, oidc }: ClusterConfig): boolean {
  const { token, username, certData, certFile, authProvider } = user;
  return [token, username, certData, certFile, authProvider, tokenFile, exec, oidc, basicOfServer(cluster.server)].some(
    (each) => each !== undefined && each !== '',
  );
}

/** Fetches the credentials of `config`: reads its files, requests an OIDC token, runs its plugin. */
export async function loadCredentials(
  config: ClusterConfig,
  options: { readonly env: NodeJS.ProcessEnv; readonly clock: Clock },
): Promise<Credentials> {
  const now = options.clock.now();
  const material = readMaterial(config);
  const headers = await headersOf(config);
  if (config.tokenFile !== undefined)
    headers['authorization'] = bearer(readToken(config.tokenFile, config), 'token file', config);
  // As in Go: a user in the address of the server is preferred to all others.
  const ofServer = basicOfServer(config.cluster.server);
  if (ofServer !== undefined) headers['authorization'] = ofServer;
  // As in client-go: the kubeconfig's own token or password is preferred to a plugin and to OIDC, and its certificate to a plugin.
  const isGiven = headers['authorization'] !== undefined;
  let expiresAt = Number.POSITIVE_INFINITY;
  let refreshAt = now + refreshMs;
  if (config.oidc !== undefined && !isGiven) {
    const oidc = await oidcCredential(config, { env: options.env, now });
    headers['authorization'] = bearer(oidc.token, 'OIDC provider', config);
    expiresAt = oidc.expiresAt;
    refreshAt = Math.min(refreshAt, expiresAt);
  }
  if (config.exec !== undefined && !isGiven && material.cert === undefined) {
    const plugin = await runExecPlugin(config, { env: options.env, timeoutMs: pluginTimeoutMs, ca: material.ca });
    if (plugin.token !== undefined) headers['authorization'] = bearer(plugin.token, 'credential plugin', config);
    if (plugin.clientCertificate !== undefined) material.cert = plugin.clientCertificate;
    if (plugin.clientKey !== undefined) material.key = plugin.clientKey;
    expiresAt = plugin.expiresAt ?? Number.POSITIVE_INFINITY;
    // Kept until a minute before it expires. A credential with a short life is renewed after half of it.
    refreshAt = Math.max(expiresAt - refreshMs, now + (expiresAt - now) / 2);
  }
  impersonate(config, headers);
  const transport = transportOf(config, material);
  return {
    headers,
    transport,
    transportFingerprint: fingerprint(transport),
    refreshAt,
    expiresAt,
  };
}

/**
 * The transport for callers' requests. It trusts the server, and has none of the gateway's headers, certificate and key. Needs no
 * identity provider and no plugin.
 */
export async function loadWithoutIdentity(config: ClusterConfig, clock: Clock): Promise<Credentials> {
  const { ca } = readMaterial({ ...config, user: { name: 'caller' } });
  const transport = transportOf(config, { ca, cert: undefined, key: undefined });
  return {
    headers: {},
    transport,
    transportFingerprint: fingerprint(transport),
    refreshAt: clock.now() + refreshMs,
    expiresAt: Number.POSITIVE_INFINITY,
  };
}

/** Validates the TLS material that needs no network and no plugin, so that an invalid file fails the start. */
export async function checkStaticMaterial(config: ClusterConfig): Promise<void> {
  const { ca, cert, key } = readMaterial(config);
  try {
    // Otherwise an invalid CA would fail later, as a certificate that cannot be verified.
    if (ca !== undefined) new X509Certificate(ca);
    createSecureContext({
      ...(ca === undefined ? {} : { ca }),
      ...(cert === undefined ? {} : { cert }),
      ...(key === undefined ? {} : { key }),
    });
  } catch (error) {
    throw new PortolanError(
      'CONFIGURATION',
      `The certificates of context ${config.context} in ${config.source} cannot be used (${messageOf(error)}): check certificate-authority, client-certificate and client-key.`,
      { cause: error },
    );
  }
}

/** The TLS material, from files or from the kubeconfig itself. A plugin may override `cert` and `key`. */
interface Material {
  readonly ca: Buffer | undefined;
  cert: Buffer | string | undefined;
  key: Buffer | string | undefined;
}

function readMaterial(config: ClusterConfig): Material {
  const { cluster, user } = config;
  const read = (file: string | undefined, data: string | undefined): Buffer | undefined => {
    if (file !== undefined) return readSmallFile(file);
    return data === undefined ? undefined : Buffer.from(data, 'base64');
  };
  try {
    return {
      ca: read(cluster.caFile, cluster.caData),
      cert: read(user.certFile, user.certData),
      key: read(user.keyFile, user.keyData),
    };
  } catch (error) {
    throw new PortolanError(
      'CONFIGURATION',
      `A file that context ${config.context} in ${config.source} names cannot be read (${messageOf(error)}): put it there, or correct the kubeconfig.`,
      { cause: error },
    );
  }
}

/** The headers from the kubeconfig itself. A token takes precedence over a password and over an auth provider. */
async function headersOf(config: ClusterConfig): Promise<Record<string, string | string[]>> {
  const { authProvider, impersonateUser, password, token, username } = config.user;
  const headers: Record<string, string | string[]> = {};
  if (username !== undefined) {
    headers['authorization'] = basic(Buffer.from(`${username}:${password ?? ''}`));
  }
  if (authProvider !== undefined) {
    for (const [name, value] of Object.entries(await providerHeaders(config))) {
      if (typeof value === 'string') headers[name.toLowerCase()] = value;
    }
  }
  if (token !== undefined) headers['authorization'] = bearer(token, 'user', config);
  if (impersonateUser !== undefined) headers['impersonate-user'] = headerBytes(impersonateUser);
  return headers;
}

function basic(usernameAndPassword: Buffer): string {
  return `Basic ${usernameAndPassword.toString('base64')}`;
}

/** The header of a user in an address such as `https://user:password@host`. */
function basicOfServer(server: string): string | undefined {
  const user = userOfServer(server);
  if (user === undefined) return undefined;
  // An escape is a byte, and all other characters are ASCII.
  const bytes = `${user.username}:${user.password}`.replace(/%([0-9a-f]{2})/gi, (_, hex) =>
    String.fromCharCode(parseInt(hex, 16)),
  );
  return basic(Buffer.from(bytes, 'latin1'));
}

/** @param from what gave the token */
function bearer(token: string, from: string, { context, source }: ClusterConfig): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a header may have no control character but the tab
  if (/[\x00-\x08\x0a-\x1f\x7f]/.test(token)) {
    const what = /^[^\r\n]*[\r\n]+$/.test(token) ? 'a line break at its end' : 'a control character';
    throw new PortolanError(
      'CONFIGURATION',
      `The token of the ${from} of context ${context} in ${source} has ${what}: write the token without it.`,
    );
  }
  return `Bearer ${headerBytes(token)}`;
}

function readToken(path: string, config: ClusterConfig): string {
  try {
    const token = readSmallFile(path).toString('utf8').trim();
    if (token === '') throw new Error('it is empty');
    return token;
  } catch (error) {
    throw new PortolanError(
      'UNAUTHENTICATED',
      `The token file ${path} of context ${config.context} cannot be used (${messageOf(error)}): see that it is there and holds a token.`,
      { cause: error },
    );
  }
}

function impersonate(config: ClusterConfig, headers: Record<string, string | string[]>): void {
  const as = config.impersonation;
  if (as === undefined) return;
  // One header line for each group: a joined line would be one group with a comma in its name.
  if (as.groups.length > 0) headers['impersonate-group'] = as.groups.map(headerBytes);
  if (as.uid !== undefined) headers['impersonate-uid'] = headerBytes(as.uid);
  for (const [key, values] of as.extra) headers[extraHeader(key)] = values.map(headerBytes);
}

function transportOf({ cluster }: ClusterConfig, { ca, cert, key }: Material): Transport {
  const tls: ConnectionOptions = {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(cluster.skipTLSVerify ? { rejectUnauthorized: false } : {}),
    ...(cluster.tlsServerName === undefined ? {} : { servername: cluster.tlsServerName }),
  };
  return transportThrough(cluster.proxyUrl, tls);
}

function fingerprint(transport: Transport): string {
  return createHash('sha256').update(JSON.stringify(transport)).digest('hex');
}
