/**
 * Repeated kill -9 of an ingesting process, at random moments of first syncs, relists of both kinds and batches of events. The next
 * process reaches the server's set of objects, the references and selectors are those of the bodies, and folding the change log gives
 * the table.
 *
 * PORTOLAN_KILLS is the number of kills (4), PORTOLAN_SEED the seed of their moments (1).
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { type SimCluster, startSimCluster } from '../../sim/sim-cluster.ts';
import { Database } from '../../src/store/sqlite/database.ts';
import { eventually } from '../kit/eventually.ts';
import { kubeconfigFolder } from '../kit/kubeconfig-file.ts';
import { Follower } from '../kit/log-follower.ts';
import { randomRuns } from '../kit/random-runs.ts';
import { seededRandom } from '../kit/seeded-random.ts';
import { entriesAmiss } from '../kit/store-file.ts';
import { temporaryDirectory } from '../kit/temporary-directory.ts';

const program = fileURLToPath(new URL('../kit/ingest-process.ts', import.meta.url));
const kills = Number(process.env['PORTOLAN_KILLS'] ?? randomRuns(4, 10));
const random = seededRandom(Number(process.env['PORTOLAN_SEED'] ?? 1));
const below = (bound: number): number => Math.floor(random() * bound);

/** More objects than a replace commits as single differences (2,000). */
const objects = 2200;
const collection = '/api/v1/namespaces/default/configmaps';

type Work = 'first sync' | 'relist' | 'wholesale relist' | 'events';
const works: readonly Work[] = ['first sync', 'relist', 'wholesale relist', 'events'];

/** The server's objects, and the operations on them. */
class World {
  readonly sim: SimCluster;
  #writes = 0;

  constructor(sim: SimCluster) {
    this.sim = sim;
    for (let index = 0; index < objects; index += 1) this.#create(index);
  }

  /** Changes, deletes, creates or recreates some objects at random. */
  write(count: number): void {
    for (let done = 0; done < count; done += 1) {
      const index = below(objects);
      const path = `${collection}/map-${index}`;
      if (this.sim.get(path) === undefined) this.#create(index);
      else if (random() < 0.2) this.sim.delete(path);
      else this.#touch(path);
    }
  }

  touchAll(): void {
    for (let index = 0; index < objects; index += 1) {
      const path = `${collection}/map-${index}`;
      if (this.sim.get(path) === undefined) this.#create(index);
      else this.#touch(path);
    }
  }

  /** `namespace/name uid@resourceVersion`, sorted. */
  rows(): string[] {
    return this.sim
      .list('/api/v1/configmaps')
      .map(({ metadata }) => metadata as Readonly<Record<string, string>>)
      .map(({ namespace, name, uid, resourceVersion }) => `${namespace}/${name} ${uid}@${resourceVersion}`)
      .sort();
  }

