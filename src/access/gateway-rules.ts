/**
 * The rights that the gateway's own account needs in a cluster, for a configuration. All requests that the gateway sends as itself are
 * covered.
 *
 *   kinds in the tables          list and watch; only list where the cluster offers no watch
 *   CustomResourceDefinitions    get and list, if a kind may have one: the definition describes the kind
 *   Namespace kube-system        get: its uid identifies the cluster
 *   tokens of callers            create of tokenreviews
 *   rights of callers            create of subjectaccessreviews
 *   requests of callers          impersonate
 *   Secrets that name clusters   list, in their namespace
 *   paths                        get of discovery, OpenAPI and the version
 *
 * If roles and bindings decide what callers see, ingest reads them: they are among the kinds in the tables.
 */
import { mayBeCustom } from '../catalog/groups/api-group.ts';
import type { Resource } from '../catalog/resources/resource.ts';
import type { PolicyRule } from './policy-rule.ts';

/** A rule with the reason for it. Members of the rule that are missing are empty lists. */
export interface NeededRule extends Partial<PolicyRule> {
  readonly verbs: readonly string[];
  /** One line for the reader of the role. */
  readonly why: string;
}

/** The rules of one Role or ClusterRole. */
export interface NeededRole {
  /** The end of the role's name, after the name that the operator chose. Empty for the main role. */
  readonly suffix: string;
  /** Empty for a ClusterRole. */
  readonly namespace: string;
  readonly why: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** Does the account of Portolan have the role? Default: true. */
  readonly isBound?: false;
  readonly rules: readonly NeededRule[];
}

export interface GatewayNeeds {
  /** The resources that are ingested. */
  readonly resources: readonly Pick<Resource, 'group' | 'plural' | 'namespaced' | 'verbs'>[];
  /** Namespaced resources are read in these alone; empty: in all. */
  readonly namespaces: readonly string[];
  /** One rule for all resources, also for later ones. Otherwise, rules name each resource. */
  readonly wildcards: boolean;
  /** The cluster reviews the tokens of callers. */
  readonly reviewsTokens: boolean;
  /** The cluster is asked whether a caller may do something. */
  readonly reviewsAccess: boolean;
  /** The namespace whose Secrets register clusters; null for none. */
  readonly clusterSecrets: string | null;
  /** Requests of callers are sent to the cluster with the gateway's credentials and the name of the caller: by which rights; null for none. */
  readonly impersonates: 'constrained' | 'classic' | null;
  /** The rules for what is done in the name of callers, with constrained impersonation. Default: with every kind. */
  readonly onBehalf?: readonly NeededRule[];
}

/** The roles that the account needs, the ClusterRole first. */
export function gatewayRoles(needs: GatewayNeeds): readonly NeededRole[] {
  const { resources, namespaces } = needs;
  const inNamespaces = namespaces.length === 0 ? [] : resources.filter(({ namespaced }) => namespaced);
  const inCluster = namespaces.length === 0 ? resources : resources.filter(({ namespaced }) => !namespaced);
  // A wildcard in the ClusterRole would hold in every namespace.
  const kindRules = needs.wildcards && namespaces.length === 0 ? wildcardRules : readingRules(inCluster);
  const cluster: NeededRole = {
    suffix: '',
    namespace: '',
    why: 'What the gateway reads in the whole cluster, and what identifies the cluster.',
    rules: [...kindRules, ...clusterRules(needs)],
  };
  const rules = needs.wildcards ? wildcardRules : readingRules(inNamespaces);
  const ofNamespaces = rules.length === 0 ? [] : [...new Set(namespaces)];
  return [
    cluster,
    ...ofNamespaces.map((namespace) => ({
      suffix: '',
      namespace,
      why: `What the gateway reads in the namespace ${namespace}.`,
      rules,
    })),
    ...(needs.clusterSecrets === null ? [] : [registration(needs.clusterSecrets)]),
    ...(needs.impersonates === null ? [] : [impersonation(needs.impersonates, needs.onBehalf)]),
  ];
}

const reading = ['list', 'watch'] as const;

const wildcardRules: readonly NeededRule[] = [
  {
    why: 'Every kind, also of CustomResourceDefinitions to come. This includes Secrets.',
    apiGroups: ['*'],
    resources: ['*'],
    verbs: reading,
  },
];

/** One rule for the resources of a group with the same verbs. Groups and resources are sorted. */
function readingRules(resources: GatewayNeeds['resources']): readonly NeededRule[] {
  const groups = Map.groupBy(resources, ({ group, verbs }) => `${group} ${verbs.includes('watch')}`);
  return [...groups].sort(byKey).map(([key, members]) => {
    const [group = '', watched] = key.split(' ');
    const of = group === '' ? 'the core group' : group;
    return {
      why: watched === 'true' ? `Kinds of ${of}.` : `Kinds of ${of} that are polled: the cluster offers no watch.`,
      apiGroups: [group],
      resources: [...new Set(members.map(({ plural }) => plural))].sort(),
      verbs: watched === 'true' ? reading : ['list'],
    };
  });
}

