/**
 * Callers whom a front proxy has authenticated. The proxy proves itself with a client certificate, and names the user in headers:
 *
 *   X-Remote-User: jane
 *   X-Remote-Group: devs
 *   X-Remote-Group: admins
 *
 * Source: the request header authenticator of Kubernetes (k8s.io/apiserver/pkg/authentication/request/headerrequest). Without the
 * certificate, these headers are refused: anybody could send them. Names are UTF-8, and empty ones are refused.
 */
import type { Caller, ClientCertificate, Credentials, UserInfo } from '../../access/caller.ts';
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
    const { certificateRefusal: refusal } = credentials;
    const more = refusal === undefined ? '' : ` The certificate of the connection does not count: ${refusal}.`;
    throw new PortolanError(
      'UNAUTHENTICATED',
      `The request names its user in X-Remote headers, but does not come from a proxy with a certificate of --proxy-client-ca.${more}`,
    );
  }
  const [name] = users.map(nameIn);
  if (users.length !== 1 || name === undefined || name === null) {
    throw new PortolanError('UNAUTHENTICATED', 'The proxy must name one user in the header X-Remote-User.');
  }
  const named = groups.map(nameIn);
  if (!named.every((group) => group !== null)) {
    throw new PortolanError('UNAUTHENTICATED', 'The proxy must name one group in each header X-Remote-Group.');
  }
  return validAs(certificate, { user: name, groups: [...new Set([...named, authenticatedGroup])] });
}

/** The name in the value of a header. Node reads it as Latin-1. Null for an empty name, one with a control character, and bytes that are no UTF-8. */
function nameIn(value: string): string | null {
  let name: string;
  try {
    name = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(value, 'latin1'));
  } catch {
    return null;
  }
  return name.trim() === '' || /\p{Cc}/u.test(name) ? null : name;
}

/** A caller as long as the certificate of the connection is valid. */
export function validAs(certificate: ClientCertificate, user: UserInfo): Caller {
  return Object.freeze({
    name: user.user,
    user,
    get validUntil() {
      return certificate.validUntil;
    },
  });
}
