/** The caller of a request. HTTP, WebSocket and prepared answers get it from an `Authenticate` and pass it to the operation. */
import { PortolanError } from '../base/errors.ts';
import type { Span } from '../base/tracing.ts';

/** Who makes a request, as the API server knows the user (k8s.io/apiserver/pkg/authentication/user.Info). */
export interface UserInfo {
  readonly user: string;
  readonly groups: readonly string[];
  /** Empty where the authenticator gives none. */
  readonly uid: string;
  readonly extra: Extra;
}

/** Further facts of an authenticator about the user, such as the scopes of a token. Authorizers may decide by it. */
export type Extra = Readonly<Record<string, readonly string[]>>;

export const noExtra: Extra = Object.freeze({});

/** Extra of Kubernetes itself names the credential, the Pod and the node. It restricts nothing. */
const ownExtra = 'authentication.kubernetes.io/';

/** Has the user extra by which another authorizer may refuse what roles and bindings grant? */
export function isRestricted({ extra }: UserInfo): boolean {
  return Object.keys(extra).some((key) => !key.startsWith(ownExtra));
}

export interface Caller {
  /** For logs. */
  readonly name: string;
  /** Null for the local user of a gateway without authentication. */
  readonly user: UserInfo | null;
  /**
   * Until when the credentials are known to be valid: milliseconds since the epoch; null for as long as the request's connection. It moves
   * when they are checked again.
   */
  readonly validUntil: number | null;
}

/** The credentials that a request carries. */
export interface Credentials {
  /** The value of an HTTP header. For a WebSocket, of the upgrade request. @param name in lower case. */
  header(name: string): string | undefined;
  /** Each value of a header that occurs several times. @param name in lower case. */
  headers(name: string): readonly string[];
  /** The names of the headers that begin with this text, in lower case. */
  headerNames(prefix: string): readonly string[];
  /** The payload of `connection_init` (graphql-transport-ws); absent over HTTP. */
  readonly connectionParams?: Readonly<Record<string, unknown>> | undefined;
  /** The client certificate of the connection, verified; absent without one. */
  readonly certificate?: ClientCertificate | undefined;
  /** Why the connection's client certificate does not count; absent if it does, and without one. */
  readonly certificateRefusal?: string | undefined;
}

/** A client certificate that was verified against an authority. */
export interface ClientCertificate {
  readonly commonName: string;
  readonly organizations: readonly string[];
  /** The uid in its subject; empty without one. */
  readonly uid: string;
  /** SHA-256 of its bytes, in hexadecimal. */
  readonly fingerprint: string;
  /** The authority that signed it: that of users, or that of a front proxy. */
  readonly authority: 'users' | 'proxy';
  /** As `validUntil` of the caller. It is in the past when the authority is no longer accepted. */
  readonly validUntil: number;
}

/**
 * Authenticates a request. An implementation returns synchronously if it can, so that a prepared answer is not delayed.
 * @param span gets the request to an API server, if there must be one.
 * @throws PortolanError UNAUTHENTICATED for missing or rejected credentials.
 */
export type Authenticate = (credentials: Credentials, span?: Span) => Caller | Promise<Caller>;

/** @throws PortolanError UNAUTHENTICATED if the caller's credentials are no longer known to be valid. */
export function requireValid({ validUntil }: Caller, now: number): void {
  if (validUntil === null || now <= validUntil) return;
  throw new PortolanError('UNAUTHENTICATED', 'The credentials have expired; connect again with new ones.');
}

/** Are both the same user, also by groups, uid and extra? */
export function isSameUser({ user: one }: Caller, { user: other }: Caller): boolean {
  if (one === null || other === null) return one === other;
  return userKey(one) === userKey(other);
}

const keys = new WeakMap<UserInfo, string>();

/** A text that equal users share, and no others. */
export function userKey(info: UserInfo): string {
  const known = keys.get(info);
  if (known !== undefined) return known;
  const { user, groups, uid, extra } = info;
  const sorted = Object.entries(extra).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const key = JSON.stringify([user, groups, uid, sorted]);
  keys.set(info, key);
  return key;
}

/** The only caller of a gateway without authentication. */
export const localUser: Caller = Object.freeze({ name: 'local', user: null, validUntil: null });

export const everyoneIsLocal: Authenticate = () => localUser;
