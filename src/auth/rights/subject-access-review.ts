/** SubjectAccessReview: an API server's decision about a user (https://kubernetes.io/docs/reference/access-authn-authz/authorization/). */
import type { UserInfo } from '../../access/caller.ts';
import type { RequestAttributes } from '../../access/policy-rule.ts';
import type { RestClient } from '../../kube/client/rest-client.ts';

export interface AccessDecision {
  readonly allowed: boolean;
  /** Empty without one. */
  readonly reason: string;
}

interface ReviewStatus {
  readonly allowed?: boolean;
  readonly reason?: string;
  readonly evaluationError?: string;
}

/** Asks whether the user may do this. @param timeoutMs default: that of the client. @throws what the request throws. */
export async function reviewSubject(
  client: Pick<RestClient, 'post'>,
  { user, groups, uid, extra }: UserInfo,
  request: RequestAttributes,
  timeoutMs?: number,
): Promise<AccessDecision> {
  const attributes =
    'path' in request ? { nonResourceAttributes: request } : { resourceAttributes: { ...request, version: '*' } };
  const { status = {} } = await client.post<{ readonly status?: ReviewStatus }>(
    '/apis/authorization.k8s.io/v1/subjectaccessreviews',
    {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      spec: { user, groups, uid, extra, ...attributes },
    },
    timeoutMs === undefined ? {} : { signal: AbortSignal.timeout(timeoutMs) },
  );
  const reason = [status.reason, status.evaluationError].filter((text) => text !== undefined && text !== '');
  return { allowed: status.allowed === true, reason: reason.join('; ') };
}
