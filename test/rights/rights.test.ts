/** `portolan rbac` and `portolan can` at a simulated cluster, which authorizes by RBAC as kube-apiserver does. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { type SimCluster, startSimCluster } from '../../sim/sim-cluster.ts';
import { can, type Question } from '../../src/cli/rights/can.ts';
import { rbac } from '../../src/cli/rights/rbac.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { runGateway } from '../kit/gateway.ts';
import { type KubeconfigFolder, kubeconfigFolder } from '../kit/kubeconfig-file.ts';

const group = 'rbac.authorization.k8s.io';
const apiVersion = `${group}/v1`;
const account = { name: 'system:serviceaccount:gateway:portolan', token: 'of-the-account' };

let sim: SimCluster;
let folder: KubeconfigFolder;
let admin: string;
let robot: string;

beforeAll(async () => {
  sim = await startSimCluster({
    features: {
      users: [
        { token: 'of-the-admin', user: 'admin', groups: ['system:masters'] },
        {
          token: account.token,
          user: account.name,
          groups: ['system:serviceaccounts', 'system:serviceaccounts:gateway', 'system:authenticated'],
        },
      ],
    },
  });
  folder = kubeconfigFolder();
  admin = folder.file('admin', sim.kubeconfig());
  robot = folder.file('robot', sim.kubeconfig().replace('of-the-admin', account.token));
  for (const name of ['shop', 'dev']) sim.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  const metadata = { name: 'readers' };
  const rules = [{ apiGroups: [''], resources: ['pods', 'pods/status'], verbs: ['get', 'list'] }];
  sim.create({ apiVersion, kind: 'ClusterRole', metadata, rules });
  const roleRef = { apiGroup: group, kind: 'ClusterRole', name: 'readers' };
  const subjects = [{ apiGroup: group, kind: 'Group', name: 'devs' }];
  for (const namespace of ['shop', 'dev']) {
    sim.create({ apiVersion, kind: 'RoleBinding', metadata: { ...metadata, namespace }, roleRef, subjects });
  }
});
afterAll(async () => {
  folder.remove();
  await sim.close();
});

async function printed(flags: Readonly<Record<string, unknown>>): Promise<string> {
  let text = '';
  const config = loadConfig({ flags: { kubeconfig: admin, ...flags }, environment: {} });
  await rbac(config, { out: { write: (part) => (text += part) }, notes: { write: () => true } });
  return text;
}

const manifestsIn = (text: string) => parseAllDocuments(text).map((document) => document.toJS());

describe('portolan rbac', () => {
  test('prints YAML with a reason for each rule', async () => {
    const text = await printed({
      kinds: ['Pod', 'deployments', 'nodes'],
      namespaces: ['shop'],
      serviceAccount: 'gateway/portolan',
      name: 'reader',
    });
    expect(text).toMatchInlineSnapshot(`
      "# The rights of Portolan's own account in the cluster simulated, by portolan rbac.
      # Print them again when the cluster serves other kinds. The gateway parks kinds that it may not read.

      # What the gateway reads in the whole cluster, and what identifies the cluster.

      apiVersion: rbac.authorization.k8s.io/v1
      kind: ClusterRole
      metadata:
        name: reader
      rules:
        # Kinds of the core group.
        - apiGroups: [""]
          resources: [nodes]
          verbs: [list, watch]
        # The uid of this namespace identifies the cluster: objects of another cluster at the same address are not mixed in.
        - apiGroups: [""]
          resources: [namespaces]
          resourceNames: [kube-system]
          verbs: [get]
        # Discovery and OpenAPI. Kubernetes grants them to every authenticated user (system:discovery) unless that was removed.
        - nonResourceURLs: [/api, /api/*, /apis, /apis/*, /openapi/v2, /openapi/v3, /openapi/v3/*, /version]
          verbs: [get]
      ---
      apiVersion: rbac.authorization.k8s.io/v1
      kind: ClusterRoleBinding
      metadata:
        name: reader
      roleRef:
        apiGroup: rbac.authorization.k8s.io
        kind: ClusterRole
        name: reader
      subjects:
        - kind: ServiceAccount
          namespace: gateway
          name: portolan
      ---
      # What the gateway reads in the namespace shop.

      apiVersion: rbac.authorization.k8s.io/v1
      kind: Role
      metadata:
        name: reader
        namespace: shop
      rules:
        # Kinds of the core group.
        - apiGroups: [""]
          resources: [pods]
          verbs: [list, watch]
        # Kinds of apps.
        - apiGroups: [apps]
          resources: [deployments]
          verbs: [list, watch]
      ---
      apiVersion: rbac.authorization.k8s.io/v1
      kind: RoleBinding
      metadata:
        name: reader
        namespace: shop
      roleRef:
        apiGroup: rbac.authorization.k8s.io
        kind: Role
        name: reader
      subjects:
        - kind: ServiceAccount
          namespace: gateway
          name: portolan
      "
    `);
  });

  test('names are texts for kubectl, which reads YAML 1.1', async () => {
    const text = await printed({ kinds: ['pods'], serviceAccount: 'yes/off', name: 'on' });
    const [role, binding] = parseAllDocuments(text, { version: '1.1' }).map((document) => document.toJS());
    expect(role.metadata).toEqual({ name: 'on' });
    expect(binding.roleRef.name).toBe('on');
    expect(binding.subjects).toEqual([{ kind: 'ServiceAccount', namespace: 'yes', name: 'off' }]);
  });

  test('with --auth has the roles and bindings, whatever --kinds says', async () => {
    const [role] = manifestsIn(await printed({ kinds: ['pods'], auth: ['token'] }));
    expect(role.rules).toContainEqual({
      apiGroups: [group],
      resources: ['clusterrolebindings', 'clusterroles', 'rolebindings', 'roles'],
      verbs: ['list', 'watch'],
    });
    const created = role.rules.filter((rule: { verbs: string[] }) => rule.verbs.includes('create'));
    expect(created).toEqual([
      { apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'], verbs: ['create'] },
      { apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'], verbs: ['create'] },
    ]);
    const byRoles = await printed({ kinds: ['pods'], auth: ['token'], authorizationMode: 'rbac' });
    expect(byRoles).toContain('rolebindings');
    expect(byRoles).not.toContain('subjectaccessreviews');
    const byReviews = await printed({ kinds: ['pods'], auth: ['token'], authorizationMode: 'review' });
    expect(byReviews).not.toContain('rolebindings');
    expect(byReviews).toContain('subjectaccessreviews');
    const [open] = manifestsIn(await printed({ kinds: ['pods'], auth: ['none'] }));
    expect(JSON.stringify(open)).not.toMatch(/tokenreviews|clusterroles/);
  });

  test('with several clusters, tokens are reviewed in their home, and nobody is impersonated', async () => {
    const several = { kinds: ['pods'], auth: ['token'], sameUsers: true, secretData: 'live' };
    expect(await printed({ ...several, authCluster: 'simulated' })).toContain('tokenreviews');
    const other = await printed({ ...several, authCluster: 'another' });
    expect(other).not.toContain('tokenreviews');
    expect(other).not.toContain('[impersonate]');
    expect(await printed({ kinds: ['pods'], auth: ['proxy'] })).not.toContain('tokenreviews');
  });

  test.each([
    ['classic', '[impersonate]'],
    ['constrained', '[impersonate:user-info]'],
  ])('%s impersonation is printed where the callers are the same users', async (impersonate, verbs) => {
    const impersonates = async (flags: object): Promise<boolean> =>
      (await printed({ kinds: ['pods'], auth: ['proxy'], ...flags })).includes(verbs);
    expect(await impersonates({ impersonate })).toBe(true);
    expect(await impersonates({})).toBe(false);
    expect(await impersonates({ impersonate, authCluster: 'another' })).toBe(false);
    expect(await impersonates({ impersonate, authCluster: 'another', sameUsers: true })).toBe(true);
  });

  test('callers who have no token need impersonation for the data of Secrets', async () => {
    const refused = printed({ kinds: ['pods'], auth: ['proxy'], secretData: 'live' });
    await expect(refused).rejects.toThrow(/--impersonate constrained/);
  });

  test.each([
    [{ wildcards: true, exclude: ['secrets'] }, '--wildcards grants every resource'],
    [{ kinds: ['pdos'] }, 'did you mean pods?'],
    [{ kinds: ['pods'], exclude: ['pods'] }, 'No resource matches'],
    [{ context: ['a', 'b'] }, 'run it once for each --context (a, b)'],
    [{ auth: ['none', 'token'] }, '--auth none stands alone'],
  ])('refuses %j', async (flags, message) => {
    await expect(printed(flags)).rejects.toThrow(message);
  });

  test('prints roles with which everything syncs', async () => {
    for (const manifest of manifestsIn(await printed({ auth: ['token'], serviceAccount: 'gateway/portolan' }))) {
      sim.create(manifest);
    }
    const gateway = await runGateway({ name: 'sim', kubeconfig: robot }, { auth: ['token'] });
    try {
      expect(gateway.progress().failing).toEqual([]);
      expect(gateway.progress().resourcesSynced).toBeGreaterThan(20);
    } finally {
      await gateway.close();
    }
  });
});

describe('portolan can', () => {
  const asked = async (question: Partial<Question>, { json = false, kubeconfig = admin } = {}) => {
    let text = '';
    const whole = {
      as: 'alice',
      groups: ['devs'],
      uid: '',
      extra: [],
      verb: 'list',
      target: 'pods',
      name: '',
      namespace: '',
      check: false,
    };
    const config = loadConfig({ flags: { kubeconfig, json }, environment: {} });
    const code = await can(config, { ...whole, ...question }, { write: (part) => (text += part) });
    return { code, text };
  };

  test('says yes, and what allows it', async () => {
    expect(await asked({ namespace: 'shop', check: true })).toEqual({
      code: 0,
      text: [
        'yes',
        'RoleBinding shop/readers gives Group devs the ClusterRole readers, which allows list pods in shop:',
        '  {"verbs":["get","list"],"apiGroups":[""],"resources":["pods","pods/status"]}',
        'The API server decides the same.',
        '',
      ].join('\n'),
    });
    expect(await asked({ target: 'po/status', verb: 'get', name: 'web', namespace: 'dev' })).toMatchObject({ code: 0 });
    expect(await asked({ groups: ['system:masters'], verb: 'delete', target: 'nodes' })).toEqual({
      code: 0,
      text: 'yes\nThe API server allows members of system:masters everything.\n',
    });
  });

  test('asks for the user of the kubeconfig without --as', async () => {
    const { code, text } = await asked({ as: undefined, groups: [], verb: 'delete', target: 'nodes' }, { json: true });
    expect(code).toBe(0);
    expect(JSON.parse(text).user).toMatchObject({ user: 'admin', groups: expect.arrayContaining(['system:masters']) });
    await expect(asked({ as: undefined })).rejects.toThrow('--as-group, --as-uid and --as-user-extra need --as.');
  });

  test('says no, and in which namespaces it would be allowed', async () => {
    expect(await asked({})).toEqual({
      code: 1,
      text: 'no\nNo role of alice allows list pods.\nIt is allowed in dev, shop.\n',
    });
    expect(await asked({ verb: 'delete', namespace: 'shop', check: true })).toEqual({
      code: 1,
      text: 'no\nNo role of alice allows delete pods in shop.\nThe API server decides the same.\n',
    });
    expect(await asked({ verb: 'get', target: '/metrics' })).toMatchObject({ code: 1 });
  });

  test('says of a user with extra that another authorizer may decide', async () => {
    const extra = ['example.com/scopes=read=all', 'example.com/scopes=list'];
    const { code, text } = await asked({ namespace: 'shop', extra });
    expect([code, text.split('\n').at(-2)]).toEqual([
      0,
      'Roles and bindings do not know the extra of a user. Another authorizer may decide by it: ask with --check.',
    ]);
    const { text: json } = await asked({ namespace: 'shop', extra, uid: '42' }, { json: true });
    expect(JSON.parse(json).user).toMatchObject({ uid: '42', extra: { 'example.com/scopes': ['read=all', 'list'] } });
    await expect(asked({ extra: ['scopes'] })).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
  });

  test('prints JSON', async () => {
    const { text } = await asked({ namespace: 'shop' }, { json: true });
    expect(JSON.parse(text)).toEqual({
      allowed: true,
      user: { user: 'alice', groups: ['devs', 'system:authenticated'], uid: '', extra: {} },
      request: { verb: 'list', group: '', resource: 'pods', subresource: '', namespace: 'shop', name: '' },
      reason: {
        binding: { kind: 'RoleBinding', namespace: 'shop', name: 'readers' },
        role: { kind: 'ClusterRole', name: 'readers' },
        subject: { kind: 'Group', name: 'devs' },
        rule: { verbs: ['get', 'list'], apiGroups: [''], resources: ['pods', 'pods/status'] },
      },
      allowedIn: [],
    });
  });

  test('an unknown resource is an error', async () => {
    await expect(asked({ target: 'pdos' })).rejects.toThrow('did you mean pods?');
  });
});