function byKey([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}

function clusterRules({ resources, wildcards, reviewsTokens, reviewsAccess }: GatewayNeeds): readonly NeededRule[] {
  const describesCustom = wildcards || resources.some(({ group }) => mayBeCustom(group));
  return [
    ...(describesCustom ? [definitions] : []),
    identity,
    ...(reviewsTokens ? [tokenReviews] : []),
    ...(reviewsAccess ? [accessReviews] : []),
    paths,
  ];
}

const definitions: NeededRule = {
  why: 'The definitions of custom resources describe their fields. One is read by name, many as a list.',
  apiGroups: ['apiextensions.k8s.io'],
  resources: ['customresourcedefinitions'],
  verbs: ['get', 'list'],
};

const identity: NeededRule = {
  why: 'The uid of this namespace identifies the cluster: objects of another cluster at the same address are not mixed in.',
  apiGroups: [''],
  resources: ['namespaces'],
  resourceNames: ['kube-system'],
  verbs: ['get'],
};

const tokenReviews: NeededRule = {
  why: 'The tokens of callers are reviewed here.',
  apiGroups: ['authentication.k8s.io'],
  resources: ['tokenreviews'],
  verbs: ['create'],
};

const accessReviews: NeededRule = {
  why: 'The API server is asked what callers may see.',
  apiGroups: ['authorization.k8s.io'],
  resources: ['subjectaccessreviews'],
  verbs: ['create'],
};

const paths: NeededRule = {
  why: 'Discovery and OpenAPI. Kubernetes grants them to every authenticated user (system:discovery) unless that was removed.',
  nonResourceURLs: ['/api', '/api/*', '/apis', '/apis/*', '/openapi/v2', '/openapi/v3', '/openapi/v3/*', '/version'],
  verbs: ['get'],
};

function registration(namespace: string): NeededRole {
  return {
    suffix: '-clusters',
    namespace,
    why: 'Secrets of this namespace register clusters. The role allows to read all Secrets of the namespace: keep no others there.',
    rules: [{ why: 'They are listed every few seconds.', apiGroups: [''], resources: ['secrets'], verbs: ['list'] }],
  };
}

const classic: NeededRole = {
  suffix: '-impersonate',
  namespace: '',
  why: [
    'Requests of callers whose own credentials an API server does not take are sent with the credentials of the gateway and the name of the',
    'caller. Reading from the tables needs none of it. Who may impersonate every user may do everything: prefer --impersonate constrained',
    'where the API server knows it, and leave this role out of a gateway that only reads from its tables.',
  ].join('\n'),
  rules: [
    {
      why: 'Callers, their groups, and callers that are service accounts.',
      apiGroups: [''],
      resources: ['users', 'groups', 'serviceaccounts'],
      verbs: ['impersonate'],
    },
    {
      why: 'The uid and the extra of callers. RBAC has no pattern for the keys of extra.',
      apiGroups: ['authentication.k8s.io'],
      resources: ['*'],
      verbs: ['impersonate'],
    },
  ],
};

/** The verbs of the gateway's requests in the name of a caller. */
const written = ['get', 'create', 'update', 'patch', 'delete'] as const;

/** Discovery in the name of callers. */
export const readingOnBehalf: NeededRule = {
  ...paths,
  why: 'Discovery and OpenAPI in the name of callers.',
  verbs: onBehalf(['get']),
};

const everyKindOnBehalf: readonly NeededRule[] = [
  {
    why: 'What is done in the name of callers. Narrow it to the kinds that callers may change by the gateway, or to get for a gateway that is read-only.',
    apiGroups: ['*'],
    resources: ['*'],
    verbs: onBehalf(written),
  },
  {
    why: 'The revisions that a rollback reads in the name of the caller.',
    apiGroups: ['apps'],
    resources: ['replicasets', 'controllerrevisions'],
    verbs: onBehalf(['list']),
  },
  readingOnBehalf,
];

/** The role for what is done in the name of callers by constrained impersonation (KEP-5284). */
export function constrained(rulesOnBehalf: readonly NeededRule[]): NeededRole {
  return {
    suffix: '-impersonate',
    namespace: '',
    why: [
      'Requests of callers whose own credentials an API server does not take are sent with the credentials of the gateway and the name of the',
      'caller. Each request must be allowed here and to the caller. The API server refuses the group system:masters always. It needs',
      'Kubernetes 1.36, or 1.35 with the feature gate ConstrainedImpersonation.',
    ].join('\n'),
    rules: [
      {
        why: 'Users with their groups, uid and extra. RBAC has no pattern for the keys of extra. To leave users out, name the others.',
        apiGroups: ['authentication.k8s.io'],
        resources: ['*'],
        verbs: ['impersonate:user-info'],
      },
      {
        why: 'Service accounts.',
        apiGroups: ['authentication.k8s.io'],
        resources: ['serviceaccounts'],
        verbs: ['impersonate:serviceaccount'],
      },
      ...rulesOnBehalf,
    ],
  };
}

/** The verbs of what is done in the name of callers, for users and for service accounts. */
export function onBehalf(verbs: readonly string[]): readonly string[] {
  return ['user-info', 'serviceaccount'].flatMap((mode) => verbs.map((verb) => `impersonate-on:${mode}:${verb}`));
}

function impersonation(how: 'constrained' | 'classic', rulesOnBehalf = everyKindOnBehalf): NeededRole {
  return how === 'classic' ? classic : constrained(rulesOnBehalf);
}

/** The rules that name no kinds, for the Helm chart: it decides at the installation which of them are needed. */
export const unnamedRules = {
  wildcards: wildcardRules,
  definitions: [definitions],
  identity: [identity],
  tokenReviews: [tokenReviews],
  accessReviews: [accessReviews],
  paths: [paths],
  registration: registration('').rules,
  impersonation: classic.rules,
  constrainedImpersonation: constrained(everyKindOnBehalf).rules,
} as const satisfies Readonly<Record<string, readonly NeededRule[]>>;
