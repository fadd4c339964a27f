/** Ingest of real API servers, a new one and an old one: what newer servers have is negotiated, and the tables are the same. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { must } from '../../src/base/must.ts';
import type { DescribedResource } from '../../src/catalog/resources/catalog.ts';
import { resourceKey } from '../../src/catalog/resources/resource.ts';
import { type IngestHandle, startIngest } from '../../src/ingest/thread/start-ingest.ts';
import { type Connection, connect } from '../../src/kube/client/connection.ts';
import { RestClient } from '../../src/kube/client/rest-client.ts';
import { resourcePath } from '../../src/kube/http/resource-path.ts';
import { Database } from '../../src/store/sqlite/database.ts';
import { type ControlPlane, startControlPlane } from '../kit/control-plane.ts';
import { eventually } from '../kit/eventually.ts';
import * as manifests from '../kit/manifests.ts';
import { describeOn, mainServer, oldServer } from '../kit/real-servers.ts';
import { expectedOf, type VersionDifference } from '../kit/version-difference.ts';

const refusedStreams: VersionDifference<number> = {
  since: 34,
  why: 'Streaming lists are on by default since 1.34. An older server is asked for one once, not by each resource.',
  before: 1,
  after: 0,
};

describeOn([mainServer, oldServer], 'ingest of a real cluster', { timeout: 120_000 }, (server) => {
  let plane: ControlPlane;
  let connection: Connection;
  let api: RestClient;
  let ingest: IngestHandle;
  const folder = mkdtempSync(join(tmpdir(), 'portolan-ingest-real-'));
  const file = join(folder, 'store.db');
  const start = (): Promise<IngestHandle> =>
    startIngest({ file, clusters: [{ name: 'real', kubeconfig: plane.kubeconfigPath }], logLevel: 'silent' });

  beforeAll(async () => {
    plane = await startControlPlane({ server, controllerManager: true });
    connection = await connect({ kubeconfig: plane.kubeconfigPath, env: {} });
    api = new RestClient(connection);
    ingest = await start();
  }, 120_000);
  afterAll(async () => {
    await ingest?.close();
    await connection?.close();
    await plane?.stop();
    rmSync(folder, { recursive: true, force: true });
  }, 60_000);

  function query(sql: string): string[] {
    const database = new Database(file, { readonly: true });
    try {
      return database
        .statement(sql)
        .all()
        .map(([text]) => String(text));
    } finally {
      database.close();
    }
  }
  const described = (): DescribedResource[] =>
    query('SELECT json FROM description').map((text) => JSON.parse(text) as DescribedResource);
  const restarts = (key: string): Record<string, number> =>
    JSON.parse(
      must(query(`SELECT status FROM resource WHERE kind = (SELECT id FROM kind WHERE key = '${key}')`)[0], 'a status'),
    ).restarts;

  /** Objects by identity, uid and version, on both sides; Events and what has no versions are left out. */
  async function compare(): Promise<void> {
    const theirs: string[] = [];
    for (const { resource } of described().filter(({ resource: { plural } }) => plural !== 'events')) {
      const list = await api.get<{ items: { metadata: Record<string, string> }[] | null }>(resourcePath(resource));
      for (const { metadata } of list.items ?? []) {
        const { namespace = '', name, uid, resourceVersion } = metadata;
        if (uid !== undefined) theirs.push(`${resourceKey(resource)} ${namespace}/${name} ${uid}@${resourceVersion}`);
      }
    }
    const ours = query(
      `SELECT k.key || ' ' || o.namespace || '/' || o.name || ' ' || o.uid || '@' || o.rv FROM object o JOIN kind k ON k.id = o.kind
       WHERE o.rowset IN (SELECT rowset FROM resource WHERE synced = 1) AND k.key NOT IN ('events', 'componentstatuses')`,
    );
    expect(ours.sort()).toEqual(theirs.sort());
  }

  test('syncs all that is served, and the tables equal the lists', async () => {
    await ingest.synced;
    expect(ingest.progress()).toMatchObject({ ready: true, failing: [] });
    expect(ingest.progress().resourcesTotal).toBeGreaterThan(40);
    const refused = query('SELECT status FROM resource').map((text) => JSON.parse(text).restarts['no stream'] ?? 0);
    expect(refused.reduce((sum: number, count: number) => sum + count, 0)).toBe(
      expectedOf(plane.version, refusedStreams),
    );
    await eventually(compare);
  });

  test('follows changes, and a CRD that comes and goes with its objects', async () => {
    await api.post('/api/v1/namespaces', manifests.namespace('ingest'));
    for (let index = 0; index < 10; index += 1) {
      await api.post('/api/v1/namespaces/ingest/configmaps', {
        metadata: { name: `c${index}` },
        data: { index: `${index}` },
      });
    }
    await api.post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', manifests.widgetCrd());
    await eventually(() => expect(described().map(({ resource }) => resource.plural)).toContain('widgets'));
    await eventually(compare);
    const widgets = must(
      described().find(({ resource }) => resource.plural === 'widgets'),
      'widgets',
    );
    expect(widgets.diagnostics).toEqual([]);
    expect(widgets.printerColumns.map(({ name }) => name)).toContain('Size');
    const collection = resourcePath(widgets.resource, 'ingest');
    const big = '9007199254740993';
    // As text: the number is beyond what a double holds.
    await eventually(() => plane.kubectl(['create', '-f', '-'], manifests.widget('ingest')));
    await api.post(collection, {
      apiVersion: 'e2e.portolan.example/v1',
      kind: 'Widget',
      metadata: { name: 'second' },
      spec: { size: 1 },
    });
    await api.patch(`${collection}/second`, 'merge', { spec: { size: 2 } });
    await eventually(compare);
    expect(query(`SELECT name FROM object WHERE name IN ('first', 'second') ORDER BY 1`)).toEqual(['first', 'second']);
    expect(query(`SELECT json(body) FROM body JOIN object USING (id) WHERE name = 'first'`).join()).toContain(big);
    await api.delete(`${collection}/second`);
    await eventually(compare);
    await api.delete('/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.e2e.portolan.example');
    await eventually(() => expect(described().map(({ resource }) => resource.plural)).not.toContain('widgets'), 40_000);
    await eventually(compare);
  });

  test('goes on after the API server was killed', async () => {
    await plane.killApiServer('SIGKILL');
    await eventually(() => expect(restarts('configmaps')['network']).toBeGreaterThan(0));
    await plane.startApiServer();
    await eventually(() => api.post('/api/v1/namespaces/ingest/configmaps', { metadata: { name: 'after' } }));
    await eventually(compare, 60_000);
    await eventually(() => expect(ingest.progress()).toMatchObject({ ready: true, failing: [] }), 60_000);
  });

  test('resumes after a restart of its own, with what happened meanwhile', async () => {
    await ingest.close();
    await api.delete('/api/v1/namespaces/ingest/configmaps/c1');
    await api.patch('/api/v1/namespaces/ingest/configmaps/c2', 'merge', { data: { index: 'changed' } });
    ingest = await start();
    await ingest.synced;
    await eventually(compare);
  });
});
