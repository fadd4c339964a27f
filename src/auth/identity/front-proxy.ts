/**
 * Callers whom a front proxy has authenticated. The proxy proves itself with a client certificate, and names the user in headers:
 *
 *   X-Remote-User: jane
 *   X-Remote-Uid: 42
 *   X-Remote-Group: devs
 *   X-Remote-Group: admins
 *   X-Remote-Extra-Example.com%2fScopes: read     extra { "example.com/scopes": ["read"] }
 *
 * A user whom the proxy has not authenticated is no member of system:authenticated. Without the certificate, these headers are refused:
 * anybody could send them. Names are UTF-8, and empty ones are refused. A value of extra may be empty.
 *
 * Source: k8s.io/apiserver/pkg/authentication/request/headerrequest, and the group adder of Kubernetes.
 */
import type { Caller, ClientCertificate, Credentials, Extra, UserInfo } from '../../access/caller.ts';
import { PortolanError } from '../../base/errors.ts';

/** Each authenticated user is a member. */
export const authenticatedGroup = 'system:authenticated';
const unauthenticatedGroup = 'system:unauthenticated';
const anonymous = 'system:anonymous';

/** The headers in which a proxy names the user, in lower case. The first header of `user` and `uid` that a request has counts. */
interface ProxyHeaders {
  readonly user: readonly string[];
  readonly uid: readonly string[];
  readonly group: readonly string[];
  /** The prefixes of the names of headers of extra. */
  readonly extra: readonly string[];
}

/** The proxies that may name callers. */
export interface TrustedProxies {
  /** The common names of their certificates; empty for any that the authority signed. */
  readonly names: readonly string[];
  /** Default: X-Remote-User, X-Remote-Uid, X-Remote-Group and X-Remote-Extra-. */
  readonly headers?: ProxyHeaders;
  /** Where their authority is configured, for messages. Default: --proxy-client-ca. */
  readonly authority?: string;
}

const xRemote: ProxyHeaders = {
  user: ['x-remote-user'],
  uid: ['x-remote-uid'],
  group: ['x-remote-group'],
  extra: ['x-remote-extra-'],
};

/**
 * The caller whom a proxy names; null for a request without such headers.
 * @throws PortolanError UNAUTHENTICATED for headers that do not come from a proxy.
 */
export function proxiedCaller(
  credentials: Credentials,
  { names, headers = xRemote, authority = '--proxy-client-ca' }: TrustedProxies,
): Caller | null {
  const users = firstOf(credentials, headers.user);
  const groups = headers.group.flatMap((header) => credentials.headers(header));
  const { certificate } = credentials;
  const isProxy = certificate?.authority === 'proxy' && (names.length === 0 || names.includes(certificate.commonName));
  if (!isProxy && !namesUser(credentials, headers)) return null;
  if (!isProxy) {
    const { certificateRefusal: refusal } = credentials;
    const more = refusal === undefined ? '' : ` The certificate of the connection does not count: ${refusal}.`;
    throw new PortolanError(
      'UNAUTHENTICATED',
      `The request names its user in X-Remote headers, but does not come from a proxy with a certificate of ${authority}.${more}`,
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
    groups: [...new Set(isAuthenticated(name, named) ? [...named, authenticatedGroup] : named)],
    uid: uidIn(firstOf(credentials, headers.uid)),
    extra: extraIn(credentials, headers.extra),
  });
}

/** kube-apiserver also sends requests without a user, as `system:anonymous`. */
function isAuthenticated(user: string, groups: readonly string[]): boolean {
  return user !== anonymous && !groups.includes(unauthenticatedGroup);
}

/** Has the request a header that names its user? */
function namesUser(credentials: Credentials, { user, uid, group, extra }: ProxyHeaders): boolean {
  const isNamed = [...user, ...uid, ...group].some((header) => credentials.headers(header).length > 0);
  return isNamed || extra.some((prefix) => credentials.headerNames(prefix).length > 0);
}

/** The values of the first of these headers that the request has. */
function firstOf(credentials: Credentials, headers: readonly string[]): readonly string[] {
  const found = headers.find((header) => credentials.headers(header).length > 0);
  return found === undefined ? [] : credentials.headers(found);
}

function uidIn(values: readonly string[]): string {
  const [uid = '', ...more] = values.map(textIn);
  if (uid !== null && more.length === 0) return uid;
  throw new PortolanError('UNAUTHENTICATED', 'The proxy may name one uid, in the header X-Remote-Uid.');
}

function extraIn(credentials: Credentials, prefixes: readonly string[]): Extra {
  const extra = new Map<string, readonly string[]>();
  for (const header of credentials.headerNames('')) {
    const prefix = prefixes.find((each) => header.startsWith(each));
    if (prefix === undefined) continue;
    const key = extraKeyIn(header.slice(prefix.length));
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
