/**
 * The ID token of a kubeconfig user with the `oidc` auth provider, renewed with its refresh token (RFC 6749, section 6).
 *
 * Owns: the tokens in `config.oidc`, which it replaces in place. A provider may keep the refresh token unchanged.
 * Never: writes the kubeconfig, starts a login, or follows a redirect. The API server verifies the token's signature.
 */
import { isAbsolute, join } from 'node:path';
import type { Dispatcher } from 'undici';
import { messageOf, PortolanError } from '../../base/errors.ts';
import { record, strings, text } from '../../base/json.ts';
import { readSmallFile } from '../../base/read-small-file.ts';
import { createDispatcher, transportThrough } from '../http/dispatcher.ts';
import { proxyFromEnvironment } from '../http/environment-proxy.ts';
import type { ClusterConfig } from './kubeconfig.ts';

/** A token and its expiry in milliseconds since the Unix epoch; infinite for a token without an expiry. */
interface OidcCredential {
  readonly token: string;
  readonly expiresAt: number;
}

/** A token is renewed this long before it expires. */
const marginMs = 60_000;
const timeoutMs = 30_000;

/** A valid token. Throws UNAUTHENTICATED when it has expired and cannot be renewed. */
export async function oidcCredential(
  config: ClusterConfig,
  options: { readonly env: NodeJS.ProcessEnv; readonly now: number },
): Promise<OidcCredential> {
  const settings = config.oidc ?? {};
  const held = text(settings['id-token']);
  const heldUntil = held === undefined ? 0 : expiryOf(held);
  if (held !== undefined && heldUntil - marginMs > options.now) return { token: held, expiresAt: heldUntil };
  try {
    const renewed = await renew(config, settings, options.env);
    settings['id-token'] = renewed.idToken;
    settings['refresh-token'] = renewed.refreshToken ?? settings['refresh-token'];
    return { token: renewed.idToken, expiresAt: expiryOf(renewed.idToken) };
  } catch (error) {
    if (held !== undefined && heldUntil > options.now) return { token: held, expiresAt: heldUntil };
    throw new PortolanError(
      'UNAUTHENTICATED',
      `The OIDC token of context ${config.context} has ended and could not be renewed (${messageOf(error)}): log in again.`,
      { cause: error },
    );
  }
}

async function renew(
  config: ClusterConfig,
  settings: Readonly<Record<string, unknown>>,
  env: NodeJS.ProcessEnv,
): Promise<{ idToken: string; refreshToken: string | undefined }> {
  const issuer = required(settings, 'idp-issuer-url');
  const clientId = required(settings, 'client-id');
  const refreshToken = required(settings, 'refresh-token');
  const dispatcher = await dispatcherFor(config, settings, new URL(issuer), env);
  try {
    const wellKnown = `${issuer.replace(/\/+$/, '')}/.well-known/openid-configuration`;
    const provider = await fetchJson(dispatcher, wellKnown, { method: 'GET', headers: {}, body: null });
    const endpoint = text(provider['token_endpoint']);
    if (endpoint === undefined) throw new Error(`${issuer} names no token endpoint`);
    const form = new URLSearchParams({ grant_type: 'refresh_token', refresh_token: refreshToken });
    const headers: Record<string, string> = { 'content-type': 'application/x-www-form-urlencoded' };
    const secret = text(settings['client-secret']);
    const methods = strings(provider['token_endpoint_auth_methods_supported']);
    if (secret !== undefined && (methods.length === 0 || methods.includes('client_secret_basic'))) {
      const pair = `${formEncoded(clientId)}:${formEncoded(secret)}`;
      headers['authorization'] = `Basic ${Buffer.from(pair).toString('base64')}`;
    } else {
      form.set('client_id', clientId);
      if (secret !== undefined) form.set('client_secret', secret);
    }
    const granted = await fetchJson(dispatcher, endpoint, { method: 'POST', headers, body: form.toString() });
    const idToken = text(granted['id_token']);
    if (idToken === undefined) throw new Error(`${issuer} gave no id_token`);
    return { idToken, refreshToken: text(granted['refresh_token']) };
  } finally {
    await dispatcher.destroy();
  }
}

async function fetchJson(
  dispatcher: Dispatcher,
  address: string,
  request: { method: 'GET' | 'POST'; headers: Record<string, string>; body: string | null },
): Promise<Record<string, unknown>> {
  const url = new URL(address);
  const { statusCode, body } = await dispatcher.request({
    origin: url.origin,
    path: url.pathname + url.search,
    method: request.method,
    headers: { accept: 'application/json', 'accept-encoding': 'identity', ...request.headers },
    body: request.body,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
  });
  const answer = await body.json().then(record, () => undefined);
  if (statusCode === 200 && answer !== undefined) return answer;
  // RFC 6749, section 5.2: `error` is a code from a fixed list, so it contains no secret.
  const code = text(answer?.['error']);
  throw new Error(`${url.origin} answered ${statusCode}${code === undefined ? '' : ` ${code}`}`);
}

/** As a value of application/x-www-form-urlencoded: RFC 6749, section 2.3.1 asks for it in Basic authentication. */
function formEncoded(value: string): string {
  return new URLSearchParams({ v: value }).toString().slice('v='.length);
}

async function dispatcherFor(
  config: ClusterConfig,
  settings: Readonly<Record<string, unknown>>,
  issuer: URL,
  env: NodeJS.ProcessEnv,
): Promise<Dispatcher> {
  const data = text(settings['idp-certificate-authority-data']);
  const file = text(settings['idp-certificate-authority']);
  const path = file === undefined || isAbsolute(file) ? file : join(config.directory, file);
  const ca = path !== undefined ? readSmallFile(path) : data === undefined ? undefined : Buffer.from(data, 'base64');
  const tls = ca === undefined ? {} : { ca };
  return createDispatcher(transportThrough(proxyFromEnvironment(issuer, env), tls));
}

function required(settings: Readonly<Record<string, unknown>>, key: string): string {
  const value = text(settings[key]);
  if (value === undefined) throw new Error(`the kubeconfig has no ${key}`);
  return value;
}

/** The `exp` of a JWT, in milliseconds. */
function expiryOf(token: string): number {
  try {
    const claims = record(JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8')));
    return typeof claims?.['exp'] === 'number' ? claims['exp'] * 1000 : Number.POSITIVE_INFINITY;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
