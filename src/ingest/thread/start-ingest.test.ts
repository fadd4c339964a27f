/** The ingest thread itself: its messages, and how it ends. */

import { closeSync, openSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type SimCluster, startSimCluster } from '../../../sim/sim-cluster.ts';
import { eventually } from '../../../test/kit/eventually.ts';
import { kubeconfigFolder } from '../../../test/kit/kubeconfig-file.ts';
import { storedObjects } from '../../../test/kit/reflector-bench.ts';
import { temporaryDirectory } from '../../../test/kit/temporary-directory.ts';
import { Database } from '../../store/sqlite/database.ts';
import { type IngestHandle, startIngest } from './start-ingest.ts';

interface Started {
  readonly sim: SimCluster;
  readonly ingest: IngestHandle;
  readonly file: string;
  /** Starts another ingest thread on the same file. */
  again(): Promise<IngestHandle>;
}

async function started(include: readonly string[] = []): Promise<Started> {
  const sim = await startSimCluster();
  onTestFinished(() => sim.close());
  const folder = kubeconfigFolder();
  onTestFinished(() => folder.remove());
  const file = join(temporaryDirectory('ingest'), 'store.db');
  const clusters = [{ name: 'east', kubeconfig: folder.file('config', sim.kubeconfig()) }];
  const again = async (): Promise<IngestHandle> => {
    const ingest = await startIngest({ file, clusters, include, logLevel: 'silent' });
    onTestFinished(() => ingest.close());
    return ingest;
  };
  return { sim, ingest: await again(), file, again };
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

/** Objects that the search index does not contain yet. */
function unindexed(file: string): number {
  const database = new Database(file, { readonly: true });
  try {
    const sql = 'SELECT count(*) FROM object WHERE id > (SELECT watermark FROM search_state)';
    return Number(database.statement(sql).get()?.[0]);
  } finally {
    database.close();
  }
}

function epochOf(file: string): string {
  const database = new Database(file, { readonly: true });
  try {
    return String(database.statement(`SELECT value FROM meta WHERE key = 'epoch'`).get()?.[0]);
  } finally {
    database.close();
  }
}

const namespaces = (file: string): string[] =>
  storedObjects(file).filter((line) => line.startsWith('east/namespaces/'));

const namespace = (name: string) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });

test.each([
  ['an event', (sim: SimCluster) => void sim.create(namespace('more'))],
  [
    'a reader',
    (_sim: SimCluster, ingest: IngestHandle, file: string) =>
      ingest.reportDamage({ inode: statSync(file).ino, reason: 'malformed' }),
  ],
])('F42: a store that %s finds damaged is made anew while the thread goes on', async (_who, find) => {
  const { sim, ingest, file, again } = await started(['namespaces']);
  await ingest.synced;
  // Otherwise the next start reads the bodies for the index, and finds the damage first.
  await eventually(() => expect(unindexed(file)).toBe(0));
  await ingest.close();
  const epoch = epochOf(file);
  const database = new Database(file, { readonly: true });
  const page = Number(database.statement(`SELECT rootpage FROM sqlite_schema WHERE name = 'body'`).get()?.[0]);
  database.close();
  const handle = openSync(file, 'r+');
  writeSync(handle, Buffer.alloc(4096, 0x5a), 0, 4096, (page - 1) * 4096);
  closeSync(handle);
  const second = await again();
  await second.synced;
  expect(epochOf(file)).toBe(epoch);
  find(sim, second, file);
  const served = sim.list('/api/v1/namespaces').length;
  await eventually(() => {
    expect(epochOf(file)).not.toBe(epoch);
    expect(second.progress()).toMatchObject({ ready: true, failing: [] });
    expect(namespaces(file)).toHaveLength(served);
  });
  second.reportDamage({ inode: 1, reason: 'of another file' });
  sim.create(namespace('after'));
  await eventually(() => expect(namespaces(file)).toHaveLength(served + 1));
});

test('a store that cannot be opened is said before anything starts', async () => {
  const file = join(temporaryDirectory('ingest'), 'notes.txt');
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
