/**
 * `portolan plan` and `apply` beside `kubectl diff` and `apply --server-side`: the same exit codes, and the same objects with the same
 * owners of their fields. Each case runs in two namespaces, one for each program.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type EndedCommand, runCommand } from '../kit/command-process.ts';
import { type ControlPlane, startControlPlane } from '../kit/control-plane.ts';
import { eventually } from '../kit/eventually.ts';
import { type RunningGateway, runGateway } from '../kit/gateway.ts';
import { ask } from '../kit/graphql-client.ts';
import { describeOn, mainServer } from '../kit/real-servers.ts';
import { temporaryDirectory } from '../kit/temporary-directory.ts';
import { configMap, deployment } from '../kit/writes-suite.ts';

const manager = 'tester';
const spaces = ['by-kubectl', 'by-portolan'] as const;
type Space = (typeof spaces)[number];

/** The text of manifests in a namespace. Names of objects without a namespace have the namespace in them. */
type Manifests = (space: Space) => string;

interface Case {
  /** What is applied by kubectl before, by another manager unless it is the same. */
  readonly before?: Manifests;
  readonly beforeManager?: string;
  readonly manifests: Manifests;
  readonly force?: boolean;
  /** The objects to compare, as kubectl names them. */
  readonly objects: readonly string[];
}

const json =
  (...objects: readonly ((space: Space) => object)[]): Manifests =>
  (space) =>
    objects.map((each) => JSON.stringify(each(space))).join('\n---\n');
const map = (name: string, values: Record<string, string>) => (space: Space) => configMap(space, name, values);
const web =
  (name: string, replicas: number, image = 'registry.example/app:1') =>
  (space: Space) => {
    const made = deployment(space, name, replicas);
    const { spec } = made;
    const containers = [{ name: 'app', image, ports: [{ containerPort: 80 }] }];
    return { ...made, spec: { ...spec, template: { ...spec.template, spec: { containers } } } };
  };
const kind = (apiVersion: string, name: string, of: string, body: object) => (namespace: Space) => ({
  apiVersion,
  kind: of,
  metadata: { name, namespace },
  ...body,
});
const same = { beforeManager: manager };

