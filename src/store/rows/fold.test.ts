/**
 * Folding the change log gives the table after any sequence of steps. Steps write, delete and recreate objects, replay, and replace in
 * both ways. Other steps drop and redeclare resources, reopen the file, or trim the log. Undoing the log gives the earlier table. The
 * kept counts by namespace and health are those of the rows.
 */
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { Follower, leaseOn, type Table, tableNow } from '../../../test/kit/log-follower.ts';
import { randomRuns } from '../../../test/kit/random-runs.ts';
import { describedResource, event, pod, storeFile, type TestObject } from '../../../test/kit/store-file.ts';
import { objectsAsOf } from '../read/changes.ts';
import type { IncomingEvent } from '../types/incoming-object.ts';
import type { ResourceHandle } from '../types/progress.ts';
import { openWriter, type StoreWriter } from '../write/writer.ts';
import type { WriterOptions } from '../write/writer-options.ts';

/** A cluster in memory: the objects of the API server, and the events that it has sent. */
class Server {
  readonly objects = new Map<string, TestObject>();
  readonly sent: IncomingEvent[] = [];
  rv = 10;

  put(name: string, phase: string): void {
    this.rv += 1;
    const known = this.objects.get(name);
    const object = { name, phase, rv: this.rv, uid: known?.uid ?? `uid-${name}-${this.rv}`, labels: { phase } };
    this.objects.set(name, object);
    this.sent.push(event(known === undefined ? 'ADDED' : 'MODIFIED', object));
  }

  remove(name: string): void {
    const known = this.objects.get(name);
    if (known === undefined) return;
    this.rv += 1;
    this.objects.delete(name);
    this.sent.push(event('DELETED', { ...known, rv: this.rv }));
  }
}

type Step =
  | { readonly do: 'put' | 'remove' | 'recreate'; readonly name: string; readonly phase: string }
  | { readonly do: 'apply' | 'relist' | 'abort' | 'drop' | 'reopen' | 'follow' | 'maintain' | 'overtake' }
  | { readonly do: 'replay'; readonly from: number }
  | { readonly do: 'many'; readonly count: number };

const phases = fc.oneof(fc.constantFrom('Running', 'Pending', 'Succeeded', 'Failed', ''), fc.string());
const names = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f');
const steps: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({ do: fc.constantFrom('put', 'remove', 'recreate'), name: names, phase: phases }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('apply') }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constantFrom('relist', 'abort', 'drop', 'reopen', 'follow', 'maintain', 'overtake'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('replay'), from: fc.nat(40) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('many'), count: fc.integer({ min: 1, max: 25 }) }) },
) as fc.Arbitrary<Step>;

/** A store and the server of its cluster. */
class Run {
  readonly server = new Server();
  readonly file = storeFile();
  readonly options: WriterOptions;
  writer: StoreWriter;
  handle: ResourceHandle;
  applied = 0;
  /** The number of events sent before the last committed relist. Only later events are replayed. */
  since = 0;

  constructor(options: WriterOptions) {
    this.options = { checkpoints: 'inline', ...options };
    this.writer = openWriter(this.file, this.options);
    this.handle = this.writer.declare(describedResource());
    onTestFinished(() => this.writer.close());
  }

  async step(step: Step, followers: readonly Follower[]): Promise<void> {
    await this.#take(step, followers);
    await this.checkCounts();
  }

