/** A user whose rights are a Role in two namespaces, on a real kube-apiserver. Runs when KUBEBUILDER_ASSETS names one. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type IngestHandle, startIngest } from '../../src/ingest/thread/start-ingest.ts';
import { type Connection, connect } from '../../src/kube/client/connection.ts';
import { RestClient } from '../../src/kube/client/rest-client.ts';
import { requireReady } from '../../src/query/read/readiness.ts';
import { openReader, type PooledReader } from '../../src/store/read/reader.ts';
import { readResourceProgress } from '../../src/store/read/resource-progress.ts';
import { type ControlPlane, startControlPlane } from '../kit/control-plane.ts';
import { eventually } from '../kit/eventually.ts';
import * as manifests from '../kit/manifests.ts';
import { describeOn, mainServer } from '../kit/real-servers.ts';

describeOn([mainServer], 'a user with rights in two namespaces', { timeout: 120_000 }, () => {
  let plane: ControlPlane;
  let connection: Connection;
  let admin: RestClient;
  let ingest: IngestHandle;
  let reader: PooledReader;
  const folder = mkdtempSync(join(tmpdir(), 'portolan-namespaces-real-'));
  const file = join(folder, 'store.db');

  const start = (namespaces: readonly string[]): Promise<IngestHandle> =>
    startIngest({
      file,
      clusters: [{ name: 'real', kubeconfig: plane.kubeconfigFor('nobody') }],
      namespaces,
      logLevel: 'silent',
      reflector: { parked: { firstMs: 200, capMs: 1000, resetMs: 600_000 } },
    });
  const configMap = (namespace: string, name: string): Promise<unknown> =>
    admin.post(`/api/v1/namespaces/${namespace}/configmaps`, { metadata: { name } });
  const allow = async (namespace: string): Promise<void> => {
    const rbac = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}`;
    const everything = { apiGroups: ['*'], resources: ['*'], verbs: ['get', 'list', 'watch'] };
    await admin.post(`${rbac}/roles`, { metadata: { name: 'read' }, rules: [everything] });
    await admin.post(`${rbac}/rolebindings`, {
      metadata: { name: 'read' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'read' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'nobody' }],
    });
  };
  const progressOf = async (key: string) =>
    reader.lease(async (lease) => (await readResourceProgress(lease)).find((each) => each.key === key));
  const names = (): Promise<string[]> =>
    reader.lease(async (lease) =>
      (
        await lease.all({
          sql: `SELECT o.namespace || '/' || o.name FROM object o JOIN resource r ON r.rowset = o.rowset AND r.synced = 1
            JOIN kind k ON k.id = o.kind WHERE k.key = 'configmaps' AND o.name NOT LIKE 'kube-%' ORDER BY 1`,
          params: [],
        })
      ).map(([name]) => String(name)),
    );

  beforeAll(async () => {
    plane = await startControlPlane();
    connection = await connect({ kubeconfig: plane.kubeconfigPath, env: {} });
    admin = new RestClient(connection);
    for (const namespace of ['a', 'b', 'c']) {
      await admin.post('/api/v1/namespaces', manifests.namespace(namespace));
      await configMap(namespace, 'one');
    }
    await allow('a');
    await allow('b');
    ingest = await start(['a', 'b', 'c', 'missing']);
    reader = await openReader(file, { readers: 1 });
  }, 120_000);
  afterAll(async () => {
    await reader?.close();
    await ingest?.close();
    await connection?.close();
    await plane?.stop();
    rmSync(folder, { recursive: true, force: true });
  }, 60_000);

  test('reads those two; the others and what is cluster-scoped are parked, and told of', async () => {
    await ingest.synced;
    expect(await names()).toEqual(['a/one', 'b/one']);
    const { failing } = ingest.progress();
    const of = (resource: string) => failing.find((each) => each.resource === resource);
    expect(of('configmaps')).toMatchObject({
      namespaces: ['c', 'missing'],
      error: expect.stringContaining('forbidden'),
    });
    for (const resource of ['namespaces', 'nodes', 'customresourcedefinitions.apiextensions.k8s.io']) {
      expect(of(resource)?.error).toContain('forbidden');
    }
    expect(await progressOf('configmaps')).toMatchObject({
      synced: false,
      objects: 2,
      status: { phase: 'PARKED' },
      collections: ['a', 'b', 'c', 'missing'].map((namespace) => ({
        handle: { namespace },
        synced: namespace < 'c',
        status: namespace < 'c' ? { phase: 'WATCHING', staleSince: null } : { phase: 'PARKED', refused: true },
      })),
    });
    await reader.lease(async (lease) => {
      expect(await requireReady([lease], ['configmaps'])).toEqual([{ key: 'configmaps', cluster: 'real' }]);
    });
  });

  test('follows what happens there, and takes up a namespace when the right to it is given', async () => {
    await configMap('a', 'two');
    await configMap('c', 'two');
    await admin.delete('/api/v1/namespaces/b/configmaps/one');
    await eventually(async () => expect(await names()).toEqual(['a/one', 'a/two']));
    await allow('c');
    await eventually(async () => expect(await names()).toEqual(['a/one', 'a/two', 'c/one', 'c/two']), 30_000);
    expect((await progressOf('configmaps'))?.collections.map(({ synced }) => synced)).toEqual([
      true,
      true,
      true,
      false,
    ]);
  });

  test('is told of --namespaces where it asks for all', async () => {
    await ingest.close();
    ingest = await start([]);
    await ingest.synced;
    const failing = ingest.progress().failing.find(({ resource }) => resource === 'configmaps');
    expect(failing?.error).toMatch(/cannot list resource "configmaps" .* at the cluster scope.*--namespaces/);
    expect(await names()).toEqual([]);
  });
});
