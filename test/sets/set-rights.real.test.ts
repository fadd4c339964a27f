/** Sets as callers with few rights: refused as a whole, nothing told of what they may not get. And kubectl's ApplySet reads the record. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { must } from '../../src/base/must.ts';
import { shadowRecordCrdText } from '../../src/sets/record/shadow-record-crd.ts';
import { type ControlPlane, startControlPlane } from '../kit/control-plane.ts';
import { eventually } from '../kit/eventually.ts';
import { type RunningGateway, runGateway } from '../kit/gateway.ts';
import { ask } from '../kit/graphql-client.ts';
import { manifestList } from '../kit/manifests.ts';
import { describeOn, mainServer } from '../kit/real-servers.ts';
import { seededRandom } from '../kit/seeded-random.ts';
import { configMap, send, type Written } from '../kit/writes-suite.ts';

const namespace = 'shop';
const set = { namespace, name: 'web' };
const pin = 'pin-4711';
const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's', namespace }, stringData: { pin } };

/** alice writes all of the set; bob all but Secrets; carol reads records and ConfigMaps. */
const rights = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: sets }
rules: [{ apiGroups: [portolan.dev], resources: [shadowrecords], verbs: ['*'] }, { apiGroups: [''], resources: [configmaps], verbs: ['*'] }]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: secrets }
rules: [{ apiGroups: [''], resources: [secrets, services], verbs: ['*'] }]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: readers }
rules: [{ apiGroups: [portolan.dev, ''], resources: [shadowrecords, configmaps], verbs: [get, list, watch] }]
`;

const kinds = ['shadowrecords', 'configmaps', 'services', 'secrets'] as const;
type VerbsByKind = Readonly<Record<(typeof kinds)[number], readonly string[]>>;
interface RandomUser {
  readonly user: string;
  readonly verbs: VerbsByKind;
}

const random = seededRandom(Number(process.env['PORTOLAN_SEED'] ?? 1));
const one = <T>(values: readonly T[]): T => must(values[Math.floor(random() * values.length)], 'a value');
const reads = ['get', 'list', 'watch'];
/** Every verb, none, reads, and parts of them. */
const choices = [
  ['*'],
  ['*'],
  [],
  ['get'],
  ['list'],
  reads,
  ['get', 'patch'],
  ['patch', 'create', 'delete'],
  ['list', 'patch'],
];
const randomUsers: readonly RandomUser[] = Array.from({ length: 40 }, (_, index) => ({
  user: `random-${index}`,
  verbs: {
    shadowrecords: one([['*'], ['*'], reads, ['get', 'patch']]),
    configmaps: one(choices),
    services: one(choices),
    secrets: one(choices),
  },
}));

function rolesOf({ user, verbs }: RandomUser): readonly object[] {
  const rules = kinds
    .filter((kind) => verbs[kind].length > 0)
    .map((kind) => ({
      apiGroups: [kind === 'shadowrecords' ? 'portolan.dev' : ''],
      resources: [kind],
      verbs: verbs[kind],
    }));
  const metadata = { name: user, namespace };
  const rbac = { apiVersion: 'rbac.authorization.k8s.io/v1' };
  return [
    { ...rbac, kind: 'Role', metadata, rules },
    {
      ...{ ...rbac, kind: 'RoleBinding', metadata },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: user },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
    },
  ];
}

describeOn([mainServer], 'the rights on sets', { timeout: 120_000, needs: ['kubectl'] }, (server) => {
  let plane: ControlPlane;
  let gateway: RunningGateway;

  beforeAll(async () => {
    const users = ['alice', 'bob', 'carol', ...randomUsers.map(({ user }) => user)];
    plane = await startControlPlane({
      server,
      users: users.map((user) => ({ token: `token-of-${user}`, user, groups: [] })),
    });
    await plane.kubectl(['apply', '-f', '-'], shadowRecordCrdText());
    await plane.kubectl(['create', 'namespace', namespace]);
    await plane.kubectl(['apply', '-f', '-'], rights);
    await plane.kubectl(['apply', '-f', '-'], manifestList(randomUsers.flatMap(rolesOf)));
    const bind = (role: string, user: string) =>
      plane.kubectl([
        'create',
        'rolebinding',
        `${role}-${user}`,
        '-n',
        namespace,
        `--clusterrole=${role}`,
        `--user=${user}`,
      ]);
    await bind('sets', 'alice');
    await bind('secrets', 'alice');
    await bind('sets', 'bob');
    await bind('readers', 'carol');
    await plane.kubectl(['wait', '--for=condition=Established', 'crd', '--all', '--timeout=60s']);
    gateway = await runGateway(
      { name: 'east', kubeconfig: plane.kubeconfigPath },
      { auth: 'token', readOnly: 'false' },
    );
  }, 180_000);
  afterAll(async () => {
    await gateway?.close();
    await plane?.stop();
  }, 60_000);

  const as = (user: string) => ({ authorization: `Bearer token-of-${user}` });
  const told: string[] = [];
  const write = async (user: string, verb: string, args: Readonly<Record<string, unknown>>): Promise<Written> => {
    const answer = await send(gateway.url, verb, { set, ...args }, as(user));
    told.push(JSON.stringify(answer));
    if (answer.data?.[verb] == null) throw new Error(JSON.stringify(answer.errors));
    return answer.data[verb];
  };
  const results = ({ items }: Written) =>
    items.map(({ target, result, errors }) => [target.name, errors[0]?.code ?? result].join(' '));
  const docs = [{ json: configMap(namespace, 'a', { a: '1' }) }, { json: secret }];
  const configMaps = () => plane.kubectl(['get', 'configmaps', '-n', namespace, '-o', 'name']);

  test('a forbidden member refuses the whole before anything is written, and is named', async () => {
    const refused = await write('bob', 'applySet', { docs });
    expect(results(refused)).toEqual(['a SKIPPED', 's DENIED', 'web SKIPPED']);
    expect(refused.items[1]?.errors[0]).toMatchObject({ by: 'RBAC', message: expect.stringContaining('secrets') });
    expect(await configMaps()).not.toContain('configmap/a');
    expect(await plane.kubectl(['get', 'shadowrecords', '-A', '-o', 'name'])).toBe('');
    const unrecorded = await write('carol', 'applySet', { docs: docs.slice(0, 1) });
    expect(results(unrecorded)).toEqual(['a DENIED', 'web SKIPPED']);
    const elsewhere = {
      set: { namespace: 'kube-system', name: 'web' },
      docs: [{ json: configMap('kube-system', 'a', {}) }],
    };
    expect((await write('alice', 'applySet', elsewhere)).items.at(-1)?.errors[0]?.code).toBe('DENIED');
    expect(results(await write('alice', 'applySet', { docs }))).toEqual(['a CREATED', 's CREATED', 'web CREATED']);
    expect(results(await write('bob', 'deleteSet', {}))).toEqual(['a SKIPPED', 's DENIED', 'web SKIPPED']);
    expect(await configMaps()).toContain('configmap/a');
  });

  test('who may get the record but not the Secret is told its name alone', async () => {
    const document = `{ portolanDevShadowRecords { nodes { raw setHealth { status } members { name state manifest object { raw } } } }
      configMap(namespace: "${namespace}", name: "a") { memberOf { metadata { name } } } }`;
    const seenBy = async (user: string) => {
      const answer = await ask<Readonly<Record<string, unknown>>>(gateway.url, document, {}, as(user));
      told.push(JSON.stringify(answer));
      if (answer.errors !== undefined) throw new Error(JSON.stringify(answer.errors));
      return answer.data;
    };
    await eventually(async () =>
      expect(await seenBy('carol')).toMatchObject({
        portolanDevShadowRecords: {
          nodes: [
            {
              setHealth: { status: 'Current' },
              members: [
                { name: 'a', state: 'PRESENT', manifest: { data: { a: '1' } } },
                { name: 's', state: 'HIDDEN', manifest: null, object: null },
              ],
            },
          ],
        },
        configMap: { memberOf: [{ metadata: { name: 'web' } }] },
      }),
    );
    expect(await seenBy('alice')).toMatchObject({
      portolanDevShadowRecords: {
        nodes: [{ members: [{ state: 'PRESENT' }, { state: 'PRESENT', manifest: { kind: 'Secret' } }] }],
      },
    });
    await write('alice', 'applySet', { docs, options: { dryRun: true } });
    const record = await plane.kubectl(['get', 'shadowrecord', 'web', '-n', namespace, '-o', 'yaml']);
    for (const text of [...told, record]) {
      expect(text).not.toContain(pin);
      expect(text).not.toContain(Buffer.from(pin).toString('base64'));
    }
  });

  test('history and reversal tell each of 40 users with random rights what he may read, and write all or nothing', async () => {
    const past = { namespace, name: 'past' };
    const service = (note: string) => ({
      ...{ apiVersion: 'v1', kind: 'Service', metadata: { name: 'past', namespace, annotations: { note } } },
      spec: { ports: [{ port: 80 }] },
    });
    const members = (step: string) => [
      { json: configMap(namespace, 'past', { note: `map-${step}` }) },
      { json: service(`service-${step}`) },
      { json: { ...secret, metadata: { name: 'past', namespace }, stringData: { pin: `${pin}-${step}` } } },
    ];
    // The histories of the kinds begin at whole seconds.
    const begun = Math.ceil(Date.now() / 1000) * 1000 + 1000;
    await eventually(async () => expect(Date.now()).toBeGreaterThan(begun));
    const made = await write('alice', 'applySet', { set: past, docs: members('old') });
    expect(results(made)).toEqual(['past CREATED', 'past CREATED', 'past CREATED', 'past CREATED']);
    const to = new Date().toISOString();
    await eventually(async () => expect(Date.now()).toBeGreaterThan(Date.parse(to) + 1));
    const changed = await write('alice', 'applySet', { set: past, docs: members('new') });
    expect(results(changed)).toEqual(['past CHANGED', 'past CHANGED', 'past CHANGED', 'past CHANGED']);
    const all = () =>
      plane.kubectl(['get', 'configmap,service,secret,shadowrecord', 'past', '-n', namespace, '-o', 'json']);
    const before = await all();

    const history = `{ portolanDevShadowRecord(namespace: "${namespace}", name: "past") {
      setHistory(first: 100) { nodes { kind name changedPaths object { raw } before { raw } } } } }`;
    const counts = { told: 0, withheld: 0, denied: 0, forbidden: 0 };
    for (const { user, verbs } of randomUsers) {
      const what = `${user} ${JSON.stringify(verbs)}`;
      const texts = [JSON.stringify(await ask(gateway.url, history, {}, as(user)))];
      for (const options of [{ dryRun: true }, {}]) {
        const answer = await send(gateway.url, 'revertSet', { set: past, to, force: true, options }, as(user));
        texts.push(JSON.stringify(answer));
        const report = answer.data?.['revertSet'];
        if (report == null) {
          counts.forbidden += 1;
          expect(answer.errors?.[0]?.extensions?.['code'], what).toBe('FORBIDDEN');
          continue;
        }
        // The Secret has changed, and its former data are nowhere.
        expect(report.complete, what).toBe(false);
        const codes = report.items.flatMap(({ errors }) => errors.map(({ code }) => code));
        if (codes.includes('DATA_WITHHELD')) counts.withheld += 1;
        if (codes.includes('DENIED')) counts.denied += 1;
      }
      for (const text of texts) {
        expect(text, what).not.toContain(pin);
        expect(text, what).not.toContain(Buffer.from(pin).toString('base64').slice(0, 10));
        for (const [kind, marker] of [
          ['configmaps', 'map-'],
          ['services', 'service-'],
        ] as const) {
          if (text.includes(`${marker}old`)) counts.told += 1;
          const mayRead = verbs[kind].some((verb) => ['*', 'get', 'list'].includes(verb));
          if (!mayRead) expect(text, `${what} ${kind}`).not.toMatch(new RegExp(`${marker}(old|new)`));
        }
      }
    }
    expect(await all()).toBe(before);
    process.stdout.write(
      `${JSON.stringify({ test: 'history of sets by rights', users: randomUsers.length, ...counts })}\n`,
    );
    expect(Object.values(counts).every((count) => count > 0)).toBe(true);
  });

  test('kubectl reads the record as the parent of an ApplySet', async () => {
    const kubectl = join(server.assets.dir, 'kubectl');
    const args = [
      'apply',
      '--dry-run=server',
      '--prune',
      '--applyset=shadowrecords.portolan.dev/web',
      '-n',
      namespace,
      '-f',
      '-',
    ];
    const running = promisify(execFile)(kubectl, ['--kubeconfig', plane.kubeconfigPath, ...args], {
      env: { ...process.env, KUBECTL_APPLYSET: 'true' },
    });
    running.child.stdin?.end(JSON.stringify(configMap(namespace, 'b', { b: '1' })));
    const said = await running.then(
      ({ stdout, stderr }) => stdout + stderr,
      (error: { stdout: string; stderr: string }) => error.stdout + error.stderr,
    );
    // It has found the record and its label, and refuses, because another tool has written the set.
    expect(said).toMatch(/already exists and is managed by tooling "portolan"/);
  });
});
