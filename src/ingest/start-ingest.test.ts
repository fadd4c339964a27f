/** The ingest thread itself: what it says, and how it ends. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { eventually } from '../../test/support/eventually.ts';
import { kubeconfigFolder } from '../../test/support/kubeconfig-file.ts';
import { type SimCluster, startSimCluster } from '../sim/sim-cluster.ts';
import { type IngestHandle, startIngest } from './start-ingest.ts';
import { storedObjects, temporaryDirectory } from './test-support.ts';

async function started(): Promise<{ sim: SimCluster; ingest: IngestHandle; file: string }> {
  const sim = await startSimCluster();
  onTestFinished(() => sim.close());
  const folder = kubeconfigFolder();
  onTestFinished(() => folder.remove());
  const file = join(temporaryDirectory(), 'store.db');
  const clusters = [{ name: 'east', kubeconfig: folder.file('config', sim.kubeconfig()) }];
  const ingest = await startIngest({ file, clusters, logLevel: 'silent' });
  onTestFinished(() => ingest.close());
  return { sim, ingest, file };
}

test('opens the store, syncs, wakes the parent for each change, and ends when it is told', async () => {
  const { sim, ingest, file } = await started();
  await ingest.catalogKnown;
  await ingest.synced;
  expect(ingest.progress()).toMatchObject({ ready: true, failing: [], clusters: [{ cluster: 'east' }] });
  expect(storedObjects(file).filter((line) => line.startsWith('east/namespaces/'))).toHaveLength(4);
  let wakes = 0;
  const forget = ingest.onWake(() => {
    wakes += 1;
  });
  sim.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'more' } });
  await eventually(() => expect(wakes).toBeGreaterThan(0));
  expect(storedObjects(file).filter((line) => line.startsWith('east/namespaces/'))).toHaveLength(5);
  forget();
  await Promise.all([ingest.close(), ingest.close()]);
  await ingest.exited;
  await eventually(() => expect(sim.openWatches).toBe(0));
});

test('a store that cannot be opened is said before anything starts', async () => {
  const file = join(temporaryDirectory(), 'notes.txt');
  writeFileSync(file, 'These are notes and no database, as anybody can see who reads them.');
  await expect(startIngest({ file, clusters: [] })).rejects.toMatchObject({
    code: 'CONFIGURATION',
    message: expect.stringContaining('not a store of Portolan'),
  });
});

test('a close does not wait for a cluster that does not answer', async () => {
  const { sim, ingest } = await started();
  await ingest.synced;
  sim.setAvailable(false);
  sim.dropWatches();
  await ingest.close();
  expect(await Promise.race([ingest.failed, ingest.exited.then(() => 'ended')])).toBe('ended');
});
