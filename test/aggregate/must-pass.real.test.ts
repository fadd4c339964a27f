/**
 * Commands of kubectl that people use with every kind, with the controllers of a cluster: a database of its own kind with its parts, a set of
 * 100 members, every way of deletion, and the end of a namespace.
 */
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AggregatedPlane, startAggregatedPlane } from '../kit/aggregated-plane.ts';
import { customKind } from '../kit/custom-kind.ts';
import { eventually } from '../kit/eventually.ts';
import { runKubectl } from '../kit/kubectl-run.ts';
import { describeOn, mainServer, oldServer } from '../kit/real-servers.ts';

const token = 'token-of-jane';
const kinds = 'databases.data.example,secrets,services,statefulsets,configmaps,deployments';

describeOn(
  [mainServer, oldServer],
  'sets beside everything else that kubectl does',
  { timeout: 120_000, needs: ['kubectl', 'kube-controller-manager'] },
  (server) => {
    let aggregated: AggregatedPlane;
    const isOld = server === oldServer;
    const databaseParts = (name: string) => partsOf(name, isOld);
    const run = (args: readonly string[], input?: unknown, env: Readonly<Record<string, string>> = {}) =>
      runKubectl(server, aggregated.plane, { token, args, input, env });
    const kubectl = async (args: readonly string[], input?: unknown, env: Readonly<Record<string, string>> = {}) => {
      const { code, stdout, stderr } = await run(args, input, env);
      if (code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${stderr}`);
      return stdout.trim();
    };
    const json = async (...args: readonly string[]) => JSON.parse(await kubectl(['get', ...args, '-o', 'json']));
    const gone = (...args: readonly string[]): Promise<void> =>
      eventually(async () => expect((await run(['get', ...args])).stderr).toMatch(/not found|No resources found/));
    /** `kubectl edit` with an editor that replaces a text. */
    const edit = (what: string, from: string, to: string, ...args: readonly string[]): Promise<string> => {
      const file = join(aggregated.plane.dir, 'edit-text.sh');
      writeFileSync(file, '#!/bin/sh\nexec sed -i "s|$EDIT_FROM|$EDIT_TO|" "$1"\n');
      chmodSync(file, 0o755);
      return kubectl(['edit', what, ...args], '', { KUBE_EDITOR: file, EDIT_FROM: from, EDIT_TO: to });
    };
    /** The changed lines of `kubectl diff`, without spaces around them. */
    const diff = async (input: object): Promise<readonly string[]> => {
      const { code, stdout, stderr } = await run(['diff', '-f', '-'], input);
      expect([code, stderr]).toEqual([stdout === '' ? 0 : 1, '']);
      return stdout.split('\n').flatMap((line) => (/^[-+](?![-+])/.test(line) ? [line.replace(/\s+/g, ' ')] : []));
    };

    beforeAll(async () => {
      aggregated = await startAggregatedPlane({
        server,
        controllerManager: true,
        group: 'apis.abc.com',
        version: 'v1',
        flags: { impersonate: server.impersonation },
        users: [{ token, user: 'jane', groups: [] }],
        prepare: async (plane) => {
          await plane.kubectl(['create', 'clusterrolebinding', 'jane', '--clusterrole=cluster-admin', '--user=jane']);
          await plane.kubectl(['create', '-f', '-'], JSON.stringify(databaseCrd));
          await plane.kubectl(['wait', '--for=condition=Established', 'crd/databases.data.example']);
        },
      });
      await eventually(() => kubectl(['get', 'shadow']));
    }, 240_000);
    afterAll(() => aggregated?.stop(), 60_000);

    test('a database with its Secret, its Service and its StatefulSet', async () => {
      const set = setOf('shop-db', databaseParts('shop-db'));
      expect(await kubectl(['apply', '--server-side', '-f', '-'], set)).toBe(
        'shadowresource.apis.abc.com/shop-db serverside-applied',
      );
      expect((await json('shadow', 'shop-db')).spec).toEqual({ flowList: databaseParts('shop-db') });
      expect(await diff(set)).toEqual([]);
      expect(await edit('shadow/shop-db', 'version: "17"', 'version: "18"')).toContain('edited');
      expect((await json('database', 'shop-db')).spec.version).toBe('18');
      expect(await diff(set)).toEqual(['- version: "18"', '+ version: "17"']);
      await edit('statefulset/shop-db', 'replicas: 1', 'replicas: 3');
      await eventually(async () =>
        expect(await diff(set)).toEqual(['- version: "18"', '+ version: "17"', '- replicas: 3', '+ replicas: 1']),
      );
      await kubectl(['apply', '--server-side', '--force-conflicts', '-f', '-'], set);
      expect((await json('statefulset', 'shop-db')).spec.replicas).toBe(1);
      await kubectl(['wait', '--for=jsonpath={.status.phase}=Applied', 'shadow/shop-db', '--timeout=20s']);
      // A StatefulSet without a node does not become ready.
      expect((await run(['wait', '--for=condition=Ready', 'shadow/shop-db', '--timeout=1s'])).stderr).toContain(
        'timed out',
      );
      const waiting = kubectl(['wait', '--for=delete', 'shadow/shop-db', '--timeout=60s']);
      expect(await kubectl(['delete', 'shadow', 'shop-db'])).toContain('"shop-db" deleted');
      await waiting;
      for (const kind of ['database', 'secret', 'service', 'statefulset', 'shadowrecord']) await gone(kind, 'shop-db');
    });

    test('100 members: apply, get, diff, scale of one, delete', async () => {
      const members = [
        deployment('many', 1),
        ...Array.from({ length: 98 }, (_, index) => config(`many-${index}`, `value-${index}`)),
        { ...databaseParts('many')[2] },
      ];
      const set = setOf('many', members);
      await kubectl(['apply', '--server-side', '-f', '-'], set);
      const found = await json('shadow', 'many');
      expect(found.spec.flowList).toEqual(members);
      expect(found.status.members).toHaveLength(100);
      expect(await kubectl(['get', 'shadow', 'many', '--no-headers'])).toMatch(/^many +99\/100 +Applied/);
      expect(await diff(set)).toEqual([]);
      await kubectl(['scale', 'deployment/many', '--replicas=4']);
      await eventually(async () => expect((await json('shadow', 'many')).spec.flowList[0].spec.replicas).toBe(4));
      expect(await diff(set)).toEqual(['- replicas: 4', '+ replicas: 1']);
      await kubectl(['delete', 'shadow', 'many']);
      await gone('shadow', 'many');
      const left = JSON.parse(await kubectl(['get', kinds, '-o', 'json'])).items;
      expect(left.filter(({ metadata }: { metadata: { name: string } }) => metadata.name.startsWith('many'))).toEqual(
        [],
      );
    });

    test('a set is unchanged as people write it: members without a namespace, and with empty values', async () => {
      const plain = (name: string, more: object = {}) => ({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name, ...more },
      });
      const app = { labels: { app: 'plain' } };
      // As `kubectl create deployment --dry-run=client -o yaml` prints it.
      const created = {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { ...app, name: 'plain' },
        spec: {
          replicas: 1,
          selector: { matchLabels: app.labels },
          strategy: {},
          template: {
            metadata: app,
            spec: {
              containers: [
                { image: 'nginx', name: 'nginx', ports: [{ containerPort: 80, protocol: 'TCP' }], resources: {} },
              ],
            },
          },
        },
        status: {},
      };
      const empty = { annotations: {}, labels: {}, finalizers: [] };
      const set = setOf('plain', [
        { ...plain('plain-a'), data: { text: 'hello' } },
        { ...plain('plain-b', empty), data: { text: 'hello' }, binaryData: {} },
        created,
      ]);
      const apply = () => kubectl(['apply', '-f', '-'], set);
      expect(await apply()).toBe('shadowresource.apis.abc.com/plain created');
      expect((await json('shadow', 'plain')).spec).toEqual(set.spec);
      expect([await apply(), await diff(set)]).toEqual(['shadowresource.apis.abc.com/plain unchanged', []]);
      // The controllers have filled in the status by then.
      await eventually(async () => expect((await json('deployment', 'plain')).status.observedGeneration).toBe(1));
      await eventually(async () => expect((await json('shadow', 'plain')).status.members[2].health).toBeDefined());
      expect([await apply(), await diff(set)]).toEqual(['shadowresource.apis.abc.com/plain unchanged', []]);
      expect((await json('shadow', 'plain')).metadata.generation).toBe(1);
      await kubectl(['delete', 'shadow', 'plain']);
    });

    test('apply --prune, get all, events, sorted, created with a made name, replaced by force', async () => {
      const labels = { app: 'pruned' };
      const labelled = { ...config('pruned-a', 'x'), metadata: { name: 'pruned-a', namespace: 'default', labels } };
      const set = setOf('pruned', [labelled, deployment('pruned', 1)], { labels });
      await kubectl(['apply', '-f', '-'], set);
      const other = { ...config('beside', 'x'), metadata: { name: 'beside', namespace: 'default', labels } };
      // By itself, kubectl also looks for kinds that an old server does not have.
      const pruneKinds = isOld ? ['--prune-allowlist=core/v1/ConfigMap'] : [];
      const pruned = await kubectl(['apply', '--prune', '-l', 'app=pruned', ...pruneKinds, '-f', '-'], other);
      expect(pruned).toBe('configmap/beside created');
      expect((await json('shadow', 'pruned')).spec.flowList).toHaveLength(2);
      const all = await kubectl(['get', 'all', '-o', 'name']);
      expect(all).toContain('deployment.apps/pruned');
      const named = await kubectl(['create', '-f', '-', '-o', 'name'], {
        ...setOf('', [config('generated', 'x')]),
        metadata: { generateName: 'made-' },
      });
      expect(named).toMatch(/^shadowresource\.apis\.abc\.com\/made-[a-z0-9]{5}$/);
      const sorted = await kubectl(['get', 'shadow', '--sort-by=.metadata.creationTimestamp', '-o', 'name']);
      // Times of creation have no parts of a second, and kubectl keeps the order of the list among equal ones.
      const createdAt = async (name: string): Promise<string> =>
        (await json('shadow', name)).metadata.creationTimestamp;
      const made = named.split('/')[1] ?? '';
      const inOrder = [named, 'shadowresource.apis.abc.com/pruned'];
      expect(sorted.split('\n')).toEqual(
        (await createdAt('pruned')) < (await createdAt(made)) ? inOrder.toReversed() : inOrder,
      );
      const byName = await kubectl(['get', 'shadow', '--sort-by=.metadata.name', '--no-headers']);
      expect(byName.split('\n').map((line) => line.split('-')[0]?.split(' ')[0])).toEqual(['made', 'pruned']);
      const done = '2 members created.';
      await eventually(async () =>
        expect(await kubectl(['events', '--for', 'shadowresource/pruned'])).toMatch(/Normal +Applied/),
      );
      expect(await kubectl(['describe', 'shadow', 'pruned'])).toMatch(
        new RegExp(`Events:[^]*Normal +Applied +\\S+ +portolan +${done}`),
      );
      const before = (await json('shadow', 'pruned')).metadata.uid;
      expect(await kubectl(['replace', '--force', '-f', '-'], set)).toContain('replaced');
      expect((await json('shadow', 'pruned')).metadata.uid).not.toBe(before);
      expect((await json('configmap', 'pruned-a')).data).toEqual({ a: 'x' });
      expect(await kubectl(['delete', 'shadow', '--all'])).toContain('deleted');
      await gone('deployment', 'pruned');
    });

    test('delete: in the background, in the foreground, and with orphans', async () => {
      const make = async (name: string): Promise<string> => {
        await kubectl(['create', '-f', '-'], setOf(name, [deployment(name, 1)]));
        return eventually(async () => {
          const { items } = await json('replicasets', '-l', `app=${name}`);
          expect(items).toHaveLength(1);
          return items[0].metadata.name as string;
        });
      };
      for (const cascade of ['background', 'foreground']) {
        const owned = await make(cascade);
        await kubectl(['delete', 'shadow', cascade, `--cascade=${cascade}`]);
        await gone('deployment', cascade);
        await gone('replicaset', owned);
        await gone('shadowrecord', cascade);
      }
      await make('orphan');
      await kubectl(['delete', 'shadow', 'orphan', '--cascade=orphan']);
      await gone('shadow', 'orphan');
      await gone('shadowrecord', 'orphan');
      const { metadata } = await json('deployment', 'orphan');
      expect([metadata.ownerReferences, metadata.labels]).toEqual([undefined, undefined]);
      expect((await json('replicasets', '-l', 'app=orphan')).items).toHaveLength(1);
      // Whoever deletes the record itself leaves nothing behind: the garbage collector deletes the members.
      const owned = await make('record');
      await kubectl(['delete', 'shadowrecord', 'record']);
      await gone('deployment', 'record');
      await gone('replicaset', owned);
    });

    test('wait: for a condition, a value, and the end', async () => {
      const created = kubectl(['wait', '--for=create', 'shadow/waited', '--timeout=30s']);
      await kubectl(['create', '-f', '-'], setOf('waited', [config('waited', 'one')]));
      await created;
      await kubectl(['wait', '--for=condition=Ready', 'shadow/waited', '--timeout=20s']);
      const changed = kubectl([
        ...['wait', '--for=jsonpath={.spec.flowList[0].data.a}=two', 'shadow/waited', '--timeout=20s'],
      ]);
      await kubectl(['patch', 'configmap', 'waited', '--type=merge', '-p', '{"data":{"a":"two"}}']);
      expect(await changed).toContain('condition met');
      const ended = kubectl(['wait', '--for=delete', 'shadow/waited', '--timeout=20s']);
      await kubectl(['delete', 'shadow', 'waited', '--wait=false']);
      await ended;
    });

    test('a namespace ends with its sets', async () => {
      await kubectl(['create', 'namespace', 'ending']);
      const inside = databaseParts('gone').map((part) => ({
        ...part,
        metadata: { ...part.metadata, namespace: 'ending' },
      }));
      const set = setOf('gone', inside);
      await kubectl(['create', '-f', '-'], { ...set, metadata: { name: 'gone', namespace: 'ending' } });
      await kubectl(['delete', 'namespace', 'ending', '--timeout=60s']);
      await gone('namespace', 'ending');
      expect((await run(['get', 'shadow', '-n', 'ending'])).stderr).toContain('No resources found');
    });
  },
);

function setOf(name: string, flowList: readonly object[], more: object = {}) {
  const metadata = { name, namespace: 'default', ...more };
  return { apiVersion: 'apis.abc.com/v1', kind: 'ShadowResource', metadata, spec: { flowList } };
}

function config(name: string, a: string) {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' }, data: { a } };
}

function deployment(name: string, replicas: number) {
  const app = { app: name };
  const template = { metadata: { labels: app }, spec: { containers: [{ name: 'main', image: 'nginx' }] } };
  const spec = { replicas, selector: { matchLabels: app }, template };
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name, namespace: 'default' }, spec };
}

/**
 * A Database, and the Secret, the Service and the StatefulSet that it needs.
 * @param isOld the server does not default the keys of lists in a server-side apply, such as the protocol of a port
 */
function partsOf(name: string, isOld: boolean) {
  const metadata = { name, namespace: 'default' };
  const app = { app: name };
  const env = [{ name: 'PASSWORD', valueFrom: { secretKeyRef: { name, key: 'password' } } }];
  const container = { name: 'db', image: 'postgres:17', env, ports: [{ containerPort: 5432, protocol: 'TCP' }] };
  const port = { name: 'db', port: 5432, ...(isOld ? { protocol: 'TCP' } : {}) };
  const claim = {
    metadata: { name: 'data' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  };
  return [
    { apiVersion: 'data.example/v1', kind: 'Database', metadata, spec: { engine: 'postgres', version: '17' } },
    { apiVersion: 'v1', kind: 'Secret', metadata, data: { password: Buffer.from('hunter2').toString('base64') } },
    { apiVersion: 'v1', kind: 'Service', metadata, spec: { selector: app, ports: [port] } },
    {
      ...{ apiVersion: 'apps/v1', kind: 'StatefulSet', metadata },
      spec: {
        ...{ serviceName: name, replicas: 1, selector: { matchLabels: app }, volumeClaimTemplates: [claim] },
        template: { metadata: { labels: app }, spec: { containers: [container] } },
      },
    },
  ] as const;
}

const databaseCrd = customKind({
  group: 'data.example',
  kind: 'Database',
  plural: 'databases',
  schema: {
    type: 'object',
    properties: { spec: { type: 'object', properties: { engine: { type: 'string' }, version: { type: 'string' } } } },
  },
});
