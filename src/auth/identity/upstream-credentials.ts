/**
 * The credentials with which a request of a caller goes to an API server, for reads of the data of Secrets and for writes. They come
 * from the caller's own request, and live as long as it.
 *
 *   a token that the home cluster's API server takes    home cluster     that token
 *                                                       other clusters   impersonation
 *   a token of another audience                         all clusters     impersonation
 *   front proxy, certificate                            all clusters     impersonation
 *
 * Impersonation uses the gateway's credentials. It happens only with --impersonate, and only in clusters with the caller's users.
 *
 * Never: the gateway's own rights, or a token to another cluster, which could use it in the caller's name. A token of another audience
 * is sent to no API server as a credential.
 */
import type { Caller } from '../../access/caller.ts';
import { PortolanError } from '../../base/errors.ts';
import { BearerToken } from '../../kube/credentials/bearer-token.ts';
import type { CallerCredentials } from '../../upstream/caller-credentials.ts';
import type { Presented } from './authenticator.ts';
import { type ImpersonationMode, impersonatedUser, type KubernetesMinor } from './impersonated-user.ts';

export interface UpstreamIdentities {
  /** The cluster that knows the callers. */
  readonly home: string;
  /** The clusters with the same users, the home cluster among them. */
  readonly known: ReadonlySet<string>;
  readonly impersonate: ImpersonationMode | 'off';
  /** Does the API server of the home cluster take the token as a credential? */
  isForApiServer(token: string): Promise<boolean>;
  callerOf(token: string): Caller | Promise<Caller>;
  minorOf(cluster: string): Promise<KubernetesMinor>;
}

/**
 * @throws PortolanError FORBIDDEN for a cluster that may have other users, without --impersonate, and for a user who cannot be
 * impersonated; UPSTREAM_UNAVAILABLE if a cluster does not answer.
 */
export async function upstreamCredentials(
  presented: Presented,
  cluster: string,
  identities: UpstreamIdentities,
): Promise<CallerCredentials> {
  const { home, known, impersonate } = identities;
  if (presented.type === 'token' && cluster === home && (await identities.isForApiServer(presented.token))) {
    return { type: 'token', cluster: home, token: new BearerToken(presented.token) };
  }
  if (!known.has(cluster)) {
    throw new PortolanError(
      'FORBIDDEN',
      `The cluster ${cluster} may have other users than ${home}, so requests are not sent there in the name of a caller: start the gateway with --same-users if they are the same.`,
    );
  }
  if (impersonate === 'off') throw new PortolanError('FORBIDDEN', notImpersonated(presented, cluster, home));
  const { user } = presented.type === 'named' ? presented.caller : await identities.callerOf(presented.token);
  if (user === null) throw new PortolanError('FORBIDDEN', 'A caller without a name is not impersonated.');
  return { type: 'impersonation', user: impersonatedUser(user, impersonate, await identities.minorOf(cluster)) };
}

function notImpersonated({ type }: Presented, cluster: string, home: string): string {
  const other = 'start the gateway with --impersonate constrained, or with classic for API servers before 1.36.';
  if (type === 'named') {
    return `The caller has no credential that can be sent to ${cluster}: send a bearer token, or ${other}`;
  }
  if (cluster !== home) return `The caller's token is for the cluster ${home} and is not sent to ${cluster}: ${other}`;
  return `The caller's token is not for the API server of ${cluster} and is not sent there: send one of the API server's audience, or ${other}`;
}
