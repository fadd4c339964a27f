/**
 * How requests to an API server prove that they are of a caller: by the caller's own token, or by the gateway's right to impersonate.
 */
import type { BearerToken } from '../kube/credentials/bearer-token.ts';
import type { ImpersonatedUser } from '../kube/credentials/impersonation.ts';

export type CallerCredentials =
  /** `cluster` is the only cluster that may get the token: another cluster could use it in the caller's name. */
  | { readonly type: 'token'; readonly cluster: string; readonly token: BearerToken }
  /** For clusters that have the same users as the caller's own, and whose gateway credentials may impersonate. */
  | { readonly type: 'impersonation'; readonly user: ImpersonatedUser };
