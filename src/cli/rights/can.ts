/**
 * `portolan can`: may a user do something, by the roles and bindings of a cluster, and which of them allow it.
 *
 *   exit code 0   yes
 *   exit code 1   no, or the question cannot be answered (then standard error says why)
 *   exit code 2   with --check: the API server decides otherwise
 */

import { type Extra, isRestricted, type UserInfo } from '../../access/caller.ts';
import type { RequestAttributes } from '../../access/policy-rule.ts';
import { ownUser } from '../../auth/identity/own-user.ts';
import { userNamed } from '../../auth/identity/user-named.ts';
import { readServedRoles } from '../../auth/rights/served-roles.ts';
import { type AccessDecision, reviewSubject } from '../../auth/rights/subject-access-review.ts';
import { PortolanError } from '../../base/errors.ts';
import { standardOutput } from '../../base/output/standard-streams.ts';
import { oneLine } from '../../base/text/terminal-line.ts';
import type { Config } from '../../config/options.ts';
import { type ClusterOptions, connect } from '../../kube/client/connection.ts';
import { explainConnectionFailure } from '../../kube/client/explain.ts';
import { RestClient } from '../../kube/client/rest-client.ts';
import { discover } from '../../kube/discovery/discovery.ts';
import { ApiError } from '../../kube/http/api-error.ts';
import { onOneCluster } from '../options/demo-cluster.ts';
import { decide, decisionText } from './decision.ts';
import { isPath, pathRequest, type RequestWords, resourceRequest } from './request-words.ts';

/** The question of a command line. */
export interface Question extends RequestWords {
  /** The user; undefined for the one of the kubeconfig, with its groups, uid and extra. */
  readonly as: string | undefined;
  readonly groups: readonly string[];
  /** Empty for none. */
  readonly uid: string;
  /** Each as `key=value`; a key may be repeated. */
  readonly extra: readonly string[];
  /** Ask the API server too. */
  readonly check: boolean;
}

type CanConfig = Pick<Config, 'kubeconfig' | 'context' | 'inCluster' | 'json'> & Partial<Pick<Config, 'demo'>>;

/**
 * Prints the decision to `output` and returns the exit code.
 * @throws PortolanError BAD_USER_INPUT, NOT_FOUND for a request that cannot be read; FORBIDDEN that names the missing rights.
 */
export async function can(
  config: CanConfig,
  question: Question,
  output: { write(text: string): unknown } = standardOutput,
): Promise<number> {
  if (question.as === '') throw new PortolanError('BAD_USER_INPUT', 'Say who asks: --as alice.');
  return onOneCluster(config, 'can', (cluster) => canOn(cluster, config.json, question, output));
}

async function canOn(
  cluster: ClusterOptions,
  json: boolean,
  question: Question,
  output: { write(text: string): unknown },
): Promise<number> {
  const connection = await connect(cluster);
  try {
    const client = new RestClient(connection);
    const user = await userOf(client, question);
    const request = await requestOf(client, question);
    const index = await readServedRoles(client, namespaceOf(request));
    const decision = decide(index.grantsOf(user), user, request);
    const review = question.check ? await reviewAccess(client, user, request) : null;
    const text = json
      ? `${JSON.stringify(review === null ? decision : { ...decision, review }, null, 2)}\n`
      : decisionText(decision) + (review === null ? extraText(user) : reviewText(decision.allowed, review));
    output.write(text);
    if (review !== null && review.allowed !== decision.allowed) return 2;
    return decision.allowed ? 0 : 1;
  } catch (error) {
    throw explainConnectionFailure(error, connection);
  } finally {
    await connection.close();
  }
}

/** Asks by SubjectAccessReview. @throws PortolanError FORBIDDEN if this account may not ask, and what the request throws. */
async function reviewAccess(
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

/** @throws PortolanError BAD_USER_INPUT for groups, a uid or extra without a user. */
async function userOf(client: RestClient, { as, groups, uid, extra }: Question): Promise<UserInfo> {
  if (as !== undefined) return userNamed(as, groups, uid, extraOf(extra));
  if (groups.length > 0 || uid !== '' || extra.length > 0) {
    throw new PortolanError('BAD_USER_INPUT', '--as-group, --as-uid and --as-user-extra need --as.');
  }
  return ownUser(client);
}

async function requestOf(client: RestClient, question: Question): Promise<RequestAttributes> {
  if (isPath(question.target)) return pathRequest(question);
  const { resources } = await discover(client);
  return resourceRequest(question, resources);
}

/** The namespace whose roles decide; null for all, so that the answer can tell where the request would be allowed. */
function namespaceOf(request: RequestAttributes): string | null {
  return 'path' in request || request.namespace === '' ? null : request.namespace;
}

/** @throws PortolanError BAD_USER_INPUT for a text that is not `key=value`. */
function extraOf(texts: readonly string[]): Extra {
  const extra = new Map<string, readonly string[]>();
  for (const text of texts) {
    const at = text.indexOf('=');
    if (at < 1) throw new PortolanError('BAD_USER_INPUT', `Write extra as KEY=VALUE, not as ${JSON.stringify(text)}.`);
    const key = text.slice(0, at);
    extra.set(key, [...(extra.get(key) ?? []), text.slice(at + 1)]);
  }
  return Object.fromEntries(extra);
}

function extraText(user: UserInfo): string {
  if (!isRestricted(user)) return '';
  return 'Roles and bindings do not know the extra of a user. Another authorizer may decide by it: ask with --check.\n';
}

function reviewText(allowed: boolean, review: AccessDecision): string {
  const reason = review.reason === '' ? '' : ` (${oneLine(review.reason)})`;
  if (review.allowed === allowed) return `The API server decides the same${reason}.\n`;
  const answer = review.allowed ? 'yes' : 'no';
  return `The API server decides otherwise: ${answer}${reason}. It has another authorizer beside RBAC, or its roles have just changed.\n`;
}