  #create(index: number): void {
    this.sim.create({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: `map-${index}`, namespace: 'default', labels: { index: String(below(10)) } },
      data: { text: 'x'.repeat(1500), ...this.#change() },
    });
  }

  #touch(path: string): void {
    this.sim.patch(path, { metadata: { labels: { index: String(below(10)) } }, data: this.#change() });
  }

  /** Names another object, which may be gone, or none. */
  #change(): Readonly<Record<string, string | null>> {
    return { writes: String(this.#writes++), next: random() < 0.1 ? null : `map-${below(objects)}` };
  }
}

async function start(file: string, kubeconfig: string): Promise<ChildProcess> {
  const child = fork(program, [file, kubeconfig, 'configmaps']);
  const opened = new AbortController();
  const lost = once(child, 'exit', { signal: opened.signal }).then(([code]) => {
    throw new Error(`the store could not be opened again: code ${String(code)}`);
  });
  lost.catch(() => {});
  await Promise.race([once(child, 'message', { signal: opened.signal }), lost]);
  opened.abort();
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  expect(await exited).toEqual([null, 'SIGKILL']);
}

/** Runs one statement on a separate connection. */
function read(file: string, sql: string): readonly unknown[] {
  const database = new Database(file, { readonly: true });
  try {
    return database.statement(sql).all().flat();
  } finally {
    database.close();
  }
}

/** Waits until an unpublished rowset is being filled, or an old one is being removed. */
async function untilFilling(file: string): Promise<void> {
  await eventually(() => expect(read(file, 'SELECT count(*) FROM stale_rowset')).not.toEqual([0]), 300_000, 1);
}

const storedRows = (file: string): readonly unknown[] =>
  read(
    file,
    `SELECT namespace || '/' || name || ' ' || uid || '@' || rv FROM object
     WHERE rowset IN (SELECT rowset FROM resource WHERE synced = 1) ORDER BY 1`,
  );

/** The places whose references or selectors are not read yet. There are two places. */
const unreadPlaces = 'SELECT 2 - count(*) FILTER (WHERE backfilled IS NULL) FROM reference_place';

/** The rows for relations: [table, name of the object or null if it is gone, name of the target or value of the label]. */
const storedRelations = (file: string): readonly unknown[] =>
  read(
    file,
    `WITH stored(tbl, id, other) AS (
       SELECT 'reference', id, (SELECT t.name FROM target AS t WHERE t.id = target) FROM reference
       UNION ALL SELECT 'reference_by_target', id, (SELECT t.name FROM target AS t WHERE t.id = target) FROM reference_by_target
       UNION ALL SELECT 'selector', id, value FROM selector)
     SELECT json_array(tbl, o.name, other) FROM stored LEFT JOIN object AS o ON o.id = stored.id
     WHERE o.id IS NULL OR o.rowset IN (SELECT rowset FROM resource WHERE synced = 1) ORDER BY 1`,
  );

/** The same as the bodies say. */
const relationsOfBodies = (file: string): readonly unknown[] =>
  read(
    file,
    `WITH said AS MATERIALIZED (
       SELECT o.name, b.body ->> '$.data.next' AS next, b.body ->> '$.metadata.labels.index' AS label
       FROM object AS o JOIN body AS b ON b.id = o.id WHERE o.rowset IN (SELECT rowset FROM resource WHERE synced = 1))
     SELECT json_array('reference', name, next) FROM said WHERE next IS NOT NULL
     UNION ALL SELECT json_array('reference_by_target', name, next) FROM said WHERE next IS NOT NULL
     UNION ALL SELECT json_array('selector', name, label) FROM said ORDER BY 1`,
  );

test(`${kills} kills at random moments`, { timeout: 600_000 + kills * 15_000 }, async () => {
  const sim = await startSimCluster();
  onTestFinished(() => sim.close());
  const folder = kubeconfigFolder();
  onTestFinished(() => folder.remove());
  const kubeconfig = folder.file('config', sim.kubeconfig());
  const directory = temporaryDirectory('kill');
  const file = join(directory, 'store.db');
  const world = new World(sim);
  let child = await start(file, kubeconfig);
  onTestFinished(() => void child.kill('SIGKILL'));
  // A long timeout: a slow machine is not a failure.
  const inStep = (): Promise<void> => eventually(() => expect(storedRows(file)).toEqual(world.rows()), 300_000);
  await inStep();
  let follower = new Follower(file);
  // For each kind of work: the number of kills, and how many of them left an incomplete rowset.
  const done = new Map<Work, { kills: number; halfFilled: number }>(
    works.map((work) => [work, { kills: 0, halfFilled: 0 }]),
  );

  for (let round = 0; round < kills; round += 1) {
    const work = works[round % works.length] ?? 'events';
    if (work === 'events') {
      for (let turns = 1 + below(40); turns > 0; turns -= 1) {
        world.write(1 + below(40));
        await sleep(below(5));
      }
    } else {
      await kill(child);
      if (work === 'first sync') {
        for (const suffix of ['', '-wal', '-shm']) rmSync(`${file}${suffix}`, { force: true });
        follower = new Follower(file);
      } else {
        if (work === 'relist') world.write(200);
        else world.touchAll();
        sim.compact();
      }
      child = await start(file, kubeconfig);
      // The delay before a list and its duration depend on the machine. So any moment will do, and every second kill waits until
      // a rowset is being filled.
      if (work === 'relist' || random() < 0.5) await sleep(below(500));
      else {
        await untilFilling(file);
        await sleep(below(30));
      }
    }
    await kill(child);
    const [stale] = read(file, 'SELECT count(*) FROM stale_rowset');
    const tally = done.get(work);
    if (tally !== undefined) {
      tally.kills += 1;
      if (Number(stale) > 0) tally.halfFilled += 1;
    }

    child = await start(file, kubeconfig);
    await inStep();
    await eventually(() => expect(read(file, unreadPlaces)).toEqual([0]), 300_000);
    const relations = relationsOfBodies(file);
    expect(relations.length).toBeGreaterThan(objects);
    expect(storedRelations(file)).toEqual(relations);
    expect(read(file, 'PRAGMA integrity_check')).toEqual(['ok']);
    expect(read(file, entriesAmiss)).toEqual([0]);
    // One follower that has followed through every kill, and one that begins at the log's floor.
    await follower.follow();
    await new Follower(file).follow();
  }
  if (process.env['PORTOLAN_KILLS'] !== undefined) {
    process.stdout.write(`kills: ${JSON.stringify(Object.fromEntries(done))}\n`);
  }
});
