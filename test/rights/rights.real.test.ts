/**
 * `portolan rbac` and `portolan can` at real API servers. The roles that rbac prints are applied and bound to a service account, and a
 * gateway runs as this account. Kubernetes' own grants to every authenticated user are removed, so the roles must suffice alone.
 */
import { fetch } from 'undici';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseAllDocuments, stringify } from 'yaml';
import { can, type Question } from '../../src/cli/rights/can.ts';
import { rbac } from '../../src/cli/rights/rbac.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { readCrds } from '../../src/ingest/cluster/crd-source.ts';
import { connect } from '../../src/kube/client/connection.ts';
import { RestClient } from '../../src/kube/client/rest-client.ts';
import { discover } from '../../src/kube/discovery/discovery.ts';
import { clusterUid } from '../../src/kube/discovery/identity.ts';
import { CallerClients } from '../../src/upstream/caller-clients.ts';
import { type ControlPlane, startControlPlane } from '../kit/control-plane.ts';
import { eventually } from '../kit/eventually.ts';
import { gadgetCrd } from '../kit/gadget-crd.ts';
import { type RunningGateway, runGateway } from '../kit/gateway.ts';
import { data } from '../kit/graphql-client.ts';
import { describeOn, mainServer, oldServer } from '../kit/real-servers.ts';

interface Rule {
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
  readonly verbs: readonly string[];
}

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly rules?: readonly Rule[];
}

const account = 'gateway/portolan';
/** The bindings by which Kubernetes grants rights to every authenticated user. */
const defaults = ['system:discovery', 'system:public-info-viewer', 'system:basic-user'];

