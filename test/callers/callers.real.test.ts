/**
 * Callers of a gateway over real API servers see what the API server lets them read: users with tokens, and a service account with the
 * token of `kubectl create token`.
 */
import { Agent, fetch } from 'undici';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type AskAs,
  compareCallers,
  prepareCallerWorld,
  type TokenCaller,
  tokenCallers,
} from '../kit/caller-differential.ts';
import { type ControlPlane, startControlPlane } from '../kit/control-plane.ts';
import { eventually } from '../kit/eventually.ts';
import { type RunningGateway, runGateway } from '../kit/gateway.ts';
import { randomRuns } from '../kit/random-runs.ts';
import { describeOn, mainServer, oldServer } from '../kit/real-servers.ts';

interface Listed {
  readonly items: readonly { readonly metadata: { readonly namespace?: string; readonly name: string } }[];
}

const rounds = Number(process.env['PORTOLAN_CALLER_ROUNDS'] ?? randomRuns(1, 3));

describeOn([mainServer, oldServer], 'callers of a real cluster', { timeout: 600_000 }, (server) => {
  let plane: ControlPlane;
  let gateway: RunningGateway;
  let agent: Agent;
  let robot: TokenCaller;

  const ask: AskAs = async (token, method, path, body) => {
    const answer = await fetch(`${plane.server}${path}`, {
      method,
      dispatcher: agent,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (answer.status >= 500) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return { status: answer.status, body: JSON.parse(text) };
  };

  beforeAll(async () => {
    plane = await startControlPlane({ server, controllerManager: true, users: tokenCallers });
    agent = new Agent({ connect: { ca: plane.caPem() } });
    await prepareCallerWorld(ask, plane.token);
    await plane.kubectl(['create', 'serviceaccount', 'robot', '--namespace', 'rbac-a']);
    robot = {
      token: await tokenOfRobot(),
      user: 'system:serviceaccount:rbac-a:robot',
      groups: ['system:serviceaccounts', 'system:serviceaccounts:rbac-a'],
    };
    gateway = await runGateway({ name: 'east', kubeconfig: plane.kubeconfigPath }, { auth: ['token'] });
  }, 240_000);
  afterAll(async () => {
    await gateway?.close();
    await agent?.close();
    await plane?.stop();
  }, 60_000);

  /** `kubectl create token` asks for it in the same way; kubectl 1.20 does not have that command. */
  async function tokenOfRobot(): Promise<string> {
    const path = '/api/v1/namespaces/rbac-a/serviceaccounts/robot/token';
    const { body } = await ask(plane.token, 'POST', path, { spec: { audiences: [] } });
    return (body as { readonly status: { readonly token: string } }).status.token;
  }

  test('alice of the group devs sees of every kind what kubectl shows her', async () => {
    const [alice] = tokenCallers;
    if (alice === undefined) throw new Error('alice is a caller');
    const rbac = 'rbac.authorization.k8s.io';
    const bind = (namespace: string, role: string) =>
      ask(plane.token, 'POST', `/apis/${rbac}/v1/namespaces/${namespace}/rolebindings`, {
        metadata: { name: `alice-${role}` },
        roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: role },
        subjects: [{ apiGroup: rbac, kind: 'User', name: alice.user }],
      });
    await bind('rbac-a', 'view');
    await bind('rbac-b', 'edit');
    await ask(plane.token, 'POST', `/apis/${rbac}/v1/clusterroles`, {
      metadata: { name: 'kinds-of-devs' },
      rules: [
        {
          verbs: ['get', 'list', 'watch'],
          apiGroups: ['', rbac, 'apiregistration.k8s.io'],
          resources: ['nodes', 'clusterroles', 'apiservices'],
        },
      ],
    });
    await ask(plane.token, 'POST', `/apis/${rbac}/v1/clusterrolebindings`, {
      metadata: { name: 'devs' },
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'kinds-of-devs' },
      subjects: [{ apiGroup: rbac, kind: 'Group', name: 'devs' }],
    });
    const { body: spaces } = await ask(plane.token, 'GET', '/api/v1/namespaces');
    const namespaces = (spaces as Listed).items.map(({ metadata }) => metadata.name);
    const listed = async (path: string): Promise<string[] | null> => {
      const { status, body } = await ask(alice.token, 'GET', path);
      if (status !== 200) return null;
      return (body as Listed).items.map(({ metadata: { namespace = '', name } }) => `${namespace}/${name}`);
    };
    const post = async (token: string, query: string) => {
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
      return (await globalThis.fetch(gateway.url, { method: 'POST', headers, body: JSON.stringify({ query }) })).json();
    };
    const { data } = (await post(plane.token, '{ resources { key group version plural namespaced } }')) as {
      data: { resources: { key: string; group: string; version: string; plural: string; namespaced: boolean }[] };
    };
    const kinds = data.resources.filter(({ key }) => key !== 'events' && key !== 'events.events.k8s.io');
    let shown = 0;
    for (const { key, group, version, plural, namespaced } of kinds) {
      const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
      const whole = await listed(`${root}/${plural}`);
      const parts = await Promise.all(
        whole !== null || !namespaced ? [] : namespaces.map((name) => listed(`${root}/namespaces/${name}/${plural}`)),
      );
      const expected = new Set(whole ?? parts.flatMap((part) => part ?? []));
      // kubectl get namespace NAME
      if (key === 'namespaces') {
        for (const name of namespaces) {
          if ((await ask(alice.token, 'GET', `/api/v1/namespaces/${name}`)).status === 200) expected.add(`/${name}`);
        }
      }
      shown += expected.size > 0 ? 1 : 0;
      await eventually(async () => {
        const answer = (await post(
          alice.token,
          `{ objects(kinds: ["${key}"], first: 500) { nodes { metadata { namespace name } } } }`,
        )) as { data: { objects: { nodes: { metadata: { namespace: string | null; name: string } }[] } | null } };
        const found = answer.data.objects?.nodes.map(({ metadata }) => `${metadata.namespace ?? ''}/${metadata.name}`);
        expect([key, (found ?? []).sort()]).toEqual([key, [...expected].sort()]);
      }, 20_000);
    }
    process.stdout.write(`${JSON.stringify({ server: server.name, kinds: kinds.length, shown })}\n`);
    expect(shown).toBeGreaterThan(5);
  });

  test('see what the API server lets them read', async () => {
    const callers = [...tokenCallers, robot];
    const world = { ask, admin: plane.token, gateway: gateway.url, callers };
    const { compared, partial, mismatches } = await compareCallers(world, rounds, 1712);
    process.stdout.write(
      `${JSON.stringify({ server: server.name, compared, partial, mismatches: mismatches.length })}\n`,
    );
    expect(mismatches).toEqual([]);
    expect(partial).toBeGreaterThan(compared / 20);
  });
});
