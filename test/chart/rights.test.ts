/** The roles of the chart are those of `portolan rbac` for the same options, and the gateway reads the kinds that they grant. */
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { builtinKinds } from '../../deploy/chart-source/builtin-kinds.ts';
import { callerRoles, doorRoles } from '../../src/access/door-rules.ts';
import { gatewayRoles, type NeededRule } from '../../src/access/gateway-rules.ts';
import { resourceKey } from '../../src/catalog/resources/resource.ts';
import { requiredKeys } from '../../src/cli/options/credential-kinds.ts';
import { selects } from '../../src/ingest/context/selection.ts';
import { describeWithHelm, manifestsOf, portolanYaml, renderValues } from '../kit/chart.ts';

interface Options {
  readonly auth?: readonly ('token' | 'proxy' | 'certificate' | 'none')[];
  readonly authorizationMode?: 'auto' | 'rbac' | 'review';
  readonly kinds?: readonly string[];
  readonly exclude?: readonly string[];
  readonly namespaces?: readonly string[];
  readonly secretData?: 'live';
  readonly impersonate?: 'constrained' | 'classic';
  readonly clusterSecrets?: string;
  readonly abstractKindObjects?: readonly string[];
}

const tls = { secret: 'tls', clientCa: { secret: '' }, proxyClientCa: { secret: '' } };
const widgets = { group: 'example.com', plural: 'widgets', kind: 'Widget', namespaced: true, verbs: ['list', 'watch'] };
const abstractKinds = {
  ...widgets,
  group: 'portolan.dev',
  plural: 'abstractkinds',
  kind: 'AbstractKind',
  namespaced: false,
};
const inner = { ...widgets, group: 'inner.example.com' };

/** `namespace suffix verbs groups resources`, one line a rule, sorted. */
function linesOf(role: string, rules: readonly Partial<NeededRule>[]): readonly string[] {
  return rules.map(({ verbs = [], apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] }) =>
    [
      role,
      ...[verbs, apiGroups, resources, resourceNames, nonResourceURLs].map((each) => each.toSorted().join(' ')),
    ].join('|'),
  );
}

/** The rules that the code of `portolan rbac` makes of these options. */
function expectedLines(options: Options, { secrets = false, wildcards = false } = {}): readonly string[] {
  const { auth = ['token'], authorizationMode = 'auto', kinds = [], exclude = [], namespaces = [] } = options;
  const accepted = auth.filter((kind) => kind !== 'none');
  const { abstractKindObjects = [] } = options;
  const required = requiredKeys(accepted, { authorizationMode, abstractKindObjects });
  const selection = { include: kinds, exclude, required };
  const served = [...builtinKinds, ...(abstractKindObjects.length === 0 ? [] : [abstractKinds])];
  const resources = served.filter(
    (resource) => selects(resource, selection) && (secrets || resourceKey(resource) !== 'secrets'),
  );
  return gatewayRoles({
    resources,
    namespaces,
    wildcards,
    reviewsTokens: accepted.includes('token'),
    reviewsAccess: accepted.length > 0 && authorizationMode !== 'rbac',
    clusterSecrets: options.clusterSecrets ?? null,
    impersonates: options.impersonate ?? null,
  })
    .flatMap(({ suffix, namespace, rules }) => linesOf(`${namespace}${suffix}`, rules))
    .toSorted();
}

function renderedLines(text: string): readonly string[] {
  const roles = manifestsOf(text).filter(({ kind }) => kind === 'Role' || kind === 'ClusterRole');
  return roles
    .flatMap(({ metadata: { name, namespace = '' }, ...role }) =>
      linesOf(`${namespace}${name.replace('portolan', '')}`, role['rules'] as readonly Partial<NeededRule>[]),
    )
    .toSorted();
}

function valuesOf(config: Options, rbac: object): object {
  const ca = (kind: 'proxy' | 'certificate') => ({ secret: config.auth?.includes(kind) ? 'ca' : '' });
  const needed = config.auth?.some((kind) => kind === 'proxy' || kind === 'certificate');
  return {
    config,
    rbac,
    ...(needed ? { tls: { ...tls, clientCa: ca('certificate'), proxyClientCa: ca('proxy') } } : {}),
  };
}

/** The built-in kinds that the gateway would ingest with the configuration of the chart. */
function ingested(text: string): readonly string[] {
  const { kinds = [], exclude = [], auth = [], authorizationMode = 'auto' } = parse(portolanYaml(text)) as Options;
  const required = requiredKeys(
    auth.filter((kind) => kind !== 'none'),
    { authorizationMode },
  );
  return [...builtinKinds, widgets, inner]
    .filter((resource) => selects(resource, { include: kinds, exclude, required }))
    .map(resourceKey);
}

