/**
 * The ID token of a kubeconfig user with the `oidc` auth provider. client-node's OpenIDConnectAuth keeps or renews it.
 *
 * Owns: what OpenIDConnectAuth leaves open. It renews a token only after its end, and takes the seconds that the new one lasts for a
 * time. It forgets a refresh token that stays the same. It does nothing with a refresh token alone. So each call has an instance of its
 * own, and this file decides whether the token is due. oidc-renewal.ts asks the provider. The tokens in `config.oidc` are replaced in
 * place.
 * Never: writes the kubeconfig or starts a login. The API server verifies the token's signature.
 */
import { messageOf, PortolanError } from '../../base/errors.ts';
import { isText, text, textOr } from '../../base/json.ts';
import type { ClusterConfig } from './kubeconfig.ts';
import { renewedTokens } from './oidc-renewal.ts';

/** A token and its expiry in milliseconds since the Unix epoch. */
interface OidcCredential {
  readonly token: string;
  readonly expiresAt: number;
}

/** A token is renewed this long before it expires. */
const marginMs = 60_000;
/** A valid token. Throws UNAUTHENTICATED when it has expired and cannot be renewed. */
export async function oidcCredential(
  config: ClusterConfig,
  options: { readonly env: NodeJS.ProcessEnv; readonly now: number },
): Promise<OidcCredential> {
  const { OpenIDConnectAuth } = await import('@kubernetes/client-node/dist/oidc_auth.js');
  /** Without an expiry it is 0, so that the token is due. The errors of OpenIDConnectAuth would quote the token. */
  const expiryOf = (token: string): number => {
    try {
      const jwt = OpenIDConnectAuth.decodeJWT(token);
      if (jwt !== null) return typeof jwt.payload.exp === 'number' ? jwt.payload.exp * 1000 : 0;
    } catch {}
    throw new Error('the ID token is no JWT');
  };
  const settings = config.oidc ?? {};
  const requireSettings = (...keys: readonly string[]): void => {
    const missing = keys.find((key) => !isText(settings[key]));
    if (missing !== undefined) throw new Error(`the kubeconfig has no ${missing}`);
  };
  const held = text(settings['id-token']);
  let heldUntil = 0;
  try {
    requireSettings('idp-issuer-url', 'client-id');
    if (held !== undefined) heldUntil = expiryOf(held);
    const isDue = heldUntil - marginMs <= options.now;
    if (isDue) requireSettings('refresh-token');
    const auth = new OpenIDConnectAuth();
    Object.assign(auth, { currentTokenExpiration: isDue ? 1 : Number.POSITIVE_INFINITY });
    const kept: Record<string, unknown> = { ...settings, 'id-token': held ?? 'none' };
    const headers: Record<string, string> = {};
    await auth.applyAuthentication(
      { name: 'user', authProvider: { name: 'oidc', config: kept } },
      { headers },
      { refresh: (token: string) => renewedTokens(config, settings, token, options.env) },
    );
    const token = textOr(kept['id-token']);
    const expiresAt = expiryOf(token);
    if (isDue) Object.assign(settings, { 'id-token': token, 'refresh-token': kept['refresh-token'] });
    return { token, expiresAt };
  } catch (error) {
    if (held !== undefined && heldUntil > options.now) return { token: held, expiresAt: heldUntil };
    throw new PortolanError(
      'UNAUTHENTICATED',
      `There is no valid OIDC token for context ${config.context} (${messageOf(error)}): log in again.`,
      { cause: error },
    );
  }
}