  async #take(step: Step, followers: readonly Follower[]): Promise<void> {
    switch (step.do) {
      case 'put':
        return this.server.put(step.name, step.phase);
      case 'remove':
        return this.server.remove(step.name);
      case 'recreate':
        this.server.remove(step.name);
        return this.server.put(step.name, step.phase);
      case 'many':
        for (let index = 0; index < step.count; index += 1) this.server.put(`many-${index}`, 'new');
        return;
      case 'apply':
        return this.apply();
      case 'replay':
        if (!this.writer.state(this.handle).synced) return;
        this.apply();
        return this.replay(step.from);
      case 'relist':
        return await this.relist(true);
      case 'abort':
        return await this.relist(false);
      case 'overtake':
        return await this.relistOvertaken();
      case 'drop':
        await this.writer.drop(this.handle);
        this.handle = this.writer.declare(describedResource());
        return;
      case 'reopen':
        this.writer.close();
        this.writer = openWriter(this.file, this.options);
        return;
      case 'maintain':
        while (this.writer.maintain());
        return;
      case 'follow':
        for (const follower of followers) await follower.follow();
    }
  }

  apply(): void {
    const { synced } = this.writer.state(this.handle);
    if (!synced) return;
    this.writer.apply(this.handle, this.server.sent.slice(this.applied), String(this.server.rv));
    this.applied = this.server.sent.length;
  }

  /** Applies events again, from an index on. They must change nothing. */
  replay(from: number): void {
    const before = this.writer.revision();
    const again = this.server.sent.slice(Math.max(this.since, from), this.applied);
    const summary = this.writer.apply(this.handle, again, String(this.server.rv));
    expect(summary).toMatchObject({ added: 0, modified: 0, deleted: 0, revision: before });
  }

  async relist(commit: boolean): Promise<void> {
    const replace = this.writer.replace(this.handle);
    const listed = [...this.server.objects.values()].map(pod);
    for (let index = 0; index < listed.length; index += 7) replace.put(listed.slice(index, index + 7));
    expect(replace.count).toBe(listed.length);
    if (!commit) return replace.abort();
    await replace.commit(String(this.server.rv));
    this.applied = this.server.sent.length;
    this.since = this.applied;
  }

  /** Replaces with a list while events newer than the list arrive. */
  async relistOvertaken(): Promise<void> {
    if (!this.writer.state(this.handle).synced) return;
    this.apply();
    const replace = this.writer.replace(this.handle);
    const listed = [...this.server.objects.values()].map((object) => pod(object));
    const at = String(this.server.rv);
    replace.put(listed.slice(0, 3));
    this.server.remove('a');
    this.server.put('b', 'newer');
    this.server.remove('c');
    this.server.put('c', 'recreated');
    this.apply();
    replace.put(listed.slice(3));
    this.server.remove('d');
    this.server.put('e', 'newest');
    this.apply();
    await replace.commit(at);
    expect(this.writer.state(this.handle).lastResourceVersion).toBe(String(this.server.rv));
  }

  /** The kept counts of each published rowset are those of its rows; the other rowsets have no counts. */
  async checkCounts(): Promise<void> {
    const lease = leaseOn(this.file);
    const kept = await lease.all({
      sql: 'SELECT rowset, namespace, health, objects FROM object_count ORDER BY 1, 2, 3',
      params: [],
    });
    const counted = await lease.all({
      sql: `SELECT rowset, namespace, health, count(*) FROM object WHERE rowset IN (SELECT rowset FROM resource)
            GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`,
      params: [],
    });
    lease.end();
    expect(kept).toEqual(counted);
  }

  /** I1: the table equals the server's objects. */
  async check(): Promise<void> {
    if (!this.writer.state(this.handle).synced) return;
    this.apply();
    const lease = leaseOn(this.file);
    const table = await tableNow(lease, 'east/');
    lease.end();
    const phases = [...table.values()].map(({ uid, body }) => [uid, JSON.parse(body).status.phase]);
    const expected = [...this.server.objects.values()].map(({ uid, phase }) => [uid, phase]);
    expect(phases.sort()).toEqual(expected.sort());
    expect(this.writer.state(this.handle).objects).toBe(expected.length);
  }
}

async function runAll(all: readonly Step[], options: WriterOptions): Promise<void> {
  const run = new Run(options);
  const follower = new Follower(run.file);
  const lazy = new Follower(run.file);
  for (const step of all) await run.step(step, [follower]);
  await run.check();
  await follower.follow();
  await lazy.follow();
  run.writer.close();
}

const tight = { maxMs: Number.POSITIVE_INFINITY, maxBytes: 900 };

test('folding the log gives the table, with small replaces', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(steps, { minLength: 20, maxLength: 80 }), (all) => runAll(all, { bounds: tight })),
    { numRuns: randomRuns(15, 50) },
  );
});

test('folding the log gives the table, with wholesale replaces and several transactions for each', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(steps, { minLength: 20, maxLength: 80 }), (all) =>
      runAll(all, { bounds: tight, maxDifferences: 3 }),
    ),
    { numRuns: randomRuns(15, 50) },
  );
});

test('folding the log gives the table, with a log that is cut', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(steps, { minLength: 20, maxLength: 80 }), (all) =>
      // A replay can only be recognized while the log contains the deletion.
      runAll(
        all.filter((step) => step.do !== 'replay'),
        { changeLog: { maxBytes: 3000 } },
      ),
    ),
    { numRuns: randomRuns(15, 50) },
  );
});

test('objects as of a revision are what the table held then', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(steps, { minLength: 10, maxLength: 50 }), async (all) => {
      const run = new Run({});
      await run.relist(true);
      const seen: { revision: number; table: Table }[] = [];
      for (const step of all) {
        if (step.do === 'drop' || step.do === 'reopen' || step.do === 'replay') continue;
        await run.step(step, []);
        const lease = leaseOn(run.file);
        seen.push({ revision: lease.revision, table: await tableNow(lease) });
        lease.end();
      }
      const lease = leaseOn(run.file);
      for (const { revision, table } of seen) {
        const ids = [...table.values()].map(({ id }) => id);
        const past = await objectsAsOf(lease, 1, ids, revision);
        expect(ids.map((id) => past.get(id)?.body)).toEqual([...table.values()].map(({ body }) => body));
      }
      lease.end();
      run.writer.close();
    }),
    { numRuns: randomRuns(10, 30) },
  );
});
