/**
 * Members are written as the caller. Five users with different rights write sets. The audit log of the API server must name the caller of
 * every write of a member, and show no write but dry runs for users who were refused. The account of Portolan has a role of its own here: at
 * first without the verbs of impersonation.
 */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AggregatedPlane, startAggregatedPlane } from '../kit/aggregated-plane.ts';
import { apiRequest } from '../kit/api-request.ts';
import { auditEvents } from '../kit/audit-events.ts';
import { eventually } from '../kit/eventually.ts';
import { runGateway } from '../kit/gateway.ts';
import { describeOn, mainServer } from '../kit/real-servers.ts';

const group = 'shadow.portolan.dev';
const namespace = 'default';
const path = `/apis/${group}/v1alpha1/namespaces/${namespace}/shadowresources`;
const tokenOf = (user: string): string => `token-of-${user}`;

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

const rule = (apiGroup: string, resource: string, ...verbs: readonly string[]): Rule => ({
  apiGroups: [apiGroup],
  resources: [resource],
  verbs,
});
const sets = rule(group, 'shadowresources', '*');

/** What each user may do. `refused` is a part of the message for a set of a ConfigMap, a Secret and a Service. */
const users: Readonly<Record<string, { readonly rules: readonly Rule[]; readonly refused: RegExp | null }>> = {
  all: { rules: [sets, ...['configmaps', 'secrets', 'services'].map((each) => rule('', each, '*'))], refused: null },
  nosecrets: {
    rules: [sets, rule('', 'configmaps', '*'), rule('', 'services', '*')],
    refused: /spec\.flowList\[1\], Secret nosecrets: .*"nosecrets" cannot (get|patch|create) resource "secrets"/s,
  },
  reader: {
    rules: [sets, rule('', 'configmaps', '*'), rule('', 'secrets', '*'), rule('', 'services', 'get', 'list', 'watch')],
    refused: /spec\.flowList\[2\], Service reader: .*"reader" cannot (patch|create) resource "services"/s,
  },
  setsonly: { rules: [sets], refused: /spec\.flowList\[0\], ConfigMap setsonly: .*"setsonly" cannot/s },
  membersonly: {
    rules: ['configmaps', 'secrets', 'services'].map((each) => rule('', each, '*')),
    refused: /User "membersonly" cannot create resource "shadowresources"/,
  },
};

/** What the account of Portolan needs besides impersonation. */
const accountRules: readonly Rule[] = [
  rule('*', '*', 'list', 'watch'),
  rule('portolan.dev', 'shadowrecords', 'get', 'create', 'patch', 'update', 'delete'),
  rule('', 'events', 'create'),
  rule('authorization.k8s.io', 'subjectaccessreviews', 'create'),
  rule('authentication.k8s.io', 'tokenreviews', 'create'),
];
/** Discovery is asked as the caller too. */
const discovery = { nonResourceURLs: ['/api', '/api/*', '/apis', '/apis/*'], verbs: ['impersonate-on:user-info:get'] };
const impersonation = {
  info: ['users', 'groups', 'uids', 'userextras/*'].map((each) =>
    rule('authentication.k8s.io', each, 'impersonate:user-info'),
  ),
  on: (resource: string) =>
    rule('', resource, ...['get', 'create', 'patch', 'delete'].map((verb) => `impersonate-on:user-info:${verb}`)),
} as const;