const cases: Readonly<Record<string, Case>> = {
  'a new ConfigMap': { manifests: json(map('new', { a: '1' })), objects: ['configmap/new'] },
  'a changed one': {
    before: json(map('changed', { a: '1', b: '1' })),
    ...same,
    manifests: json(map('changed', { a: '2', b: '1' })),
    objects: ['configmap/changed'],
  },
  'a removed key': {
    before: json(map('removed', { a: '1', b: '1' })),
    ...same,
    manifests: json(map('removed', { a: '1' })),
    objects: ['configmap/removed'],
  },
  'a key of another manager that stays': {
    before: json(map('shared', { b: '1' })),
    manifests: json(map('shared', { a: '1' })),
    objects: ['configmap/shared'],
  },
  'nothing new': {
    before: json(map('same', { a: '1' })),
    ...same,
    manifests: json(map('same', { a: '1' })),
    objects: ['configmap/same'],
  },
  'nothing new but an owner': {
    before: json(map('owned', { a: '1' })),
    manifests: json(map('owned', { a: '1' })),
    objects: ['configmap/owned'],
  },
  'a conflict': {
    before: json(map('contested', { a: '1' })),
    manifests: json(map('contested', { a: '2' })),
    objects: ['configmap/contested'],
  },
  'a conflict with force': {
    before: json(map('forced', { a: '1' })),
    manifests: json(map('forced', { a: '2' })),
    force: true,
    objects: ['configmap/forced'],
  },
  'a Secret': {
    manifests: json(kind('v1', 'pin', 'Secret', { stringData: { pin: '4711' }, type: 'Opaque' })),
    objects: ['secret/pin'],
  },
  'a Deployment and its Service': {
    manifests: json(
      web('web', 2),
      kind('v1', 'web', 'Service', { spec: { selector: { app: 'web' }, ports: [{ port: 80 }] } }),
    ),
    objects: ['deployment/web'],
  },
  'another image and number of replicas': {
    before: json(web('moved', 1)),
    ...same,
    manifests: json(web('moved', 3, 'registry.example/app:2')),
    objects: ['deployment/moved'],
  },
  'a selector that cannot change': {
    before: json(web('fixed', 1)),
    ...same,
    manifests: (space) => json(web('fixed', 1))(space).replaceAll('"app":"fixed"', '"app":"other"'),
    objects: ['deployment/fixed'],
  },
  'YAML of several documents': {
    manifests: (space) => `# Comments, anchors and flow style.
apiVersion: v1
kind: ConfigMap
metadata: {name: yaml-1, namespace: ${space}}
data:
  text: &text |
    first
    second
  again: *text
  mode: "0644"
---
---
apiVersion: v1
kind: ConfigMap
metadata: {name: yaml-2, namespace: ${space}}
data: {on: 'true', 'null': "~"}
`,
    objects: ['configmap/yaml-1', 'configmap/yaml-2'],
  },
  'a List': {
    manifests: (space) =>
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'List',
        items: [map('item-1', {})(space), map('item-2', { a: '' })(space)],
      }),
    objects: ['configmap/item-1', 'configmap/item-2'],
  },
  'the rights of an account': {
    manifests: json(
      kind('v1', 'robot', 'ServiceAccount', {}),
      kind('rbac.authorization.k8s.io/v1', 'robot', 'Role', {
        rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }],
      }),
      kind('rbac.authorization.k8s.io/v1', 'robot', 'RoleBinding', {
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'robot' },
        subjects: [{ kind: 'ServiceAccount', name: 'robot' }],
      }),
    ),
    objects: ['serviceaccount/robot', 'role/robot', 'rolebinding/robot'],
  },
  'a ClusterRole': {
    manifests: (space) =>
      JSON.stringify({
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRole',
        metadata: { name: `role-${space}` },
        rules: [{ apiGroups: [''], resources: ['nodes'], verbs: ['list'] }],
      }),
    objects: ['clusterrole/role-SPACE'],
  },
  'a CronJob, a NetworkPolicy and a PodDisruptionBudget': {
    manifests: json(
      kind('batch/v1', 'nightly', 'CronJob', {
        spec: {
          schedule: '0 3 * * *',
          jobTemplate: {
            spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'a', image: 'a' }] } } },
          },
        },
      }),
      kind('networking.k8s.io/v1', 'closed', 'NetworkPolicy', { spec: { podSelector: {}, policyTypes: ['Ingress'] } }),
      kind('policy/v1', 'two', 'PodDisruptionBudget', {
        spec: { minAvailable: '50%', selector: { matchLabels: { app: 'a' } } },
      }),
    ),
    objects: ['cronjob/nightly', 'networkpolicy/closed', 'poddisruptionbudget/two'],
  },
  'a field that is none': {
    manifests: json(kind('v1', 'typo', 'ConfigMap', { dta: { a: '1' } })),
    objects: ['configmap/typo'],
  },
  'a value of another type': {
    manifests: (space) => json(web('typed', 1))(space).replace('"replicas":1', '"replicas":"one"'),
    objects: ['deployment/typed'],
  },
  'a word of YAML that is a boolean': {
    manifests: (space) =>
      `{apiVersion: v1, kind: ConfigMap, metadata: {name: yes-map, namespace: ${space}}, data: {a: yes}}`,
    objects: ['configmap/yes-map'],
  },
  'a name that is none': {
    manifests: json(map('Not_A_Name', {})),
    objects: [],
  },
  'a kind that is none': {
    manifests: json(kind('example.com/v1', 'a', 'Nothing', {})),
    objects: [],
  },
  'a namespace that is not there': {
    manifests: (space) => JSON.stringify(configMap(`no-${space}`, 'a', {})),
    objects: [],
  },
};

