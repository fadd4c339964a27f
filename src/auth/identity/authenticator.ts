/**
 * Decides who the caller of a request is. The first kind of credentials that the request carries counts; the others are not tried:
 *
 *   X-Remote headers   from a front proxy
 *   a bearer token     by TokenReview
 *   a certificate      its common name is the user, its organizations are the groups, its fingerprint is the id of the credential
 *
 * Never: takes one kind of credentials for another after a refusal, or an anonymous caller.
 */
import type { Authenticate, Caller, ClientCertificate, Credentials } from '../../access/caller.ts';
import { PortolanError } from '../../base/errors.ts';
import { must } from '../../base/must.ts';
import { noSpan, type Span } from '../../base/tracing.ts';
import { bearerToken } from './bearer.ts';
import { authenticatedGroup, proxiedCaller, validAs } from './front-proxy.ts';

export interface AuthenticatorOptions {
  /** The caller of a token. Null: tokens are refused. */
  readonly tokens: ((token: string, span: Span) => Caller | Promise<Caller>) | null;
  /** The common names of proxies; empty for any certificate of the proxies' authority. Null: there is no proxy. */
  readonly proxies: readonly string[] | null;
  /** Are certificates of users accepted? */
  readonly certificates: boolean;
}

/** The credentials that count among those of a request. */
export type Presented =
  | { readonly type: 'token'; readonly token: string }
  /** A front proxy or a certificate names the caller. */
  | { readonly type: 'named'; readonly caller: Caller };

/** @throws PortolanError UNAUTHENTICATED, and what the review of a token throws. */
export function createAuthenticate(options: AuthenticatorOptions): Authenticate {
  const { tokens } = options;
  return (credentials: Credentials, span: Span = noSpan) => {
    const presented = presentedBy(options, credentials);
    return presented.type === 'named' ? presented.caller : must(tokens, 'tokens are accepted')(presented.token, span);
  };
}

/** @throws PortolanError UNAUTHENTICATED for missing credentials, and for those that are not accepted. */
export function presentedBy(
  { tokens, proxies, certificates }: AuthenticatorOptions,
  credentials: Credentials,
): Presented {
  const proxied = proxiedCaller(credentials, { names: proxies ?? [] });
  if (proxied !== null && proxies !== null) return { type: 'named', caller: proxied };
  const token = bearerToken(credentials);
  if (token !== null && tokens !== null) return { type: 'token', token };
  const { certificate } = credentials;
  if (token === null && certificates && certificate?.authority === 'users') {
    return { type: 'named', caller: certified(certificate) };
  }
  const accepted = [
    ...(tokens === null ? [] : ['a bearer token']),
    ...(proxies === null ? [] : ['the headers of a front proxy']),
    ...(certificates ? ['a client certificate'] : []),
  ].join(', or ');
  const { certificateRefusal } = credentials;
  const refusal =
    certificateRefusal === undefined ? '' : ` The client certificate does not count: ${certificateRefusal}.`;
  throw new PortolanError('UNAUTHENTICATED', `This gateway needs to know the caller: send ${accepted}.${refusal}`);
}

/** Source: k8s.io/apiserver/pkg/authentication/request/x509, CommonNameUserConversion. */
function certified(certificate: ClientCertificate): Caller {
  const { commonName, organizations, uid, fingerprint } = certificate;
  if (commonName === '') {
    throw new PortolanError('UNAUTHENTICATED', 'The client certificate names no user: its common name is empty.');
  }
  const groups = [...new Set([...organizations, authenticatedGroup])];
  const extra = { 'authentication.kubernetes.io/credential-id': [`X509SHA256=${fingerprint}`] };
  return validAs(certificate, { user: commonName, groups, uid, extra });
}