describeOn([mainServer, oldServer], 'rights at a real API server', { timeout: 180_000 }, (server) => {
  let plane: ControlPlane;
  /** A kubeconfig of the service account. */
  let kubeconfig: string;

  beforeAll(async () => {
    plane = await startControlPlane({ server, controllerManager: true });
    await plane.kubectl(['apply', '-f', '-'], JSON.stringify(gadgetCrd({ size: { type: 'integer' } })));
    for (const namespace of ['gateway', 'team-a', 'team-b']) await plane.kubectl(['create', 'namespace', namespace]);
    await plane.kubectl(['create', 'serviceaccount', 'portolan', '-n', 'gateway']);
    await plane.kubectl(['delete', 'clusterrolebinding', ...defaults]);
    const admin = await clientOf(plane.kubeconfigPath);
    const path = '/api/v1/namespaces/gateway/serviceaccounts/portolan/token';
    const { status } = await admin.post<{ status: { token: string } }>(path, { spec: { audiences: [] } });
    await admin.connection.close();
    kubeconfig = plane.writeKubeconfig('portolan', { token: status.token });
  }, 180_000);
  afterAll(async () => {
    await plane?.stop();
  }, 60_000);

  const clientOf = async (path: string): Promise<RestClient> =>
    new RestClient(await connect({ kubeconfig: path, env: {}, name: 'test' }));

  async function withAccount<T>(work: (client: RestClient) => Promise<T>): Promise<T> {
    const client = await clientOf(kubeconfig);
    try {
      return await work(client);
    } finally {
      await client.connection.close();
    }
  }

  async function printed(flags: Readonly<Record<string, unknown>>): Promise<string> {
    let text = '';
    const config = loadConfig({
      flags: { kubeconfig: plane.kubeconfigPath, serviceAccount: account, ...flags },
      environment: {},
    });
    const out = { write: (part: string) => (text += part) };
    await rbac(config, { out, notes: { write: (note) => expect(note).toBe('') } });
    return text;
  }

  /** Removes all earlier roles and applies these. */
  async function apply(text: string): Promise<readonly Manifest[]> {
    for (const name of ['portolan', 'portolan-impersonate']) {
      await plane.kubectl(['delete', 'clusterrole,clusterrolebinding', name, '--ignore-not-found']);
    }
    for (const namespace of ['team-a', 'team-b']) {
      await plane.kubectl(['delete', 'role,rolebinding', 'portolan', '-n', namespace, '--ignore-not-found']);
    }
    await plane.kubectl(['apply', '-f', '-'], text);
    const manifests = parseAllDocuments(text).map((document) => document.toJS() as Manifest);
    const [last] = manifests.flatMap(({ rules = [] }) => rules.find(({ nonResourceURLs }) => nonResourceURLs) ?? []);
    // The authorizer learns of roles by watches, a moment later.
    if (last !== undefined) await eventually(() => withAccount((client) => client.get('/version')));
    return manifests;
  }

  /** The same without the rules that match. */
  const without = (text: string, matches: (rule: Rule) => boolean): string => {
    let removed = 0;
    const left = parseAllDocuments(text).map((document) => {
      const manifest = document.toJS() as Manifest;
      if (manifest.rules === undefined) return manifest;
      const rules = manifest.rules.filter((rule) => !matches(rule));
      removed += manifest.rules.length - rules.length;
      return { ...manifest, rules };
    });
    expect(removed).toBe(1);
    return left.map((each) => stringify(each)).join('---\n');
  };

  const refused = (gateway: RunningGateway): readonly string[] =>
    gateway
      .progress()
      .failing.map(({ resource }) => resource)
      .sort();

  async function running<T>(
    flags: Readonly<Record<string, unknown>>,
    work: (gateway: RunningGateway) => Promise<T>,
  ): Promise<T> {
    const gateway = await runGateway({ name: 'test', kubeconfig }, flags);
    try {
      return await work(gateway);
    } finally {
      await gateway.close();
    }
  }

  /** How many requests the authorizer has not allowed: RBAC has no opinion then. Null where the server does not count them. */
  const denied = async (): Promise<number | null> => {
    const admin = await clientOf(plane.kubeconfigPath);
    const text = await admin.text('/metrics').finally(() => admin.connection.close());
    const [, count] = /^authorization_attempts_total\{result="no-opinion"\} (\S+)$/m.exec(text) ?? [];
    return count === undefined ? null : Number(count);
  };

  const codeFor = async (gateway: RunningGateway, token: string): Promise<unknown> => {
    const answer = await fetch(gateway.url, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ query: '{ namespaces { totalCount } }' }),
    });
    const { errors } = (await answer.json()) as { errors?: readonly { extensions?: { code?: string } }[] };
    return errors?.[0]?.extensions?.code ?? 'OK';
  };

  const reads = (group: string) => (rule: Rule) => rule.verbs.includes('watch') && rule.apiGroups?.[0] === group;

  test('without roles, the account reads nothing', async () => {
    await expect(withAccount((client) => discover(client))).rejects.toThrow('forbidden');
  });

  test('the roles of all kinds let everything sync, and name no other kind', async () => {
    const manifests = await apply(await printed({ auth: ['token'] }));
    expect(manifests.map(({ kind, metadata: { name } }) => `${kind} ${name}`)).toEqual([
      'ClusterRole portolan',
      'ClusterRoleBinding portolan',
    ]);
    const rules = manifests.flatMap(({ rules: own = [] }) => own);
    expect(JSON.stringify(rules.map(({ apiGroups, resources, verbs }) => [apiGroups, resources, verbs]))).not.toContain(
      '"*"',
    );
    const before = await denied();
    if (server === mainServer) expect(before).toBeGreaterThan(0);
    const kinds = rules.filter(({ verbs }) => verbs[0] === 'list').flatMap(({ resources = [] }) => resources);
    await running({ auth: ['token'] }, async (gateway) => {
      expect(refused(gateway)).toEqual([]);
      expect(gateway.progress().resourcesTotal).toBe(kinds.length);
      expect(gateway.progress().resourcesSynced).toBe(kinds.length);
      expect(await codeFor(gateway, plane.token)).toBe('OK');
      // A changed definition causes another round of discovery; the watches stay open meanwhile.
      await plane.kubectl(['annotate', 'crd', 'gadgets.two.portolan.example', 'round=again']);
      await new Promise((resolve) => setTimeout(resolve, 4000));
      expect(refused(gateway)).toEqual([]);
    });
    expect(await denied()).toBe(before);
    await withAccount(async (client) => {
      expect(await clusterUid(client)).not.toBeNull();
      await expect(client.get('/api/v1/namespaces/gateway')).rejects.toThrow('forbidden');
      await expect(client.get('/metrics')).rejects.toThrow('forbidden');
    });
  });

  test('without the rule of a group, its kinds are refused', async () => {
    await apply(without(await printed({}), reads('apps')));
    const kinds = ['controllerrevisions', 'daemonsets', 'deployments', 'replicasets', 'statefulsets'];
    await running({}, async (gateway) => {
      expect(refused(gateway)).toEqual(kinds.map((plural) => `${plural}.apps`));
    });
  });

  test('without watch, kinds are refused', async () => {
    const text = (await printed({ kinds: ['configmaps', 'deployments'] })).replaceAll('[list, watch]', '[list]');
    await apply(text);
    await running({ kinds: ['configmaps', 'deployments'] }, async (gateway) => {
      await eventually(() => expect(refused(gateway)).toEqual(['configmaps', 'deployments.apps']), 60_000);
    });
  });

  test('without the rules beside the kinds, what they are for fails', async () => {
    const flags = { kinds: ['namespaces', 'gadgets'], auth: ['token'], authorizationMode: 'rbac' };
    const text = await printed(flags);
    const definitions = async (client: RestClient, names: readonly string[]): Promise<number> => {
      let found = 0;
      await readCrds(client, names, () => (found += 1));
      return found;
    };
    const gadgets = ['gadgets.two.portolan.example'];
    const many = [...gadgets, ...Array.from({ length: 10 }, (_, index) => `x${index}.two.portolan.example`)];
    await apply(text);
    expect(await withAccount((client) => definitions(client, gadgets))).toBe(1);
    expect(await withAccount((client) => definitions(client, many))).toBe(1);
    const isOf = (resource: string) => (rule: Rule) =>
      rule.resources?.join() === resource && !rule.verbs.includes('watch');
    await apply(without(text, isOf('customresourcedefinitions')));
    expect(await withAccount((client) => definitions(client, gadgets))).toBe(0);
    expect(await withAccount((client) => definitions(client, many))).toBe(0);
    await apply(without(text, isOf('namespaces')));
    expect(await withAccount(clusterUid)).toBeNull();
    await apply(without(text, isOf('tokenreviews')));
    await running(flags, async (gateway) => {
      expect(refused(gateway)).toEqual([]);
      expect(await codeFor(gateway, plane.token)).toBe('UPSTREAM_UNAVAILABLE');
    });
    await apply(without(text, reads('rbac.authorization.k8s.io')));
    await running(flags, async (gateway) => {
      expect(refused(gateway)).toHaveLength(4);
      expect(await codeFor(gateway, plane.token)).toBe('UPSTREAM_UNAVAILABLE');
    });
    await apply(without(text, ({ nonResourceURLs }) => nonResourceURLs !== undefined));
    await eventually(() => expect(withAccount((client) => discover(client))).rejects.toThrow('forbidden'));
  });

  test('without the reviews of rights, callers see nothing by them', async () => {
    const flags = { kinds: ['namespaces'], auth: ['token'], authorizationMode: 'review' };
    const text = await printed(flags);
    expect(text).not.toContain('rolebindings');
    await apply(text);
    await running(flags, async (gateway) => expect(await codeFor(gateway, plane.token)).toBe('OK'));
    await apply(without(text, ({ resources }) => resources?.join() === 'subjectaccessreviews'));
    await running(flags, async (gateway) => expect(await codeFor(gateway, plane.token)).toBe('FORBIDDEN'));
  });

  test('with --namespaces, a role in each of them is enough', async () => {
    const flags = { namespaces: ['team-a', 'team-b'], auth: ['token'] };
    const manifests = await apply(await printed(flags));
    expect(manifests.map(({ kind, metadata: { namespace } }) => `${kind} ${namespace ?? ''}`)).toEqual([
      'ClusterRole ',
      'ClusterRoleBinding ',
      'Role team-a',
      'RoleBinding team-a',
      'Role team-b',
      'RoleBinding team-b',
    ]);
    await running(flags, async (gateway) => {
      expect(refused(gateway)).toEqual([]);
      expect(await codeFor(gateway, plane.token)).toBe('OK');
    });
    await withAccount(async (client) => {
      await client.get('/api/v1/namespaces/team-a/secrets');
      await expect(client.get('/api/v1/namespaces/gateway/secrets')).rejects.toThrow('forbidden');
    });
  });

  test('with --wildcards, kinds of later definitions are covered', async () => {
    const text = await printed({ wildcards: true });
    expect(text.match(/"\*"/g)).toHaveLength(2);
    await apply(text);
    await running({}, async (gateway) => {
      expect(refused(gateway)).toEqual([]);
    });
    await withAccount((client) => client.get('/apis/two.portolan.example/v1/gadgets'));
    await apply(await printed({ kinds: ['pods'] }));
    await expect(withAccount((client) => client.get('/apis/two.portolan.example/v1/gadgets'))).rejects.toThrow(
      'forbidden',
    );
  });

  test('with --cluster-secrets, the account may list the Secrets that register clusters', async () => {
    const flags = { kinds: ['configmaps'], clusterSecrets: 'gateway' };
    await plane.kubectl([
      'create',
      'secret',
      'generic',
      'copy',
      '-n',
      'gateway',
      `--from-file=kubeconfig=${plane.kubeconfigPath}`,
    ]);
    await plane.kubectl(['label', 'secret', 'copy', '-n', 'gateway', 'portolan.dev/secret-type=cluster']);
    const clusters = async ({ url }: RunningGateway): Promise<readonly string[]> => {
      const found = await data<{ clusters: readonly { name: string; reachable: boolean }[] }>(
        url,
        '{ clusters { name reachable } }',
      );
      return found.clusters.filter(({ reachable }) => reachable).map(({ name }) => name);
    };
    const text = await printed(flags);
    await apply(text);
    await running(flags, async (gateway) => {
      await eventually(async () => expect(await clusters(gateway)).toEqual(['copy', 'test']));
      await plane.kubectl(['delete', 'secret', 'copy', '-n', 'gateway']);
      await eventually(async () => expect(await clusters(gateway)).toEqual(['test']));
    });
    await withAccount(async (client) => {
      await expect(client.get('/api/v1/namespaces/gateway/secrets/copy')).rejects.toThrow('forbidden');
      await expect(client.get('/api/v1/namespaces/team-a/secrets')).rejects.toThrow('forbidden');
    });
    await plane.kubectl(['delete', 'role', 'portolan-clusters', '-n', 'gateway']);
    await eventually(() =>
      expect(withAccount((client) => client.get('/api/v1/namespaces/gateway/secrets'))).rejects.toThrow('forbidden'),
    );
  });

  test('with --impersonate classic, the account may impersonate callers', async () => {
    const sent = async (name: string): Promise<unknown> => {
      const clients = new CallerClients([await connect({ kubeconfig, env: {}, name: 'test' })]);
      const user = { name, groups: ['devs', 'system:authenticated'] };
      return clients
        .client('test', { type: 'impersonation', user })
        .get('/api/v1/pods')
        .catch((error: unknown) => String(error))
        .finally(() => clients.close());
    };
    await apply(await printed({ auth: ['proxy'], impersonate: 'classic' }));
    expect(await sent('kim')).toContain('"kim" cannot list');
    expect(await sent('system:serviceaccount:team-a:robot')).toContain('team-a:robot" cannot list');
    await apply(await printed({ auth: ['token'] }));
    await eventually(async () => expect(await sent('kim')).toContain('cannot impersonate'));
  });

  const asked = async (question: Partial<Question>, path = plane.kubeconfigPath, json = false) => {
    let text = '';
    const config = loadConfig({ flags: { kubeconfig: path, json }, environment: {} });
    const whole = {
      as: 'alice',
      groups: [],
      uid: '',
      extra: [],
      verb: 'get',
      target: 'pods',
      name: '',
      namespace: '',
      check: true,
    };
    const code = await can(config, { ...whole, ...question }, { write: (part) => (text += part) });
    return { code, text };
  };

  test('can decides as the API server does, and names what allows it', async () => {
    await plane.kubectl(['create', 'rolebinding', 'viewers', '-n', 'team-a', '--clusterrole=view', '--group=devs']);
    await plane.kubectl([
      ...['create', 'rolebinding', 'robots', '-n', 'team-b', '--clusterrole=edit'],
      '--serviceaccount=team-a:robot',
    ]);
    const inA = await asked({ groups: ['devs'], target: 'po', verb: 'list', namespace: 'team-a' });
    expect(inA.code).toBe(0);
    expect(inA.text).toMatch(/^yes\nRoleBinding team-a\/viewers gives Group devs the ClusterRole view, which allows/);
    expect(inA.text).toContain('The API server decides the same');
    const everywhere = await asked({ groups: ['devs'], target: 'Pod', verb: 'list' });
    expect(everywhere).toMatchObject({ code: 1, text: expect.stringContaining('It is allowed in team-a.') });
    const robot = { as: 'system:serviceaccount:team-a:robot', verb: 'update', target: 'deployments.apps/scale' };
    const scaled = await asked({ ...robot, namespace: 'team-b', name: 'web' });
    expect(scaled).toMatchObject({ code: 0, text: expect.stringContaining('ServiceAccount team-a/robot') });
    const own = await asked({ groups: ['devs'], target: 'namespaces', name: 'team-a' });
    expect(own.code).toBe(0);
    expect((await asked({ target: '/metrics' })).code).toBe(1);
    expect((await asked({ target: '/healthz', groups: ['system:monitoring'] })).code).toBe(0);
    expect((await asked({ verb: 'delete', target: 'nodes', groups: ['system:masters'] })).code).toBe(0);
  });

  test('can names the rights that its own account lacks', async () => {
    await apply(await printed({ kinds: ['pods'] }));
    const answer = asked({ namespace: 'team-a' }, kubeconfig);
    await expect(answer).rejects.toThrow(
      'grant it list on clusterrolebindings.rbac.authorization.k8s.io, clusterroles.rbac.authorization.k8s.io, rolebindings.rbac.authorization.k8s.io, roles.rbac.authorization.k8s.io, of roles and rolebindings in the namespace team-a.',
    );
    await apply(await printed({ kinds: ['pods'], auth: ['token'], authorizationMode: 'rbac' }));
    await expect(asked({ namespace: 'team-a' }, kubeconfig)).rejects.toThrow('create on subjectaccessreviews');
    expect((await asked({ check: false }, kubeconfig)).code).toBe(1);
  });

  test('can says that another authorizer decides otherwise', async () => {
    const question = { as: 'system:node:n1', groups: ['system:nodes'], target: 'nodes', name: 'n1' };
    expect((await asked(question)).code).toBe(1);
    await plane.killApiServer('SIGKILL');
    await plane.startApiServer({ authorizationMode: 'Node,RBAC' });
    const answer = await asked(question);
    expect(answer).toMatchObject({ code: 2, text: expect.stringContaining('The API server decides otherwise: yes') });
    const { review, allowed } = JSON.parse((await asked(question, plane.kubeconfigPath, true)).text);
    expect([allowed, review.allowed]).toEqual([false, true]);
  });
});
