/**
 * Callers whom a front proxy has authenticated. The proxy proves itself with a client certificate, and names the user in headers:
 *
 *   X-Remote-User: jane
 *   X-Remote-Uid: 42
 *   X-Remote-Group: devs
 *   X-Remote-Group: admins
 *   X-Remote-Extra-Example.com%2fScopes: read     extra { "example.com/scopes": ["read"] }
 *
 * Source: the request header authenticator of Kubernetes (k8s.io/apiserver/pkg/authentication/request/headerrequest). Without the
 * certificate, these headers are refused: anybody could send them. Names are UTF-8, and empty ones are refused. A value of extra may be empty.
 */
import type { Caller, ClientCertificate, Credentials, Extra, UserInfo } from '../../access/caller.ts';
import { PortolanError } from '../../base/errors.ts';

/** Each authenticated user is a member. */
export const authenticatedGroup = 'system:authenticated';

const userHeader = 'x-remote-user';
const groupHeader = 'x-remote-group';
const uidHeader = 'x-remote-uid';
const extraHeader = 'x-remote-extra-';

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
  if (!isProxy && credentials.headerNames('x-remote-').every((name) => !isIdentity(name))) return null;
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
  return validAs(certificate, {
    user: name,
    groups: [...new Set([...named, authenticatedGroup])],
    uid: uidIn(credentials.headers(uidHeader)),
    extra: extraIn(credentials),
  });
}

function isIdentity(header: string): boolean {
  return [userHeader, groupHeader, uidHeader].includes(header) || header.startsWith(extraHeader);
}

function uidIn(values: readonly string[]): string {
  const [uid = '', ...more] = values.map(textIn);
  if (uid !== null && more.length === 0) return uid;
  throw new PortolanError('UNAUTHENTICATED', 'The proxy may name one uid, in the header X-Remote-Uid.');
}

function extraIn(credentials: Credentials): Extra {
  const extra = new Map<string, readonly string[]>();
  for (const header of credentials.headerNames(extraHeader)) {
    const key = extraKeyIn(header.slice(extraHeader.length));
    const values = credentials.headers(header).map(textIn);
    if (key === '' || !values.every((value) => value !== null)) {
      throw new PortolanError(
        'UNAUTHENTICATED',
        'The proxy must send extra as X-Remote-Extra-KEY with values in UTF-8, without control characters.',
      );
    }
    extra.set(key, [...(extra.get(key) ?? []), ...values]);
  }
  return Object.fromEntries(extra);
}

/** Characters that a header's name cannot have are percent-encoded. A key that is no such text is taken as it is. */
function extraKeyIn(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The name in the value of a header; null for an empty one, and for what is no text. */
function nameIn(value: string): string | null {
  const name = textIn(value);
  return name === null || name.trim() === '' ? null : name;
}

/** The text in the value of a header. Node reads it as Latin-1. Null with a control character, and for bytes that are no UTF-8. */
function textIn(value: string): string | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(value, 'latin1'));
    return /\p{Cc}/u.test(text) ? null : text;
  } catch {
    return null;
  }
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
