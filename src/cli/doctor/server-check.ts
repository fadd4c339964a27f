/** The API server: its version, and who it takes us for. */
import { ownUser } from '../../auth/identity/own-user.ts';
import { PortolanError } from '../../base/errors.ts';
import type { ExaminedCluster } from './examined-cluster.ts';
import { type Finding, notSeen, ok, problem, warning } from './finding.ts';

/** The oldest version that is tested, and the oldest that has constrained impersonation without a feature gate. */
const oldest = 20;
const constrainedSince = 36;

/** @throws ApiError for a server that does not answer. */
export async function checkServer({ options }: ExaminedCluster): Promise<readonly Finding[]> {
  const { client, impersonate } = options;
  const { gitVersion } = await client.get<Record<string, unknown>>('/version');
  const version = `Kubernetes ${String(gitVersion)}`;
  const release = Number(/^v1\.(\d+)/.exec(String(gitVersion))?.[1] ?? Number.POSITIVE_INFINITY);
  const found = ok(`${version} answers at ${client.connection.server}.`);
  return [
    release < oldest ? warning(`${version} is older than 1.${oldest}, with which Portolan is tested.`) : found,
    ...(impersonate === 'constrained' && release < constrainedSince
      ? [
          problem(
            `${version} has no constrained impersonation, unless it is 1.35 with the feature gate ConstrainedImpersonation: start Portolan with --impersonate classic.`,
          ),
        ]
      : []),
    await whoWeAre(options),
  ];
}

async function whoWeAre({ client }: ExaminedCluster['options']): Promise<Finding> {
  try {
    const { user, groups } = await ownUser(client);
    const of = groups.length === 0 ? 'no group' : groups.join(', ');
    return ok(`You are ${user} (${of}).`);
  } catch (error) {
    if (error instanceof PortolanError && error.code === 'BAD_USER_INPUT') {
      return notSeen('The API server is older than 1.28 and does not say who you are.');
    }
    throw error;
  }
}
