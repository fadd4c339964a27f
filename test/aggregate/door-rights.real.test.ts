/**
 * A door whose account has the roles that `portolan rbac --aggregate` prints, and nothing else. The audit log of the API server says which
 * of these rights it has used, and that none was missing.
 */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { type Clock, systemClock } from '../../src/base/clock.ts';
import { doctor } from '../../src/cli/doctor/doctor.ts';
import { type AggregatedPlane, startAggregatedPlane } from '../kit/aggregated-plane.ts';
import { auditEvents } from '../kit/audit-events.ts';
import type { ControlPlane } from '../kit/control-plane.ts';
import { eventually } from '../kit/eventually.ts';
import { runGateway } from '../kit/gateway.ts';
import { printedRoles } from '../kit/printed-roles.ts';
import { describeOn, mainServer } from '../kit/real-servers.ts';

const account = 'system:serviceaccount:portolan:portolan';
const tokens = { jane: 'token-jane', eve: 'token-eve' } as const;

/** The certificates are looked at often. */
const certificateClock: Clock = {
  ...systemClock,
  sleep: (ms, signal) => systemClock.sleep(Math.min(ms, 200), signal),
};

interface Rule {
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly verbs: readonly string[];
}

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly rules?: readonly Rule[];
}

const setOf = (text: string): string =>
  JSON.stringify({
    apiVersion: 'shadow.portolan.dev/v1alpha1',
    kind: 'ShadowResource',
    metadata: { name: 'task1', namespace: 'default' },
    spec: {
      flowList: [
        { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'banner' }, data: { text } },
        { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'pin' }, stringData: { pin: 'pin-4711' } },
      ],
    },
  });