describeOn([mainServer], 'members are written as the caller', { timeout: 60_000, needs: ['kubectl'] }, (server) => {
  let aggregated: AggregatedPlane;
  const admin = (args: readonly string[], stdin?: object): Promise<string> =>
    aggregated.plane.kubectl(args, stdin === undefined ? undefined : JSON.stringify(stdin));
  const send = async (user: string, method: string, to: string, body?: object) => {
    const { status, text } = await apiRequest(aggregated.plane, tokenOf(user), `${path}${to}`, { method, body });
    return { status, body: JSON.parse(text) };
  };
  const create = (user: string, members = threeMembers(user)) => send(user, 'POST', '', setOf(user, members));
  const names = async (kinds = 'configmap,secret,service,shadowrecord'): Promise<readonly string[]> =>
    (await admin(['get', kinds, '-n', namespace, '-o', 'name']))
      .split('\n')
      .filter((each) => each !== '' && !each.endsWith('/kubernetes'));
  const grantAccount = (rules: readonly object[]): Promise<string> =>
    admin(['apply', '-f', '-'], clusterRole('portolan-impersonates', rules));

  beforeAll(async () => {
    aggregated = await startAggregatedPlane({
      server,
      flags: { impersonate: 'constrained' },
      users: ['portolan', ...Object.keys(users)].map((user) => ({ token: tokenOf(user), user, groups: [] })),
      auditRules: [
        { level: 'None', verbs: ['get', 'list', 'watch'] },
        // The options of a deletion stand in its body.
        { level: 'Request', verbs: ['delete'], omitStages: ['RequestReceived'] },
        { level: 'Metadata', omitStages: ['RequestReceived'] },
      ],
      run: async (plane, flags) => {
        const kubeconfig = plane.writeKubeconfig('portolan', { token: tokenOf('portolan') });
        return runGateway({ name: 'real', kubeconfig }, flags);
      },
      prepare: async (plane) => {
        const manifests = [
          ...Object.entries(users).flatMap(([user, { rules }]) => [clusterRole(user, rules), binding(user, user)]),
          clusterRole('portolan', accountRules),
          binding('portolan', 'portolan'),
          binding('portolan-impersonates', 'portolan'),
          {
            apiVersion: 'rbac.authorization.k8s.io/v1',
            kind: 'RoleBinding',
            metadata: { name: 'portolan', namespace: 'kube-system' },
            roleRef: {
              apiGroup: 'rbac.authorization.k8s.io',
              kind: 'Role',
              name: 'extension-apiserver-authentication-reader',
            },
            subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'portolan' }],
          },
        ];
        await plane.kubectl(['apply', '-f', '-'], manifests.map((each) => JSON.stringify(each)).join('\n---\n'));
      },
    });
    await eventually(async () => expect((await send('all', 'GET', '')).status).toBe(200));
  }, 240_000);
  afterAll(() => aggregated?.stop(), 60_000);

  test('constrained impersonation without its verbs fails closed', async () => {
    const refused = await create('all');
    expect([refused.status, refused.body.message]).toEqual([403, expect.stringMatching(/impersonat/)]);
    expect(await names()).toEqual([]);
    // The user may be named, and no verb on a kind may be used for it.
    await grantAccount(impersonation.info);
    await eventually(async () =>
      expect((await create('all')).body.message).toMatch(/spec\.flowList\[0\], ConfigMap all: /),
    );
    expect(await names()).toEqual([]);
    await grantAccount([...impersonation.info, discovery, impersonation.on('configmaps')]);
    await eventually(async () =>
      expect((await create('all')).body.message).toMatch(/^spec\.flowList\[1\], Secret all: /),
    );
    expect(await names()).toEqual([]);
    await eventually(async () => expect((await create('all', threeMembers('all').slice(0, 1))).status).toBe(201));
    expect((await send('all', 'DELETE', '/all')).status).toBe(200);
    await grantAccount([
      ...impersonation.info,
      discovery,
      ...['configmaps', 'secrets', 'services'].map(impersonation.on),
    ]);
  });

  test('a forbidden member refuses the whole, and the answer says which', async () => {
    await eventually(async () => expect((await create('all')).status).toBe(201));
    const before = await names();
    expect(before).toHaveLength(4);
    for (const [user, { refused }] of Object.entries(users)) {
      if (refused === null) continue;
      const { status, body } = await create(user);
      expect([user, status, body.message]).toEqual([user, 403, expect.stringMatching(refused)]);
      expect(await names()).toEqual(before);
    }
    // The same of the set of another user: its changes and its deletion.
    const versions = () =>
      admin([
        'get',
        'configmap,secret,service',
        '-n',
        namespace,
        '-o',
        'jsonpath={.items[*].metadata.resourceVersion}',
      ]);
    const then = await versions();
    const changed = setOf('all', threeMembers('all', 'changed'));
    for (const user of ['nosecrets', 'reader', 'setsonly', 'membersonly']) {
      expect([user, (await send(user, 'PUT', '/all', changed)).status]).toEqual([user, 403]);
      expect([user, (await send(user, 'DELETE', '/all')).status]).toEqual([user, 403]);
    }
    expect(await versions()).toBe(then);
    expect((await send('all', 'PUT', '/all', changed)).status).toBe(200);
    expect((await send('all', 'DELETE', '/all')).status).toBe(200);
    await eventually(async () => expect(await names()).toEqual([]));
  });

  test('the audit log: every write of a member has its caller, and Portolan writes nothing but records and Events', () => {
    const log = join(aggregated.plane.dir, 'audit.log');
    const entries = auditEvents(log).filter(({ user, stage, objectRef }) => {
      const isReview = ['subjectaccessreviews', 'tokenreviews'].includes(objectRef?.resource ?? '');
      return stage === 'ResponseComplete' && user.username === 'portolan' && !isReview;
    });
    const own = entries.filter(({ impersonatedUser }) => impersonatedUser === undefined);
    // A request whose impersonation was refused names nobody.
    const done = own.filter(({ responseStatus }) => (responseStatus?.code ?? 0) < 400);
    expect(done.length).toBeGreaterThan(0);
    expect(new Set(done.map(({ objectRef }) => objectRef?.resource))).toEqual(new Set(['shadowrecords', 'events']));
    const others = own.filter(({ objectRef }) => !['shadowrecords', 'events'].includes(objectRef?.resource ?? ''));
    expect(others.filter(({ responseStatus }) => responseStatus?.code !== 403)).toEqual([]);
    const as = entries.filter(({ impersonatedUser }) => impersonatedUser !== undefined);
    expect(as.some(({ objectRef }) => ['shadowrecords', 'events'].includes(objectRef?.resource ?? ''))).toBe(false);
    const real = as.filter(({ requestURI, requestObject, responseStatus }) => {
      const isDryRun = /dryRun=All/.test(requestURI) || requestObject?.dryRun?.[0] === 'All';
      return !isDryRun && (responseStatus?.code ?? 0) < 400;
    });
    expect(new Set(real.map(({ impersonatedUser }) => impersonatedUser?.username))).toEqual(new Set(['all']));
    expect(new Set(real.map(({ objectRef }) => objectRef?.resource))).toEqual(
      new Set(['configmaps', 'secrets', 'services']),
    );
    // Users who may get a member and not write it have dry runs alone, each in their own name.
    const tried = new Set(as.map(({ impersonatedUser }) => impersonatedUser?.username));
    expect(tried).toEqual(new Set(['all', 'nosecrets', 'reader']));
  });
});

function clusterRole(name: string, rules: readonly object[]): object {
  return { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name }, rules };
}

function binding(role: string, user: string): object {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: role },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
  };
}

function setOf(name: string, flowList: readonly object[]): object {
  return { apiVersion: `${group}/v1alpha1`, kind: 'ShadowResource', metadata: { name, namespace }, spec: { flowList } };
}

function threeMembers(name: string, a = 'x'): readonly object[] {
  const metadata = { name, namespace };
  return [
    { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { a } },
    { apiVersion: 'v1', kind: 'Secret', metadata, data: { a: Buffer.from(a).toString('base64') } },
    { apiVersion: 'v1', kind: 'Service', metadata, spec: { selector: { a }, ports: [{ port: 80, protocol: 'TCP' }] } },
  ];
}
