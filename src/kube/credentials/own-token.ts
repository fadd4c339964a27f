/** The bearer token with which a kubeconfig authenticates, for requests of the same user to another server. */
import { systemClock } from '../../base/clock.ts';
import { BearerToken } from './bearer-token.ts';
import { loadCredentials } from './credentials.ts';
import { readClusterConfig } from './kubeconfig.ts';

/**
 * The token of the context's user: from the kubeconfig, its token file, its plugin or its OIDC provider. Null for a user without a
 * token, such as one with a client certificate.
 * @throws PortolanError CONFIGURATION for a missing or broken kubeconfig; UNAUTHENTICATED where the plugin gives no token.
 */
export async function ownToken(options: {
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
  readonly env: NodeJS.ProcessEnv;
}): Promise<BearerToken | null> {
  const { headers } = await loadCredentials(readClusterConfig(options), { env: options.env, clock: systemClock });
  const [, token] = /^Bearer (.+)$/.exec(String(headers['authorization'])) ?? [];
  return token === undefined ? null : new BearerToken(token);
}
