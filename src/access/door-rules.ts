/**
 * The rights that the account of an aggregated API server needs, besides those of a gateway (gateway-rules.ts), and those of its callers.
 *
 *   Events of sets                               create
 *   records of sets                              get, create, patch and delete; they are among the kinds in the tables too
 *   who the aggregator is                        get of one ConfigMap of kube-system
 *   certificates that Portolan makes             its Secret, and the caBundle of its APIService
 *   members, as the caller                       impersonate: the role `-impersonate` of a gateway, for the kinds of members alone
 *
 *   callers                                      the kind of sets; and the rights on each member, which they have already
 */
import { type NeededRole, type NeededRule, onBehalf, readingOnBehalf } from './gateway-rules.ts';

/** Where the certificates are that Portolan makes. */
interface OwnCertificates {
  readonly namespace: string;
  readonly secret: string;
  readonly apiService: string;
}

interface DoorNeeds {
  /** Namespaced resources are read in these alone; empty: in all. */
  readonly namespaces: readonly string[];
  /** Null: the certificates are files. */
  readonly certificates: OwnCertificates | null;
}

/** The roles of the account. */
export function doorRoles({ namespaces, certificates }: DoorNeeds): readonly NeededRole[] {
  const why = 'What the aggregated API server writes by itself: the records and the Events of sets.';
  const places = namespaces.length === 0 ? [''] : [...new Set(namespaces)];
  return [
    ...places.map((namespace) => ({ suffix: '-sets', namespace, why, rules: [records, events] })),
    {
      suffix: '-aggregator',
      namespace: 'kube-system',
      why: 'Whom the aggregated API server believes. The Role extension-apiserver-authentication-reader allows it too.',
      rules: [aggregatorAuthority],
    },
    ...(certificates === null ? [] : certificateRoles(certificates)),
  ];
}

const records: NeededRule = {
  why: 'Records, after the right of the caller on the set was checked.',
  apiGroups: ['portolan.dev'],
  resources: ['shadowrecords'],
  verbs: ['get', 'create', 'patch', 'delete'],
};

const events: NeededRule = {
  why: 'What writes have done, for kubectl describe. The Events of members are not written.',
  apiGroups: [''],
  resources: ['events'],
  verbs: ['create'],
};

const aggregatorAuthority: NeededRule = {
  why: 'The authority and the names of the aggregator.',
  apiGroups: [''],
  resources: ['configmaps'],
  resourceNames: ['extension-apiserver-authentication'],
  verbs: ['get'],
};

function certificateRoles({ namespace, secret, apiService }: OwnCertificates): readonly NeededRole[] {
  return [
    {
      suffix: '-certificates',
      namespace,
      why: 'The certificates that all replicas share.',
      rules: [
        {
          why: 'RBAC cannot name an object that does not exist yet.',
          apiGroups: [''],
          resources: ['secrets'],
          verbs: ['create'],
        },
        {
          why: 'This Secret.',
          apiGroups: [''],
          resources: ['secrets'],
          resourceNames: [secret],
          verbs: ['get', 'update'],
        },
      ],
    },
    {
      suffix: '-certificates',
      namespace: '',
      why: 'The authority of the certificates, for kube-apiserver.',
      rules: [
        {
          why: 'The caBundle alone is written.',
          apiGroups: ['apiregistration.k8s.io'],
          resources: ['apiservices'],
          resourceNames: [apiService],
          verbs: ['get', 'patch'],
        },
      ],
    },
  ];
}

/** The verbs of requests for a member in the name of a caller. */
export const memberVerbs = ['get', 'patch', 'delete'] as const;

/** The rules for what is done in the name of callers: with members, and with discovery. One for the resources of a group. */
export function memberRules(
  members: readonly { readonly group: string; readonly plural: string }[],
): readonly NeededRule[] {
  const groups = Map.groupBy(members, ({ group }) => group);
  return [
    ...[...groups].map(([group, each]) => ({
      why: `Members of ${group === '' ? 'the core group' : group}, in the name of callers.`,
      apiGroups: [group],
      resources: [...new Set(each.map(({ plural }) => plural))].sort(),
      verbs: onBehalf(memberVerbs),
    })),
    readingOnBehalf,
  ];
}

/** The ClusterRoles of callers. Kubernetes adds them to its roles view, edit and admin, by their labels. They have no bindings. */
export function callerRoles(group: string): readonly NeededRole[] {
  const role = (name: 'view' | 'edit', why: string, verbs: readonly string[]): NeededRole => ({
    suffix: `-sets-${name}`,
    namespace: '',
    why,
    labels: { [`rbac.authorization.k8s.io/aggregate-to-${name}`]: 'true' },
    isBound: false,
    rules: [{ why: 'The kind of sets.', apiGroups: [group], resources: ['shadowresources'], verbs }],
  });
  return [
    role('view', 'For callers who see sets. What they see of a member depends on their right to get it.', [
      'get',
      'list',
      'watch',
    ]),
    role('edit', 'For callers who write sets. Members are written with the rights of the caller.', [
      'create',
      'update',
      'patch',
      'delete',
      'deletecollection',
    ]),
  ];
}
