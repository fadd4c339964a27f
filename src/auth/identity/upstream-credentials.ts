/**
 * The credentials with which a request of a caller goes to an API server. They come from the caller's own request, and live as long as it.
 *
 *   bearer token               that token, and to the home cluster alone: another cluster could use it in the caller's name
 *   front proxy, certificate   impersonation with the gateway's credentials, in the home cluster, and in others with the same users
 *
 * Never: the gateway's own rights. Impersonation needs the right to impersonate, which the gateway does not have by default.
 */
import { PortolanError } from '../../base/errors.ts';
import { BearerToken } from '../../kube/credentials/bearer-token.ts';
import type { CallerCredentials } from '../../upstream/caller-credentials.ts';
import type { Presented } from './authenticator.ts';
import { authenticatedGroup } from './front-proxy.ts';

interface CallerClusters {
  /** The cluster that knows the callers. */
  readonly home: string;
  /** The clusters with the same users, the home cluster among them. */
  readonly known: ReadonlySet<string>;
}

/** @throws PortolanError FORBIDDEN for a cluster that may have other users. CallerClients refuses a token of another cluster. */
export function upstreamCredentials(
  presented: Presented,
  cluster: string,
  { home, known }: CallerClusters,
): CallerCredentials {
  if (presented.type === 'token') return { type: 'token', cluster: home, token: new BearerToken(presented.token) };
  const { user } = presented.caller;
  if (user === null || !known.has(cluster)) {
    throw new PortolanError(
      'FORBIDDEN',
      `The cluster ${cluster} may have other users than ${home}, so requests are not sent there in the name of a caller: start the gateway with --same-users if they are the same.`,
    );
  }
  // The API server adds that group itself. To name it would need a right of its own.
  const groups = user.groups.filter((group) => group !== authenticatedGroup);
  const { user: name, uid, extra } = user;
  return { type: 'impersonation', user: { name, groups, extra, ...(uid === '' ? {} : { uid }) } };
}
