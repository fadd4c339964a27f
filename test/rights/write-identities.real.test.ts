/**
 * As whom writes reach a real API server: its audit log names the user of each request. The gateway's own account has what `portolan rbac`
 * prints, so a write with its own rights is refused.
 *
 *   five users and a service account  x  by token, by constrained and by classic impersonation
 */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { Credentials } from '../../src/access/caller.ts';
import { type AccessControlOptions, openAccessControl } from '../../src/auth/access-control.ts';
import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/log.ts';
import { must } from '../../src/base/must.ts';
import { openWriting } from '../../src/cli/writes/writing.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { connect } from '../../src/kube/client/connection.ts';
import { RestClient } from '../../src/kube/client/rest-client.ts';
import type { WriteAccess } from '../../src/operation/write-access.ts';
import { openCallerClients } from '../../src/upstream/caller-clients.ts';
import { auditedBy } from '../kit/audit-events.ts';
import { type ControlPlane, startControlPlane } from '../kit/control-plane.ts';
import { engineFixture } from '../kit/engine-fixture.ts';
import { eventually } from '../kit/eventually.ts';
import { printedRoles } from '../kit/printed-roles.ts';
import { describeOn, mainServer, oldServer } from '../kit/real-servers.ts';
import { isSince } from '../kit/server-version.ts';
import { type AuditedRequest, auditedRequests, robot, writingUsers } from '../kit/writing-users.ts';

/** Without rights is the last one, mallory. */
const users = writingUsers;
const account = 'system:serviceaccount:gateway:portolan';
const configMaps = '/api/v1/namespaces/shop/configmaps';

const policy = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [{ level: 'Metadata', resources: [{ group: '', resources: ['configmaps'] }] }, { level: 'None' }],
};

const role = (name: string, resources: readonly string[], verbs: readonly string[]): object => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: { name },
  rules: [{ apiGroups: [''], resources, verbs }],
});

const binding = (name: string, subject: object): object => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'RoleBinding',
  metadata: { name, namespace: 'shop' },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'writer' },
  subjects: [subject],
});

const world = [
  ...['shop', 'gateway'].map((name) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })),
  { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'robot', namespace: 'shop' } },
  { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'portolan', namespace: 'gateway' } },
  role('writer', ['configmaps'], ['create', 'get']),
  binding('alice', { kind: 'User', name: 'alice', apiGroup: 'rbac.authorization.k8s.io' }),
  binding('devs', { kind: 'Group', name: 'devs', apiGroup: 'rbac.authorization.k8s.io' }),
  binding('team', { kind: 'Group', name: 'team a', apiGroup: 'rbac.authorization.k8s.io' }),
  binding('robots', {
    kind: 'Group',
    name: 'system:serviceaccounts:shop',
    apiGroup: 'rbac.authorization.k8s.io',
  }),
];

/** What a request carries. */
function credentials(headers: Readonly<Record<string, readonly string[]>>, certificate: boolean): Credentials {
  const own: Credentials = {
    header: (name) => headers[name]?.join(', '),
    headers: (name) => headers[name] ?? [],
    headerNames: (prefix) => Object.keys(headers).filter((name) => name.startsWith(prefix)),
  };
  const common = { commonName: 'front', organizations: [], uid: '', fingerprint: '00', validUntil: Date.now() + 3.6e6 };
  return certificate ? { ...own, certificate: { ...common, authority: 'proxy' } } : own;
}

const byToken = (token: string): Credentials => credentials({ authorization: [`Bearer ${token}`] }, false);

/** As a front proxy names a user: texts are UTF-8, which Node reads as Latin-1. */
function byProxy(user: string, groups: readonly string[], more: Readonly<Record<string, string>> = {}): Credentials {
  const bytes = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');
  const extra = Object.fromEntries(Object.entries(more).map(([name, value]) => [name, [value]]));
  return credentials({ 'x-remote-user': [bytes(user)], 'x-remote-group': groups.map(bytes), ...extra }, true);
}

