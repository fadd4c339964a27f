/**
 * Callers whom a front proxy has authenticated. The proxy proves itself with a client certificate, and names the user in headers:
 *
 *   X-Remote-User: jane
 *   X-Remote-Group: devs
 *   X-Remote-Group: admins
 *
 * Source: the request header authenticator of Kubernetes (k8s.io/apiserver/pkg/authentication/request/headerrequest). Without the
 * certificate, these headers are refused: anybody could send them.
 */
import type { Caller, Credentials } from '../../access/caller.ts';
import { PortolanError } from '../../base/errors.ts';

/** Each authenticated user is a member. */
export const authenticatedGroup = 'system:authenticated';

const userHeader = 'x-remote-user';
const groupHeader = 'x-remote-group';

/**
 * The caller whom a proxy names; null for a request without such headers.
 * @param names the common names of the proxies' certificates; empty for any that the authority signed.
 * @throws PortolanError UNAUTHENTICATED for headers that do not come from a proxy.
 */
export function proxiedCaller(credentials: Credentials, names: readonly string[]): Caller | null {
  const users = credentials.headers(userHeader);
  const groups = credentials.headers(groupHeader);
  const { certificate } = credentials;
  const isProxy = certificate?.authority === 'proxy' && (names.length === 0 || names.includes(certificate.commonName));
  if (users.length === 0 && groups.length === 0 && !isProxy) return null;
  if (!isProxy) {
    throw new PortolanError(
      'UNAUTHENTICATED',
      'The request names its user in X-Remote headers, but does not come from a proxy with a certificate of --proxy-client-ca.',
    );
  }
  const [name = ''] = users;
  if (users.length !== 1 || name.trim() === '') {
    throw new PortolanError('UNAUTHENTICATED', 'The proxy must name one user in the header X-Remote-User.');
  }
  return Object.freeze({
    name,
    user: { user: name, groups: [...new Set([...groups, authenticatedGroup])] },
    validUntil: null,
  });
}
