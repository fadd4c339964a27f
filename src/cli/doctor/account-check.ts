/** The rights of Portolan's account that the aggregated API server needs, by SubjectAccessReview. */
import { memberVerbs } from '../../access/door-rules.ts';
import type { ResourceAttributes } from '../../access/policy-rule.ts';
import { userNamed } from '../../auth/identity/user-named.ts';
import { reviewSubject } from '../../auth/rights/subject-access-review.ts';
import { takeInventory } from '../../ingest/cluster/inventory.ts';
import { ApiError } from '../../kube/http/api-error.ts';
import { refusalOfKind } from '../../sets/members/member-kinds.ts';
import { recordResource } from '../../sets/record/set-record.ts';
import type { ExaminedCluster } from './examined-cluster.ts';
import { commandOf, type Finding, notSeen, ok, problem } from './finding.ts';

interface Needed {
  /** The purpose of the right; ends a sentence. */
  readonly why: string;
  readonly asked: readonly Partial<ResourceAttributes>[];
  readonly command: string | null;
}

const authorityName = 'extension-apiserver-authentication';

export async function checkAccount(cluster: ExaminedCluster): Promise<readonly Finding[]> {
  const { account, impersonate, setKinds } = cluster.options;
  const hint =
    'The rights of the account of Portolan were not looked at: name it with --service-account NAMESPACE/NAME.';
  if (account === null) return [notSeen(hint)];
  const user = `system:serviceaccount:${account.namespace}:${account.name}`;
  const findings: Finding[] = [];
  const member = impersonate === 'constrained' ? await memberKind(cluster) : null;
  for (const { why, asked, command } of needed(account, { impersonate, setKinds, member })) {
    const refused = await refusedOf(cluster, account, asked);
    if (refused === null)
      return [
        notSeen(
          `You may not ask for the rights of ${user}: it needs create on subjectaccessreviews.authorization.k8s.io.`,
        ),
      ];
    if (refused.length > 0) findings.push(problem(`${user} may not ${refused.join(', ')}, ${why}`, command));
  }
  if (impersonate === 'off') {
    findings.push(
      notSeen(
        'Impersonation was not looked at: say --impersonate constrained or classic, as for portolan serve. Without it, kubectl cannot write sets.',
      ),
    );
  }
  return findings.some(({ verdict }) => verdict === 'problem')
    ? findings
    : [ok(`${user} has the rights that it needs.`), ...findings];
}

/** How the account writes members. */
interface Writing extends Pick<ExaminedCluster['options'], 'impersonate' | 'setKinds'> {
  /** A kind whose objects may be members; null for none, and where no right names kinds of members. */
  readonly member: Partial<ResourceAttributes> | null;
}

function needed(
  { namespace, name }: { readonly namespace: string; readonly name: string },
  { impersonate, setKinds, member }: Writing,
): readonly Needed[] {
  const records = { group: recordResource.group, resource: recordResource.plural };
  const verbs = ['get', 'list', 'watch', 'create', 'patch', 'delete'];
  const onMembers =
    member === null ? [] : memberVerbs.map((verb) => ({ ...member, verb: `impersonate-on:user-info:${verb}` }));
  const mode =
    impersonate === 'off'
      ? []
      : impersonate === 'classic'
        ? impersonations.classic
        : [...impersonations.constrained, ...onMembers];
  const rights = commandOf`portolan rbac --aggregate --auth token --impersonate ${impersonate} --service-account ${namespace}/${name}`;
  // rbac without the option grants all kinds.
  const kinds = setKinds.length === 0 ? '' : commandOf` --set-kinds ${setKinds.join(',')}`;
  return [
    {
      why: 'by which it knows the aggregator.',
      asked: [{ verb: 'get', resource: 'configmaps', namespace: 'kube-system', name: authorityName }],
      command: commandOf`kubectl create rolebinding portolan-authentication-reader --namespace=kube-system --role=extension-apiserver-authentication-reader --serviceaccount=${namespace}:${name}`,
    },
    {
      why: 'which are the records of sets.',
      asked: verbs.map((verb) => ({ verb, ...records })),
      command: commandOf`kubectl create clusterrole portolan-records --verb=get,list,watch,create,patch,delete --resource=shadowrecords.portolan.dev && kubectl create clusterrolebinding portolan-records --clusterrole=portolan-records --serviceaccount=${namespace}:${name}`,
    },
    {
      why: 'by which kubectl describe shows what writes of sets have done.',
      asked: [{ verb: 'create', resource: 'events' }],
      command: commandOf`kubectl create clusterrole portolan-events --verb=create --resource=events && kubectl create clusterrolebinding portolan-events --clusterrole=portolan-events --serviceaccount=${namespace}:${name}`,
    },
    {
      why: 'to write members as the caller.',
      asked: mode,
      command: rights === null || kinds === null ? null : `${rights}${kinds} | kubectl apply -f -`,
    },
  ];
}

const ofUsers = { group: 'authentication.k8s.io' } as const;
const impersonations = {
  constrained: [
    { verb: 'impersonate:user-info', ...ofUsers, resource: 'users' },
    { verb: 'impersonate:user-info', ...ofUsers, resource: 'groups' },
    { verb: 'impersonate:serviceaccount', ...ofUsers, resource: 'serviceaccounts' },
  ],
  classic: ['users', 'groups', 'serviceaccounts'].map((resource) => ({ verb: 'impersonate', group: '', resource })),
} as const;

/** A kind whose objects may be members, for the rights that all of them need: ConfigMaps if they may. Null for none. */
async function memberKind({ options }: ExaminedCluster): Promise<Partial<ResourceAttributes> | null> {
  const { client, setKinds } = options;
  const configMaps = { group: '', plural: 'configmaps', kind: 'ConfigMap', namespaced: true };
  const may = (kind: typeof configMaps): boolean => refusalOfKind(kind, setKinds) === null;
  const found = may(configMaps) ? configMaps : (await takeInventory(client)).chosen.find(may);
  return found === undefined ? null : { group: found.group, resource: found.plural };
}

/** The rights that the account lacks, such as `get configmaps in kube-system`; null if we may not ask. */
async function refusedOf(
  { options: { client } }: ExaminedCluster,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  asked: readonly Partial<ResourceAttributes>[],
): Promise<readonly string[] | null> {
  const user = userNamed(`system:serviceaccount:${namespace}:${name}`, []);
  const refused: string[] = [];
  for (const some of asked) {
    const attributes = { verb: '', group: '', resource: '', subresource: '', namespace: '', name: '', ...some };
    try {
      if ((await reviewSubject(client, user, attributes)).allowed) continue;
    } catch (error) {
      if (error instanceof ApiError && error.httpStatus === 403) return null;
      throw error;
    }
    const { verb, resource, group } = attributes;
    const of = attributes.namespace === '' ? '' : ` in ${attributes.namespace}`;
    refused.push(`${verb} ${resource}${group === '' ? '' : `.${group}`}${of}`);
  }
  return refused;
}
