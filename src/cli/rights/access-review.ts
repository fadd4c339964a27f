/** Asks an API server whether a user may do something. */
import type { UserInfo } from '../../access/caller.ts';
import type { RequestAttributes } from '../../access/policy-rule.ts';
import { type AccessDecision, reviewSubject } from '../../auth/rights/subject-access-review.ts';
import { PortolanError } from '../../base/errors.ts';
import type { RestClient } from '../../kube/client/rest-client.ts';
import { ApiError } from '../../kube/http/api-error.ts';

/** Asks by SubjectAccessReview. @throws PortolanError FORBIDDEN if this account may not ask, and what the request throws. */
export async function reviewAccess(
  client: Pick<RestClient, 'post'>,
  user: UserInfo,
  request: RequestAttributes,
): Promise<AccessDecision> {
  try {
    return await reviewSubject(client, user, request);
  } catch (error) {
    if (!(error instanceof ApiError) || error.httpStatus !== 403) throw error;
    throw new PortolanError(
      'FORBIDDEN',
      '--check asks the API server, and this account may not: grant it create on subjectaccessreviews.authorization.k8s.io.',
      { cause: error },
    );
  }
}
