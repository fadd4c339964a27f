/**
 * A webhook that authenticates tokens, and an authorizer before RBAC that decides by the extra of the user, as OpenShift's scopes do.
 *
 *   all        no opinion: RBAC decides
 *   ns:a       a request to the namespace a: no opinion; another one: denied
 *   kind:pods  a request to Pods: no opinion; another one: denied
 *   allow:c    a request to the namespace c: allowed, whatever RBAC says; another one: no opinion
 *
 * Several values allow what one of them allows. A user without this extra: no opinion. The uid `suspended`: denied.
 */
import { type LoopbackServer, sendJson, startLoopbackServer } from './loopback-server.ts';

export const scopeExtra = 'scopes.example.com/scope';

export interface ScopedToken {
  readonly token: string;
  readonly user: string;
  readonly groups: readonly string[];
  readonly uid: string;
  /** The values of `scopeExtra`; null: the user has no such extra. */
  readonly scopes: readonly string[] | null;
}

interface Review {
  readonly apiVersion: string;
  readonly kind: string;
  readonly spec: {
    readonly token?: string;
    readonly uid?: string;
    readonly extra?: Readonly<Record<string, readonly string[]>>;
    readonly resourceAttributes?: { readonly namespace?: string; readonly resource?: string };
  };
}

type Opinion = 'allowed' | 'denied' | 'none';

/** Its URL has the paths of both webhooks: the kind of a review tells what is asked. */
export function startScopeWebhook(tokens: readonly ScopedToken[]): Promise<LoopbackServer> {
  return startLoopbackServer(async (request, response) => {
    let text = '';
    for await (const piece of request) text += String(piece);
    const { apiVersion, kind, spec } = JSON.parse(text) as Review;
    sendJson(response, 200, { apiVersion, kind, status: kind === 'TokenReview' ? known(tokens, spec) : decided(spec) });
  });
}

function known(tokens: readonly ScopedToken[], spec: Review['spec']): object {
  const found = tokens.find(({ token }) => token === spec.token);
  if (found === undefined) return { authenticated: false };
  const { user: username, groups, uid, scopes } = found;
  const extra = scopes === null ? {} : { [scopeExtra]: scopes };
  return { authenticated: true, user: { username, groups, uid, extra } };
}

function decided({ uid, extra = {}, resourceAttributes }: Review['spec']): object {
  const opinions = (extra[scopeExtra] ?? ['all']).map((scope) => opinionOf(scope, resourceAttributes));
  const opinion =
    uid === 'suspended' ? 'denied' : (['allowed', 'none', 'denied'] as const).find((each) => opinions.includes(each));
  return { allowed: opinion === 'allowed', denied: opinion === 'denied' || opinion === undefined };
}

function opinionOf(scope: string, request: Review['spec']['resourceAttributes']): Opinion {
  const [form, value] = scope.split(':');
  if (request === undefined || form === 'all') return 'none';
  if (form === 'allow') return request.namespace === value ? 'allowed' : 'none';
  const is = form === 'ns' ? request.namespace : request.resource;
  return is === value ? 'none' : 'denied';
}
