/**
 * The user that a request names in its headers of impersonation. The API server must get all that the authentication knew of the caller.
 * Without a part of it, it might refuse less. So what headers cannot carry exactly is refused, never left out.
 *
 *                        constrained (KEP-5284)                      classic
 *   a service account    its name alone                              name, uid, extra
 *   another user         name, uid, groups, extra                    name, uid, extra; no group of Kubernetes itself
 *   system:masters, and users of Kubernetes itself, such as nodes    never, in both
 *
 * The headers of both modes have the same form. The API server decides by the verbs that the gateway's account has. In the constrained
 * mode, the API server does not treat a service account with another member than its name as one. Then it asks for the classic right.
 *
 * Left out are the groups that the API server adds by itself: system:authenticated, and those of a service account. It adds the latter
 * only if no group is named, so a service account in further groups is refused.
 *
 * Source: k8s.io/apiserver/pkg/endpoints/filters/impersonation, mode.go.
 */
import type { UserInfo } from '../../access/caller.ts';
import { PortolanError } from '../../base/errors.ts';
import type { ImpersonatedUser } from '../../kube/credentials/impersonation.ts';
import { authenticatedGroup } from './front-proxy.ts';

/** Which rights of the gateway's account impersonation uses. */
export type ImpersonationMode = 'constrained' | 'classic';

/** The minor version of Kubernetes 1; 0 if the server does not tell it, as builds without a version do. */
export type KubernetesMinor = number;

/** Older servers ignore the header of the uid. */
const uidSince: KubernetesMinor = 22;
/** Older servers know the classic verb alone. */
const constrainedSince: KubernetesMinor = 35;

const ownPrefix = 'system:';
const mastersGroup = 'system:masters';
/** As the API server reads the name of a service account: the names of a namespace and of an object. */
const serviceAccount =
  /^system:serviceaccount:([a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?):[a-z0-9](?:[-.a-z0-9]{0,251}[a-z0-9])?$/;

/** @throws PortolanError FORBIDDEN for a user whom headers of this mode cannot carry to a server of this version. */
export function impersonatedUser(
  { user: name, groups: all, uid, extra }: UserInfo,
  mode: ImpersonationMode,
  minor: KubernetesMinor,
): ImpersonatedUser {
  const refuse = (why: string): never => {
    throw new PortolanError('FORBIDDEN', `Nothing is sent in the name of ${name}: ${why}`);
  };
  const server = minor === 0 ? 'an API server without a version' : `the API server (1.${minor})`;
  if (mode === 'constrained' && minor < constrainedSince) {
    refuse(`${server} does not know constrained impersonation; start the gateway with --impersonate classic.`);
  }
  const [, namespace] = serviceAccount.exec(name) ?? [];
  const added = [authenticatedGroup];
  if (namespace !== undefined) added.push('system:serviceaccounts', `system:serviceaccounts:${namespace}`);
  const groups = all.filter((group) => !added.includes(group));
  if (groups.includes(mastersGroup))
    refuse(`the group ${mastersGroup} is never impersonated; use kubectl for this user.`);
  if (namespace === undefined && name.startsWith(ownPrefix)) {
    refuse('a user of Kubernetes itself is never impersonated, unless it is a service account.');
  }
  const [group] = groups;
  if (namespace !== undefined && group !== undefined) {
    refuse(`a service account is impersonated by its name, and this one is in the group ${group} besides.`);
  }
  const own = mode === 'classic' ? groups.find((each) => each.startsWith(ownPrefix)) : undefined;
  if (own !== undefined) {
    refuse(`the group ${own} is one of Kubernetes itself; only --impersonate constrained carries it.`);
  }
  const hasExtra = Object.keys(extra).length > 0;
  if (mode === 'constrained' && namespace !== undefined && (uid !== '' || hasExtra)) {
    refuse(
      `constrained impersonation carries the name of a service account alone, and this one has ${uid === '' ? 'extra' : 'a uid'} besides; send a token that is for the API server itself, or start the gateway with --impersonate classic.`,
    );
  }
  if (uid !== '' && minor < uidSince) {
    refuse(`the user has a uid, and ${server} takes none in an impersonation.`);
  }
  return { name, groups, extra, ...(uid === '' ? {} : { uid }) };
}
