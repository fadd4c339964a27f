/**
 * The headers of a kubeconfig user with an auth provider other than `oidc`, such as the deprecated `gcp` and `azure`. client-node
 * supports these. It is loaded only for them, because loading it takes longer than all other modules together.
 */
import type { RequestOptions } from 'node:https';
import { messageOf, PortolanError } from '../../base/errors.ts';
import { record } from '../../base/json.ts';
import type { ClusterConfig } from './kubeconfig.ts';

/** Throws UNAUTHENTICATED when the provider has no valid credential. */
export async function providerHeaders(config: ClusterConfig): Promise<Record<string, unknown>> {
  const { KubeConfig } = await import('@kubernetes/client-node');
  const kubeConfig = new KubeConfig();
  const { name, authProvider } = config.user;
  // The server's settings are placeholders: no request is sent, and client-node rejects some servers or reads their CA.
  kubeConfig.loadFromClusterAndUser(
    { name: config.cluster.name, server: 'https://unused', skipTLSVerify: false },
    { name, authProvider },
  );
  const options: RequestOptions = {};
  try {
    await kubeConfig.applyToHTTPSOptions(options);
  } catch (error) {
    throw new PortolanError(
      'UNAUTHENTICATED',
      `The credentials of context ${config.context} in ${config.source} could not be renewed (${messageOf(error)}): log in again.`,
      { cause: error },
    );
  }
  return record(options.headers) ?? {};
}
