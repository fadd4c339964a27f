/** May you list and watch what Portolan reads? */
import type { ResourceAttributes } from '../../access/policy-rule.ts';
import { readServiceAccountName } from '../../access/rbac-objects.ts';
import { ownUser } from '../../auth/identity/own-user.ts';
import type { Resource } from '../../catalog/resources/resource.ts';
import { takeInventory } from '../../ingest/cluster/inventory.ts';
import { selects } from '../../ingest/context/selection.ts';
import type { RestClient } from '../../kube/client/rest-client.ts';
import type { ExaminedCluster } from './examined-cluster.ts';
import { commandOf, type Finding, ok, warning } from './finding.ts';

/** Kinds that a message names, and requests at a time. */
const mostNamed = 5;
const atOnce = 16;

export async function checkKinds({ options: { client } }: ExaminedCluster): Promise<readonly Finding[]> {
  const { chosen, unread: failures } = await takeInventory(client);
  const read = chosen.filter((each) => selects(each, {}));
  const unread = failures.map(({ groupVersion, message }) =>
    warning(`The kinds of ${groupVersion} cannot be seen: ${message}`, 'kubectl get apiservices'),
  );
  const everything = { group: '*', resource: '*' };
  if ((await maySelf(client, 'list', everything)) && (await maySelf(client, 'watch', everything))) {
    return [ok(`You may list and watch all ${read.length} kinds.`), ...unread];
  }
  const refused: string[] = [];
  for (let from = 0; from < read.length; from += atOnce) {
    const some = read.slice(from, from + atOnce);
    const allowed = await Promise.all(some.map((each) => mayRead(client, each)));
    refused.push(...some.flatMap(({ group, plural }, at) => (allowed[at] ? [] : [`${plural}${group && `.${group}`}`])));
  }
  if (refused.length === 0) return [ok(`You may list and watch all ${read.length} kinds.`), ...unread];
  const named = refused.slice(0, mostNamed).join(', ');
  const more = refused.length > mostNamed ? ` and ${refused.length - mostNamed} more` : '';
  const { user } = await ownUser(client).catch(() => ({ user: '' }));
  return [
    warning(
      `You may not list and watch ${refused.length} of ${read.length} kinds in all namespaces: ${named}${more}. A gateway with your rights does not show them. An administrator can grant it:`,
      grantReading(user),
    ),
    ...unread,
  ];
}

function grantReading(user: string): string | null {
  const account = readServiceAccountName(user);
  if (account !== null) {
    return commandOf`portolan rbac --service-account ${account.namespace}/${account.name} | kubectl apply -f -`;
  }
  return commandOf`portolan rbac | kubectl apply -f - && kubectl create clusterrolebinding portolan-reader --clusterrole=portolan --user=${user}`;
}

async function mayRead(client: RestClient, { group, plural, verbs }: Resource): Promise<boolean> {
  const resource = { group, resource: plural };
  if (!(await maySelf(client, 'list', resource))) return false;
  return !verbs.includes('watch') || (await maySelf(client, 'watch', resource));
}

/** Asks by SelfSubjectAccessReview, which every authenticated user may create. */
async function maySelf(
  client: RestClient,
  verb: string,
  resource: Pick<ResourceAttributes, 'group' | 'resource'>,
): Promise<boolean> {
  const { status } = await client.post<{ readonly status?: { readonly allowed?: boolean } }>(
    '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      spec: { resourceAttributes: { verb, ...resource, version: '*' } },
    },
  );
  return status?.allowed === true;
}
