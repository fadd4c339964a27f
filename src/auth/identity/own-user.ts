/** Who sends the requests of a client, as its API server says by SelfSubjectReview. */
import { type Extra, noExtra, type UserInfo } from '../../access/caller.ts';
import { PortolanError } from '../../base/errors.ts';
import type { RestClient } from '../../kube/client/rest-client.ts';
import { ApiError } from '../../kube/http/api-error.ts';

interface Review {
  readonly status?: {
    readonly userInfo?: {
      readonly username?: string;
      readonly groups?: readonly string[] | null;
      readonly uid?: string;
      readonly extra?: Extra | null;
    };
  };
}

/** @throws PortolanError BAD_USER_INPUT where the server does not say it, and what the request throws. */
export async function ownUser(client: Pick<RestClient, 'post'>): Promise<UserInfo> {
  const review = await client
    .post<Review>('/apis/authentication.k8s.io/v1/selfsubjectreviews', {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'SelfSubjectReview',
    })
    .catch((error: unknown): Review => {
      // Servers before 1.28 do not have it.
      if (error instanceof ApiError && error.httpStatus === 404) return {};
      throw error;
    });
  const { username = '', groups, uid = '', extra } = review.status?.userInfo ?? {};
  // Null stands for none in JSON of Go.
  if (username !== '') return { user: username, groups: groups ?? [], uid, extra: extra ?? noExtra };
  throw new PortolanError('BAD_USER_INPUT', 'The API server does not say who you are: say who asks with --as alice.');
}