const needs = ['kubectl', 'kube-controller-manager'] as const;
describeOn([mainServer], 'the rights of the door', { timeout: 120_000, needs }, (server) => {
  let aggregated: AggregatedPlane;
  let roles: readonly Manifest[];
  const as = (user: keyof typeof tokens, args: readonly string[], stdin?: string): Promise<string> =>
    aggregated.plane.kubectl([`--token=${tokens[user]}`, ...args], stdin);

  /** The account with its printed roles. Gives its kubeconfig. */
  async function prepareAccount(plane: ControlPlane, flags: Readonly<Record<string, unknown>>): Promise<string> {
    const text = await printedRoles({
      ...flags,
      kubeconfig: plane.kubeconfigPath,
      serviceAccount: 'portolan/portolan',
      aggregate: 'true',
      aggregateService: 'portolan/door',
    });
    roles = parseAllDocuments(text).map((document) => document.toJS() as Manifest);
    await plane.kubectl(['create', 'serviceaccount', 'portolan', '-n', 'portolan']);
    await plane.kubectl(['apply', '-f', '-'], text);
    const token = (await plane.kubectl(['create', 'token', 'portolan', '-n', 'portolan'])).trim();
    return plane.writeKubeconfig('portolan', { token });
  }

  beforeAll(async () => {
    const flags = { auth: 'token', impersonate: 'constrained', kinds: 'configmaps,secrets,shadowrecords' };
    aggregated = await startAggregatedPlane({
      server,
      controllerManager: true,
      makesCertificates: true,
      users: (['jane', 'eve'] as const).map((user) => ({ token: tokens[user], user, groups: [] })),
      auditRules: [{ level: 'Metadata', users: [account], omitStages: ['RequestReceived'] }, { level: 'None' }],
      flags,
      run: async (plane, given) => {
        const kubeconfig = await prepareAccount(plane, flags);
        const start = () => runGateway({ name: 'real', kubeconfig }, given, undefined, { certificateClock });
        // The authorizer learns of roles by watches, a moment later.
        return eventually(start);
      },
    });
    const bind = (user: string, role: string): Promise<string> =>
      aggregated.plane.kubectl(['create', 'rolebinding', user, `--clusterrole=${role}`, `--user=${user}`]);
    await bind('jane', 'edit');
    await bind('eve', 'view');
  }, 240_000);
  afterAll(() => aggregated?.stop(), 60_000);

  test('callers with the roles edit and view of Kubernetes write and see sets', async () => {
    await eventually(() => as('jane', ['auth', 'can-i', 'create', 'shadowresources']));
    await eventually(() => as('eve', ['auth', 'can-i', 'list', 'shadowresources']));
    await expect(as('eve', ['apply', '--server-side', '-f', '-'], setOf('hello'))).rejects.toThrow(/forbidden/);
    await as('jane', ['apply', '--server-side', '--dry-run=server', '-f', '-'], setOf('hello'));
    await eventually(() => as('jane', ['apply', '--server-side', '-f', '-'], setOf('hello')));
    const shown = JSON.parse(await as('jane', ['get', 'shadowresource', 'task1', '-o', 'json']));
    expect(shown.spec.flowList[1].data).toEqual({ pin: btoa('pin-4711') });
    const seen = await as('eve', ['get', 'shadowresource', 'task1', '-o', 'json']);
    expect(JSON.parse(seen).spec.flowList[0].data).toEqual({ text: 'hello' });
    expect(seen).not.toContain(btoa('pin-4711'));
    expect(await as('eve', ['wait', '--for=condition=Ready', 'shadowresource/task1'])).toContain('condition met');
  });

  test('portolan doctor misses no right of the account', async () => {
    let text = '';
    const { kubeconfigPath: kubeconfig } = aggregated.plane;
    await doctor(
      {
        ...{ kubeconfig, context: [], inCluster: false, aggregate: true, impersonate: 'constrained' },
        ...{
          aggregateGroup: 'shadow.portolan.dev',
          aggregateVersion: 'v1alpha1',
          serviceAccount: { namespace: 'portolan', name: 'portolan' },
          setKinds: [],
        },
      },
      { output: 'json' },
      { output: { write: (some: string) => (text += some) }, now: Date.now },
    );
    const { findings } = JSON.parse(text) as { findings: { check: string; verdict: string }[] };
    expect(findings.filter(({ check }) => check === 'account')).toMatchObject([{ verdict: 'ok' }]);
  });

  test('the door does everything with these rights, and has used each of them', async () => {
    await as('jane', ['apply', '--server-side', '-f', '-'], setOf('welcome'));
    await as('jane', ['label', 'shadowresource', 'task1', 'tier=front']);
    await as('jane', ['delete', 'shadowresource', 'task1']);
    expect(await as('jane', ['get', 'configmaps', 'banner', '--ignore-not-found'])).toBe('');
    // A Secret that is broken is written again.
    const secret = ['secret', 'door-certificates', '-n', 'portolan'];
    await aggregated.plane.kubectl(['patch', ...secret, '--type=merge', '-p', '{"data":{"ca.key":"eA=="}}']);
    await eventually(async () => {
      expect(await aggregated.plane.kubectl(['get', ...secret, '-o', 'jsonpath={.data.ca\\.key}'])).not.toBe('eA==');
    });
    const used = await eventually(() => {
      const found = auditedRights(join(aggregated.plane.dir, 'audit.log'));
      expect(found.has('update /secrets')).toBe(true);
      return found;
    });
    const ofDoor = roles.filter(({ metadata }) => /-(sets|aggregator|certificates|impersonate)$/.test(metadata.name));
    expect(
      ofDoor.filter(({ rules }) => rules !== undefined).map(({ kind, metadata }) => `${kind} ${metadata.name}`),
    ).toEqual([
      'ClusterRole portolan-impersonate',
      'ClusterRole portolan-sets',
      'Role portolan-aggregator',
      'Role portolan-certificates',
      'ClusterRole portolan-certificates',
    ]);
    // Nobody here is a service account, and a name of a user says it all.
    const printed = ofDoor.flatMap(({ rules = [] }) => rules).flatMap(rightsOf);
    const unused = printed.filter((right) => !used.has(right) && !/serviceaccount|paths|impersonate:/.test(right));
    expect(unused).toEqual([]);
  });
});

/** `verb group/resource`, one for each. */
function rightsOf({ apiGroups = [], resources = ['paths'], verbs }: Rule): readonly string[] {
  return verbs.flatMap((verb) =>
    (apiGroups.length === 0 ? [''] : apiGroups).flatMap((group) =>
      resources.map((resource) => `${verb} ${group}/${resource}`),
    ),
  );
}

/** The rights that the account has used. Fails for a request that was refused for a right, once the door has started. */
function auditedRights(file: string): ReadonlySet<string> {
  const entries = auditEvents(file).filter(({ user }) => user.username === account);
  const own = entries.filter(({ impersonatedUser }) => impersonatedUser === undefined);
  const start = own.findIndex(({ objectRef, verb }) => verb === 'create' && objectRef?.resource === 'secrets');
  expect(own.slice(start).filter(({ responseStatus }) => responseStatus?.code === 403)).toEqual([]);
  return new Set(
    entries.map(({ verb, objectRef, impersonatedUser }) => {
      const acted = impersonatedUser === undefined ? verb : `impersonate-on:user-info:${verb}`;
      return `${acted} ${objectRef?.apiGroup ?? ''}/${objectRef?.resource ?? 'paths'}`;
    }),
  );
}