describeWithHelm('the rights of the chart', () => {
  test.each<readonly [Options, { readonly secrets?: boolean; readonly wildcards?: boolean }]>([
    [{}, {}],
    [{}, { secrets: true }],
    [{}, { wildcards: true }],
    [{ namespaces: ['a', 'b', 'a'] }, {}],
    [{ namespaces: ['a'] }, { wildcards: true }],
    [{ auth: ['none'] }, {}],
    [{ auth: ['none'], kinds: ['pods'] }, {}],
    [{ auth: ['none'], kinds: ['pods', 'apiservices'] }, {}],
    [{ auth: ['proxy'], secretData: 'live', impersonate: 'classic' }, {}],
    [{ auth: ['certificate', 'token'], secretData: 'live', namespaces: ['a'] }, {}],
    [{ auth: ['certificate', 'token'], impersonate: 'constrained', namespaces: ['a'] }, {}],
    [{ secretData: 'live' }, { secrets: true }],
    [{ authorizationMode: 'rbac' }, {}],
    [{ clusterSecrets: 'argocd' }, {}],
    [{ clusterSecrets: 'a', namespaces: ['a'] }, { secrets: true }],
    [{ authorizationMode: 'review', exclude: ['*.rbac.authorization.k8s.io'] }, {}],
    [{ exclude: ['*.rbac.authorization.k8s.io', 'EVENTS', 'component*'] }, {}],
    [{ kinds: ['*', 'leases.coordination.k8s.io'] }, {}],
    [{ kinds: ['*.apps', 'pods.', 'NODE'] }, {}],
    [{ kinds: ['lease*', 'node'], exclude: ['leases'] }, {}],
    [{ kinds: ['nodes'], namespaces: ['a'], authorizationMode: 'review' }, {}],
    [{ abstractKindObjects: ['*'] }, {}],
    [{ abstractKindObjects: ['in-cluster'], kinds: ['nodes'], namespaces: ['a'] }, {}],
    [{ abstractKindObjects: ['*'] }, { wildcards: true }],
  ])('with %j and %j are those of portolan rbac', async (config, rbac) => {
    const text = await renderValues(valuesOf(config, rbac));
    expect(renderedLines(text)).toEqual(expectedLines(config, rbac));
  });

  test('are what the gateway reads: the kinds follow from the rules', async () => {
    const read = ingested(await renderValues({}));
    expect(read).toEqual(
      builtinKinds.map(resourceKey).filter((key) => key !== 'secrets' && key !== 'leases.coordination.k8s.io'),
    );
    expect(ingested(await renderValues({ rbac: { secrets: true } }))).toContain('secrets');
    expect(ingested(await renderValues({ config: { exclude: ['pods'] } }))).toEqual(
      read.filter((key) => key !== 'pods'),
    );
    expect(ingested(await renderValues({ rbac: { wildcards: true } }))).toEqual(
      expect.arrayContaining(['secrets', 'widgets.example.com']),
    );
  });

  test.each<readonly string[]>([[], ['a', 'b']])(
    'of the aggregated API server are those of its code, in %j',
    async (...namespaces) => {
      const text = await renderValues({ aggregate: { enabled: true }, config: { namespaces } });
      const rendered = manifestsOf(text).filter(
        ({ kind, metadata: { name } }) =>
          /^(Cluster)?Role$/.test(kind) && /^portolan-aggregate/.test(name) && !name.endsWith('-impersonate'),
      );
      const certificates = {
        ...{ namespace: 'portolan', secret: 'portolan-aggregate-certificates' },
        apiService: 'v1alpha1.shadow.portolan.dev',
      };
      // Its rights in kube-system are those of the Role that Kubernetes has for them.
      const roles = [...doorRoles({ namespaces, certificates }), ...callerRoles('shadow.portolan.dev')].filter(
        ({ namespace }) => namespace !== 'kube-system',
      );
      expect(
        rendered
          .flatMap(({ metadata: { namespace = '' }, ...role }) =>
            linesOf(namespace, role['rules'] as readonly Partial<NeededRule>[]),
          )
          .toSorted(),
      ).toEqual(roles.flatMap(({ namespace, rules }) => linesOf(namespace, rules)).toSorted());
      expect(
        manifestsOf(text).find(({ kind, metadata }) => kind === 'RoleBinding' && metadata.namespace === 'kube-system'),
      ).toMatchObject({
        roleRef: { kind: 'Role', name: 'extension-apiserver-authentication-reader' },
      });
    },
  );

  test('have names of their own, also in kube-system', async () => {
    const text = await renderValues({ aggregate: { enabled: true }, config: { namespaces: ['kube-system', 'a'] } });
    const ids = manifestsOf(text).map(({ kind, metadata: { namespace = '', name } }) => `${kind} ${namespace}/${name}`);
    expect(new Set(ids).size).toBe(ids.length);
    const roles = doorRoles({ namespaces: ['kube-system', 'a'], certificates: null });
    expect(new Set(roles.map(({ namespace, suffix }) => `${namespace} ${suffix}`)).size).toBe(roles.length);
  });

  test('hold for groups of custom resources, and not for the groups below them', async () => {
    const of = async (...groups: readonly string[]) =>
      ingested(await renderValues({ rbac: { customResources: { groups } } })).filter((key) =>
        key.endsWith('example.com'),
      );
    expect(await of()).toEqual([]);
    expect(await of('example.com')).toEqual(['widgets.example.com']);
    expect(await of('inner.example.com')).toEqual(['widgets.inner.example.com']);
    expect(await of('example.com', 'inner.example.com')).toEqual(['widgets.example.com', 'widgets.inner.example.com']);
  });

  test('may be own rules, of which the gateway reads what can be listed and watched', async () => {
    const rules = [
      { apiGroups: [''], resources: ['componentstatuses'], verbs: ['list'] },
      { apiGroups: ['', 'apps'], resources: ['pods', 'deployments', 'pods/log'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: [''], resources: ['nodes'], verbs: ['get', 'list'] },
      { apiGroups: [''], resources: ['namespaces'], resourceNames: ['a'], verbs: ['list', 'watch'] },
      { apiGroups: ['example.com'], resources: ['*'], verbs: ['*'] },
    ];
    const text = await renderValues({ rbac: { rules }, config: { auth: ['none'] } });
    expect(manifestsOf(text).find(({ kind }) => kind === 'ClusterRole')?.['rules']).toEqual(rules);
    expect(ingested(text)).toEqual(['componentstatuses', 'pods', 'deployments.apps', 'widgets.example.com']);
  });
});
