/** Asks an API server whether a user may do something. */
import type { UserInfo } from '../../access/caller.ts';
import { PortolanError } from '../../base/errors.ts';
import type { RestClient } from '../../kube/client/rest-client.ts';
import { ApiError } from '../../kube/http/api-error.ts';
import type { RequestAttributes } from './decision.ts';

/** The answer of the API server. */
export interface AccessReview {
  readonly allowed: boolean;
  /** Empty without one. */
  readonly reason: string;
}

interface ReviewStatus {
  readonly allowed?: boolean;
  readonly reason?: string;
  readonly evaluationError?: string;
}

/** Asks by SubjectAccessReview. @throws PortolanError FORBIDDEN if this account may not ask, and what the request throws. */
export async function reviewAccess(
  client: Pick<RestClient, 'post'>,
  { user, groups }: UserInfo,
  request: RequestAttributes,
): Promise<AccessReview> {
  const attributes = 'path' in request ? { nonResourceAttributes: request } : { resourceAttributes: request };
  const body = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    spec: { user, groups, ...attributes },
  };
  try {
    const { status = {} } = await client.post<{ readonly status?: ReviewStatus }>(
      '/apis/authorization.k8s.io/v1/subjectaccessreviews',
      body,
    );
    const reason = [status.reason, status.evaluationError].filter((text) => text !== undefined && text !== '');
    return { allowed: status.allowed === true, reason: reason.join('; ') };
  } catch (error) {
    if (!(error instanceof ApiError) || error.httpStatus !== 403) throw error;
    throw new PortolanError(
      'FORBIDDEN',
      '--check asks the API server, and this account may not: grant it create on subjectaccessreviews.authorization.k8s.io.',
      { cause: error },
    );
  }
}