describeOn([mainServer], 'beside kubectl', { timeout: 60_000, needs: ['kubectl'] }, (server) => {
  let plane: ControlPlane;
  let gateway: RunningGateway;
  let folder: string;

  beforeAll(async () => {
    plane = await startControlPlane({ server });
    for (const space of spaces) await plane.kubectl(['create', 'namespace', space]);
    gateway = await runGateway({ kubeconfig: plane.kubeconfigPath }, { readOnly: 'false' });
    await eventually(async () => {
      const found = await ask<{ namespaces: { totalCount: number } }>(gateway.url, '{ namespaces { totalCount } }');
      expect(found.data?.namespaces.totalCount).toBeGreaterThanOrEqual(6);
    });
  });

  afterAll(async () => {
    await gateway?.close();
    await plane?.stop();
  });

  beforeEach(() => {
    folder = temporaryDirectory('beside-kubectl');
  });

  const portolan = (...args: readonly string[]): Promise<EndedCommand> => {
    const token = new URL(gateway.page).hash.replace('#token=', '');
    const environment = { PORTOLAN_URL: gateway.url, PORTOLAN_TOKEN: token };
    return runCommand([...args, '--field-manager', manager], { folder, environment });
  };
  /** The exit code of kubectl. */
  const kubectl = async (...args: readonly string[]): Promise<number> =>
    plane.kubectl(args).then(
      () => 0,
      ({ cause }) => (cause as { readonly code: number }).code,
    );
  const file = (text: string): string => {
    const path = join(folder, 'manifests.yaml');
    writeFileSync(path, text);
    return path;
  };
  /** The objects without what differs between any two, and the times of their managers. */
  const objects = async (space: Space, names: readonly string[]): Promise<unknown> => {
    if (names.length === 0) return [];
    const wanted = names.map((name) => name.replace('SPACE', space));
    const flags = ['--namespace', space, '--ignore-not-found', '--show-managed-fields', '--output', 'json'];
    const found = await Promise.all(wanted.map((name) => plane.kubectl(['get', name, ...flags])));
    const made = new Set(['uid', 'resourceVersion', 'creationTimestamp', 'time', 'status']);
    return found.map((text) =>
      text === ''
        ? null
        : JSON.parse(text.replaceAll(space, 'SPACE'), (key, value) => (made.has(key) ? undefined : value)),
    );
  };

  test.each(Object.entries(cases))(
    '%s',
    async (_what, { before, beforeManager = 'other', manifests, force, objects: names }) => {
      if (before !== undefined) {
        for (const space of spaces) {
          const path = file(before(space));
          await plane.kubectl(['apply', '--server-side', `--field-manager=${beforeManager}`, '--filename', path]);
        }
      }
      const ssa = ['--server-side', `--field-manager=${manager}`, ...(force === true ? ['--force-conflicts'] : [])];
      const own = force === true ? ['--force'] : [];
      const ofKubectl = async () => {
        const path = file(manifests('by-kubectl'));
        const diff = await kubectl('diff', ...ssa, '--filename', path);
        return { diff: Math.min(diff, 2), failed: (await kubectl('apply', ...ssa, '--filename', path)) !== 0 };
      };
      const ofPortolan = async () => {
        const path = file(manifests('by-portolan'));
        const plan = await portolan('plan', '--filename', path, ...own);
        const done = await portolan('apply', '--yes', '--filename', path, ...own);
        return { diff: plan.code, failed: done.code !== 0 };
      };
      expect(await ofPortolan()).toEqual(await ofKubectl());
      expect(await objects('by-portolan', names)).toEqual(await objects('by-kubectl', names));
      // Once more: what is done has no difference.
      expect(await ofPortolan()).toEqual(await ofKubectl());
    },
  );

  test('a namespace with what is in it, which kubectl diff cannot show', async () => {
    const manifests = (space: string) =>
      [{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: space } }, configMap(space, 'inside', { a: '1' })]
        .map((each) => JSON.stringify(each))
        .join('\n---\n');
    const [theirs, ours] = [file(manifests('fresh-1')), 'fresh-2'];
    expect(await kubectl('diff', '--server-side', '--filename', theirs)).toBeGreaterThan(1);
    expect(await kubectl('apply', '--server-side', '--filename', theirs)).toBe(0);
    const path = file(manifests(ours));
    expect(await portolan('plan', '--filename', path)).toMatchObject({ code: 1 });
    expect(await portolan('apply', '--yes', '--filename', path)).toMatchObject({ code: 0 });
    expect(JSON.parse(await plane.kubectl(['get', 'configmap', 'inside', '-n', ours, '-o', 'json']))).toMatchObject({
      data: { a: '1' },
    });
  });

  test('delete, restart and scale do what kubectl does', async () => {
    for (const space of spaces) {
      await plane.kubectl(['apply', '--server-side', '--filename', file(JSON.stringify(web('acted', 1)(space)))]);
    }
    const in1 = ['--namespace', 'by-kubectl'];
    const in2 = ['--namespace', 'by-portolan'];
    await eventually(async () =>
      expect(await portolan('scale', 'Deployment', 'acted', ...in2, '--replicas', '3', '--yes')).toMatchObject({
        code: 0,
      }),
    );
    expect(await kubectl('scale', 'deployment/acted', ...in1, '--replicas=3')).toBe(0);
    expect(await portolan('restart', 'Deployment', 'acted', ...in2, '--yes')).toMatchObject({
      code: 0,
      out: expect.stringMatching(/\ndeployment\.apps\/acted restarted\n$/),
    });
    expect(await kubectl('rollout', 'restart', 'deployment/acted', ...in1)).toBe(0);
    const spec = async (space: Space) => {
      const got = JSON.parse(await plane.kubectl(['get', 'deployment', 'acted', '-n', space, '-o', 'json']));
      const { annotations } = got.spec.template.metadata;
      return [got.spec.replicas, Object.keys(annotations)];
    };
    expect(await spec('by-portolan')).toEqual(await spec('by-kubectl'));
    const path = file(JSON.stringify(web('acted', 1)('by-portolan')));
    expect(await portolan('delete', '--filename', path, '--yes')).toMatchObject({ code: 0 });
    expect(await kubectl('get', 'deployment/acted', ...in2)).toBe(1);
    expect(await portolan('delete', '--filename', path, '--yes')).toMatchObject({ code: 1 });
  });
});
