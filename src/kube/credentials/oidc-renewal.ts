/**
 * Asks an OIDC provider for a new ID token with a refresh token (OpenID Connect Core, section 12). oauth4webapi makes the requests.
 *
 * Owns: the way to the provider (proxy, certificate authority, time limit), and what is accepted of it. As in kubectl, the provider may
 * be reached by HTTP, and may give its issuer another name. The claims of the new token are not compared: the API server verifies it.
 * Therefore the answers are read here, and not by openid-client, which refuses such providers.
 * Never: follows a redirect, or repeats in an error what the provider wrote, but for the code of RFC 6749.
 */
import { isAbsolute, join } from 'node:path';
import type { AuthorizationServer, ClientAuth, CustomFetchOptions } from 'oauth4webapi';
import { record, strings, text, textOr } from '../../base/json.ts';
import { readSmallFile } from '../../base/read-small-file.ts';
import { createDispatcher, transportThrough } from '../http/dispatcher.ts';
import { proxyFromEnvironment } from '../http/environment-proxy.ts';
import type { ClusterConfig } from './kubeconfig.ts';

/** The tokens, as OpenIDConnectAuth takes them from its client. */
interface RenewedTokens {
  readonly id_token: string;
  readonly refresh_token: string;
}

type Request = CustomFetchOptions<'GET' | 'POST', URLSearchParams | undefined>;
type Settings = Readonly<Record<string, unknown>>;

const timeoutMs = 30_000;

/** Throws an Error without a secret when the provider gives no ID token. A provider may leave the refresh token as it is. */
export async function renewedTokens(
  config: ClusterConfig,
  settings: Settings,
  refreshToken: string,
  env: NodeJS.ProcessEnv,
): Promise<RenewedTokens> {
  const { allowInsecureRequests, ClientSecretPost, customFetch, discoveryRequest, None, refreshTokenGrantRequest } =
    await import('oauth4webapi');
  const issuer = new URL(textOr(settings['idp-issuer-url']));
  const dispatcher = createDispatcher(
    transportThrough(proxyFromEnvironment(issuer, env), authorityOf(settings, config.directory)),
  );
  const through = {
    [allowInsecureRequests]: true,
    // Not by fetch, which refuses some ports.
    [customFetch]: async (url: string, { body, headers, method }: Request): Promise<Response> => {
      const { origin, pathname, search } = new URL(url);
      const answer = await dispatcher.request({
        origin,
        path: pathname + search,
        method,
        headers: { ...headers, 'accept-encoding': 'identity' },
        body: body?.toString() ?? null,
        headersTimeout: timeoutMs,
        bodyTimeout: timeoutMs,
      });
      return new Response(await answer.body.text(), { status: answer.statusCode });
    },
  };
  try {
    const provider = await answerOf(issuer, await discoveryRequest(issuer, through));
    const methods = strings(provider['token_endpoint_auth_methods_supported']);
    const secret = text(settings['client-secret']);
    const inHeader = methods.length === 0 || methods.includes('client_secret_basic');
    const server: AuthorizationServer = { ...provider, issuer: issuer.href };
    const client = { client_id: textOr(settings['client-id']) };
    const ask = (proof: ClientAuth) => refreshTokenGrantRequest(server, client, proof, refreshToken, through);
    let answer = await ask(secret === undefined ? None() : (inHeader ? secretInHeader : ClientSecretPost)(secret));
    // As kubectl: not every provider that takes the secret only in the form says so.
    if (answer.status === 401 && secret !== undefined && inHeader) answer = await ask(ClientSecretPost(secret));
    const granted = await answerOf(issuer, answer);
    const idToken = text(granted['id_token']);
    if (idToken === undefined) throw new Error(`${issuer.origin} gave no id_token`);
    return { id_token: idToken, refresh_token: text(granted['refresh_token']) ?? refreshToken };
  } finally {
    await dispatcher.destroy();
  }
}

async function answerOf({ origin }: URL, response: Response): Promise<Readonly<Record<string, unknown>>> {
  const answer = await response.json().then(record, () => undefined);
  if (response.ok && answer !== undefined) return answer;
  // RFC 6749, section 5.2: `error` is a code from a fixed list, so it contains no secret.
  const code = text(answer?.['error']);
  throw new Error(`${origin} answered ${response.status}${code === undefined ? '' : ` ${code}`}`);
}

/**
 * As `client_secret_basic` of oauth4webapi, which also encodes the characters `-`, `.` and `_` of a client's name. Providers that do not
 * decode would not know the client.
 */
function secretInHeader(secret: string): ClientAuth {
  const encoded = (value: string): string => new URLSearchParams({ v: value }).toString().slice('v='.length);
  return (_server, client, _body, headers) => {
    headers.set('authorization', `Basic ${btoa(`${encoded(client.client_id)}:${encoded(secret)}`)}`);
  };
}

function authorityOf(settings: Settings, directory: string): { ca?: Buffer } {
  const file = text(settings['idp-certificate-authority']);
  if (file !== undefined) return { ca: readSmallFile(isAbsolute(file) ? file : join(directory, file)) };
  const data = text(settings['idp-certificate-authority-data']);
  return data === undefined ? {} : { ca: Buffer.from(data, 'base64') };
}