describeOn([mainServer, oldServer], 'the identities of writes', { timeout: 120_000 }, (server) => {
  let plane: ControlPlane;
  let auditLog: string;
  /** A kubeconfig of the gateway's account. */
  let kubeconfig: string;
  let admin: RestClient;
  let hasConstrained: boolean;
  let made = 0;

  const tokenOf = async (namespace: string, name: string, audiences: readonly string[] = []): Promise<string> => {
    const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`;
    return (await admin.post<{ status: { token: string } }>(path, { spec: { audiences } })).status.token;
  };

  beforeAll(async () => {
    plane = await startControlPlane({
      server,
      users: users.map(({ user, groups }, index) => ({ token: `token-${index}`, user, groups })),
      apiServer: auditedBy(policy),
    });
    hasConstrained = isSince(plane.version, 1, 36);
    auditLog = join(plane.dir, 'audit.log');
    await plane.kubectl(['apply', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items: world }));
    admin = new RestClient(await connect({ kubeconfig: plane.kubeconfigPath, env: {}, name: 'east' }));
    kubeconfig = plane.writeKubeconfig('portolan', { token: await tokenOf('gateway', 'portolan') });
  }, 240_000);
  afterAll(async () => {
    await admin?.connection.close();
    await plane?.stop();
  }, 60_000);

  /** Applies the roles that `portolan rbac` prints for this mode, and no others. */
  async function grant(impersonate: string): Promise<void> {
    const text = await printedRoles({
      ...{ kubeconfig: plane.kubeconfigPath, serviceAccount: 'gateway/portolan' },
      ...{ auth: ['token', 'proxy'], kinds: ['namespaces'], impersonate },
    });
    await plane.kubectl(['delete', 'clusterrole,clusterrolebinding', 'portolan-impersonate', '--ignore-not-found']);
    await plane.kubectl(['apply', '-f', '-'], text);
  }

  /** What a gateway with these options has for mutations. It is closed with the test. */
  async function writing(
    impersonate: AccessControlOptions['impersonate'],
    audiences: readonly string[] = [],
  ): Promise<WriteAccess> {
    const cluster = { name: 'east', kubeconfig };
    const access = await openAccessControl({
      ...{ mode: 'review', accepts: ['token', 'proxy'], clusters: new Map([['east', cluster]]), served: 1 },
      ...{ audiences, impersonate, proxyNames: [], reader: engineFixture().reader, clock: systemClock },
      ...{ log: silentLogger, changed: () => {} },
    });
    onTestFinished(() => access.close());
    const clients = await openCallerClients([cluster]);
    onTestFinished(() => clients.close());
    const config = loadConfig({ flags: {}, environment: {} });
    const unused = { longManifests: { read: async () => [] }, meter: { sends: () => () => {} } };
    const parts = {
      access,
      isDemo: false,
      clients: async () => clients,
      charge: () => {},
      audit: null,
      ...unused,
      version: '1.0.0',
    };
    return must(openWriting(config, parts), 'a gateway that may write').access;
  }

  /** Creates a ConfigMap. Its name, or the code of the refusal. */
  async function create(writes: WriteAccess, given: Credentials): Promise<string> {
    made += 1;
    const name = `made-${made}`;
    try {
      const client = await writes.client('east', given);
      await client.post(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });
      return name;
    } catch (error) {
      return (error as { readonly code?: string }).code ?? String(error);
    }
  }

  const audited = (): readonly AuditedRequest[] =>
    auditedRequests(auditLog).filter(({ user }) => user.username !== 'admin');

  /** `who created it`, as the audit log of the API server says; it is written a moment later. */
  async function creatorOf(name: string): Promise<string> {
    return eventually(() => {
      const entry = must(
        audited().find(({ verb, objectRef, responseStatus }) => {
          return verb === 'create' && objectRef.name === name && responseStatus.code === 201;
        }),
        `an entry of ${name}`,
      );
      const { user, impersonatedUser: as } = entry;
      return as === undefined ? user.username : `${user.username} as ${as.username}`;
    });
  }

  /** Each request with the credentials of the gateway names a caller. One whose impersonation was refused is logged without the name. */
  function expectNothingAsGateway(): void {
    const own = audited().filter(({ user, impersonatedUser, responseStatus: { message = '' } }) => {
      return user.username === account && impersonatedUser === undefined && !/ cannot impersonate/.test(message);
    });
    expect(own).toEqual([]);
  }

  test('a token is sent as it is', async () => {
    await grant('off');
    const writes = await writing('off');
    for (const [index, { user }] of users.slice(0, 4).entries()) {
      expect(await creatorOf(await create(writes, byToken(`token-${index}`)))).toBe(user);
    }
    expect(await create(writes, byToken('token-4'))).toBe('FORBIDDEN');
    expect(await creatorOf(await create(writes, byToken(await tokenOf('shop', 'robot'))))).toBe(robot);
    expect(await create(writes, byProxy('alice', []))).toBe('FORBIDDEN');
    expect(await create(writes, byToken('unknown'))).toBe('UNAUTHENTICATED');
    expectNothingAsGateway();
  });

  test.each(['constrained', 'classic'] as const)('%s impersonation names the caller', async (mode) => {
    await grant(mode);
    const writes = await writing(mode);
    if (mode === 'constrained' && !hasConstrained) {
      expect(await create(writes, byProxy('alice', []))).toBe('FORBIDDEN');
      return;
    }
    // The authorizer learns of the roles a moment later.
    await eventually(async () => expect(await create(writes, byProxy('alice', []))).toMatch(/^made-/));
    for (const { user, groups } of users.slice(0, 4)) {
      const name = await create(writes, byProxy(user, groups));
      expect(await creatorOf(name)).toBe(`${account} as ${user}`);
      const entry = audited().find(({ objectRef }) => objectRef.name === name);
      expect(entry?.impersonatedUser?.groups?.toSorted()).toEqual([...groups, 'system:authenticated'].toSorted());
    }
    expect(await create(writes, byProxy('mallory', ['guests']))).toBe('FORBIDDEN');
    expect(await creatorOf(await create(writes, byProxy(robot, [])))).toBe(`${account} as ${robot}`);
    expect(await create(writes, byProxy('root', ['system:masters']))).toBe('FORBIDDEN');
    expect(await create(writes, byProxy('system:kube-controller-manager', []))).toBe('FORBIDDEN');
    expectNothingAsGateway();
  });

  test('a uid and extra are carried, or the write is refused', async () => {
    const more = { 'x-remote-uid': '42', 'x-remote-extra-example.com%2fscopes': 'write' };
    const mode = hasConstrained ? 'constrained' : 'classic';
    await grant(mode);
    const writes = await writing(mode);
    const name = await create(writes, byProxy('alice', [], more));
    if (!hasConstrained) {
      expect(name).toBe('FORBIDDEN');
      return;
    }
    expect(await creatorOf(name)).toBe(`${account} as alice`);
    const entry = audited().find(({ objectRef }) => objectRef.name === name);
    expect(entry?.impersonatedUser).toMatchObject({ uid: '42', extra: { 'example.com/scopes': ['write'] } });
    expect(await create(writes, byProxy(robot, [], more))).toBe('FORBIDDEN');
    expectNothingAsGateway();
  });

  test('a token of another audience is not sent; its caller is impersonated if that is allowed', async () => {
    const own = 'https://kubernetes.default.svc';
    await grant('classic');
    const other = byToken(await tokenOf('shop', 'robot', ['portolan']));
    const both = byToken(await tokenOf('shop', 'robot', ['portolan', own]));
    const off = await writing('off', ['portolan']);
    expect(await create(off, other)).toBe('FORBIDDEN');
    expect(await creatorOf(await create(off, both))).toBe(robot);
    const classic = await writing('classic', ['portolan']);
    const name = await create(classic, other);
    // It has a uid, which old servers do not read in an impersonation.
    if (hasConstrained) expect(await creatorOf(name)).toBe(`${account} as ${robot}`);
    else expect(name).toBe('FORBIDDEN');
    expect(await create(await writing('constrained', ['portolan']), other)).toBe('FORBIDDEN');
    expectNothingAsGateway();
  });

  test('constrained impersonation does what the role lists, and no more', async () => {
    if (!hasConstrained) return;
    await grant('constrained');
    const writes = await writing('constrained');
    await eventually(async () => expect(await create(writes, byProxy('bob', ['devs']))).toMatch(/^made-/));
    const path = '/apis/rbac.authorization.k8s.io/v1/clusterroles/portolan-impersonate';
    const { rules } = await admin.get<{ rules: { verbs: string[]; resources?: string[] }[] }>(path);
    const narrowed = rules
      .map((rule) => ({
        ...rule,
        verbs: rule.verbs.filter((verb) => !verb.startsWith('impersonate-on:') || verb.endsWith(':get')),
      }))
      // A rule without verbs is none.
      .filter(({ verbs }) => verbs.length > 0);
    await admin.patch(path, 'merge', { rules: narrowed });
    await eventually(async () => expect(await create(writes, byProxy('bob', ['devs']))).toBe('FORBIDDEN'));
    const client = await writes.client('east', byProxy('bob', ['devs']));
    expect(await client.get(`${configMaps}/made-1`)).toMatchObject({ kind: 'ConfigMap' });
    expectNothingAsGateway();
  });
});
