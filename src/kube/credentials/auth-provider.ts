/**
 * The headers of a kubeconfig user with an auth provider other than `oidc`: the deprecated `gcp` and `azure`, which client-node
 * supports. Each of its authenticators is loaded alone, because its KubeConfig takes longer to load than all other modules together.
 */
import type { RequestOptions } from 'node:https';
import { messageOf, PortolanError } from '../../base/errors.ts';
import { record, text } from '../../base/json.ts';
import type { ClusterConfig } from './kubeconfig.ts';

/**
 * Throws CONFIGURATION for a provider that is unknown: without headers, requests would be anonymous. kubectl refuses one too. Throws
 * UNAUTHENTICATED when the provider has no valid credential.
 */
export async function providerHeaders(config: ClusterConfig): Promise<Record<string, unknown>> {
  const { AzureAuth } = await import('@kubernetes/client-node/dist/azure_auth.js');
  const { GoogleCloudPlatformAuth } = await import('@kubernetes/client-node/dist/gcp_auth.js');
  const { name, authProvider } = config.user;
  const user = { name, authProvider };
  const authenticator = [new AzureAuth(), new GoogleCloudPlatformAuth()].find((each) => each.isAuthProvider(user));
  if (authenticator === undefined) {
    const named = JSON.stringify(text(record(authProvider)?.['name']) ?? '');
    throw new PortolanError(
      'CONFIGURATION',
      `The user of context ${config.context} in ${config.source} has the auth provider ${named}, which is unknown: use an exec plugin, a token or a certificate.`,
    );
  }
  const options: RequestOptions = { headers: {} };
  try {
    await authenticator.applyAuthentication(user, options);
  } catch (error) {
    throw new PortolanError(
      'UNAUTHENTICATED',
      `The credentials of context ${config.context} in ${config.source} could not be renewed (${messageOf(error)}): log in again.`,
      { cause: error },
    );
  }
  return record(options.headers) ?? {};
}
