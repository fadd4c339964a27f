import { expect, onTestFinished, test } from 'vitest';
import { startSimCluster } from './sim-cluster.ts';

const configMaps = '/api/v1/namespaces/default/configmaps';
const configMap = (name: string): Record<string, unknown> => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default' },
});

test('a backup that is restored brings back objects and revision, and forgets what came between', async () => {
  const sim = await startSimCluster();
  onTestFinished(() => sim.close());
  sim.create(configMap('before'));
  const backup = sim.save();
  sim.create(configMap('after'));
  sim.patch(`${configMaps}/before`, { data: { changed: 'yes' } });
  sim.restore(backup);
  expect(sim.list(configMaps).map((object) => object['metadata'])).toMatchObject([{ name: 'before' }]);
  const response = await fetch(`${sim.url}${configMaps}?limit=1`);
  expect(await response.json()).toMatchObject({ metadata: { resourceVersion: String(backup.revision) } });
  const old = await fetch(`${sim.url}${configMaps}?watch=true&resourceVersion=1`);
  expect(await old.text()).toContain('"code":410');
});

test('a watch from a version that is not reached yet is accepted and silent, bookmarks too', async () => {
  const sim = await startSimCluster({ features: { bookmarkMs: 5 } });
  onTestFinished(() => sim.close());
  const query = 'watch=true&resourceVersion=1000&allowWatchBookmarks=true&timeoutSeconds=1';
  const answer = await fetch(`${sim.url}${configMaps}?${query}`);
  sim.create(configMap('early'));
  expect([answer.status, await answer.text()]).toEqual([200, '']);
});
