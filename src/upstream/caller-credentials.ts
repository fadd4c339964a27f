/**
 * The credentials of a caller's request to an API server: the caller's own token, or impersonation with the gateway's credentials. For
 * the local user of a gateway without authentication, they are those of the kubeconfig.
 */
import type { BearerToken } from '../kube/credentials/bearer-token.ts';
import type { ImpersonatedUser } from '../kube/credentials/impersonation.ts';

export type CallerCredentials =
  /** `cluster` is the only cluster that may receive the token: another cluster could use it in the caller's name. */
  | { readonly type: 'token'; readonly cluster: string; readonly token: BearerToken }
  /** For clusters with the same users as the caller's own. The gateway's credentials there must have the right to impersonate. */
  | { readonly type: 'impersonation'; readonly user: ImpersonatedUser }
  /** The user of the kubeconfig, who started the gateway. Only for a gateway without authentication. */
  | { readonly type: 'local' };
