/** Users by name, with the groups that an API server adds to them. */
import { type Extra, noExtra, type UserInfo } from '../../access/caller.ts';
import { readServiceAccountName } from '../../access/rbac-objects.ts';
import { authenticatedGroup } from './front-proxy.ts';

/**
 * The user with this uid, this extra and these groups, and with the groups that the API server adds by itself:
 *
 *   alice                              system:authenticated
 *   system:serviceaccount:shop:robot   system:serviceaccounts, system:serviceaccounts:shop, system:authenticated
 *   system:anonymous                   system:unauthenticated
 *
 * Source: k8s.io/apiserver/pkg/endpoints/filters/impersonation, and authentication/serviceaccount.
 */
export function userNamed(user: string, groups: readonly string[], uid = '', extra: Extra = noExtra): UserInfo {
  const account = readServiceAccountName(user);
  const accounts = 'system:serviceaccounts';
  const implied = account === null ? [] : [accounts, `${accounts}:${account.namespace}`];
  const last = user === 'system:anonymous' ? 'system:unauthenticated' : authenticatedGroup;
  return { user, groups: [...new Set([...groups, ...implied, last])], uid, extra };
}
