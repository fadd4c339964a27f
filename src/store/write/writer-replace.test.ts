/** Replaces: the first set of a collection, and later sets by their differences. */
import { expect, test } from 'vitest';
import { describedResource, entriesAmiss, pod } from '../../../test/kit/store-file.ts';
import { changes, open, published, read, synced } from '../../../test/kit/written-store.ts';
import type { SameVersions } from '../types/writer.ts';

test('a first sync is invisible until it is committed, and is one RESET', async () => {
  const { writer, file } = open();
  const handle = writer.declare(describedResource());
  const replace = writer.replace(handle);
  replace.put([pod({ name: 'a', rv: 1 }), pod({ name: 'b', rv: 2 })]);
  expect(read(file, published)).toEqual([]);
  expect(writer.state(handle)).toMatchObject({ synced: false, lastResourceVersion: null });
  const summary = await replace.commit('7');
  expect(summary).toEqual({ added: 2, modified: 0, deleted: 0, ignored: 0, revision: 1 });
  expect(read(file, published).map(([name]) => name)).toEqual(['a', 'b']);
  expect(read(file, changes)).toEqual([[1, 'RESET', '', '7']]);
  expect(writer.state(handle)).toMatchObject({ synced: true, lastResourceVersion: '7', objects: 2 });
});

test('an object that is taken out of a first sync before its end is not published', async () => {
  const { writer, file } = open();
  const handle = writer.declare(describedResource());
  const replace = writer.replace(handle);
  replace.put([pod({ name: 'a', rv: 1 }), pod({ name: 'b', rv: 2 }), pod({ name: 'c', rv: 3 })]);
  replace.remove('default', 'a');
  replace.remove('default', 'nobody');
  replace.remove('default', 'c');
  replace.put([pod({ name: 'c', rv: 6 })]);
  expect(replace.count).toBe(2);
  await replace.commit('7');
  expect(read(file, published).map(([name, rv]) => [name, rv])).toEqual([
    ['b', '2'],
    ['c', '6'],
  ]);
  expect(writer.state(handle).objects).toBe(2);
});

test('a long first sync: all is indexed when it is published, and nothing of what came twice or went', async () => {
  const { writer, file } = open();
  const handle = writer.declare(describedResource());
  const replace = writer.replace(handle);
  const count = 20_000;
  const listed = (index: number, rv = index + 1) =>
    pod({
      name: `n${index}`,
      uid: `u${(index * 7919) % count}-${rv}`,
      rv,
      labels: { app: `a${index % 300}`, one: `o${index}`, ...(index % 5 === 0 ? { odd: `${rv}` } : {}) },
    });
  for (let from = 0; from < count; from += 65)
    replace.put(Array.from({ length: Math.min(65, count - from) }, (_, at) => listed(from + at)));
  // Repeats objects in one batch. The entries of the first ones are written already; those of the last ones are still deferred.
  replace.put([listed(3, 30_000), listed(count - 1, 30_001), listed(3, 30_002), listed(count, 30_003)]);
  for (const index of [8, count - 2]) replace.remove('default', `n${index}`);
  let turns = 0;
  const counter = setInterval(() => (turns += 1), 1);
  await replace.commit('7');
  clearInterval(counter);
  expect(turns).toBeGreaterThan(0);
  expect(writer.state(handle).objects).toBe(count - 1);
  expect(read(file, entriesAmiss)).toEqual([[0]]);
  expect(read(file, 'SELECT count(*), count(DISTINCT id) FROM object_by_uid')).toEqual([[count - 1, count - 1]]);
  expect(
    read(
      file,
      "SELECT o.name, o.rv, json(b.body) ->> '$.metadata.uid' FROM object o JOIN body b USING (id) WHERE o.name = 'n3'",
    ),
  ).toEqual([['n3', '30002', `u${(3 * 7919) % count}-30002`]]);
});

test.each([
  ['in one transaction', 1000],
  ['through another rowset', 0],
])('an object that is taken out of a relist is deleted with it, or never added: %s', async (_, maxDifferences) => {
  const { writer, file } = open({ maxDifferences });
  const handle = await synced(writer, [pod({ name: 'a', rv: 1 }), pod({ name: 'b', rv: 2 })]);
  const replace = writer.replace(handle);
  replace.put([pod({ name: 'a', rv: 1 }), pod({ name: 'b', rv: 11 }), pod({ name: 'c', rv: 12 })]);
  for (const name of ['a', 'c', 'nobody']) replace.remove('default', name);
  expect(replace.count).toBe(1);
  expect(await replace.commit('20')).toMatchObject({ added: 0, modified: 1, deleted: 1, ignored: 0 });
  expect(read(file, published).map(([name, rv]) => [name, rv])).toEqual([['b', '11']]);
  expect(writer.state(handle).objects).toBe(1);
});

test('F20: a list below the known version is believed, whatever was written of other resources meanwhile', async () => {
  const { writer } = open();
  const handle = await synced(writer);
  const replace = writer.replace(handle);
  const other = writer.declare(describedResource({ plural: 'services', kind: 'Service' }));
  await writer.replace(other).commit('99');
  await replace.commit('7');
  expect(writer.state(handle).lastResourceVersion).toBe('7');
});

test('another shape compares bodies at the next replace, and only then', async () => {
  const { writer, file } = open();
  const handle = await synced(writer);
  const relist = async (phase: string) => {
    const replace = writer.replace(handle);
    replace.put([pod({ name: 'a', rv: 5, phase })]);
    return await replace.commit('10');
  };
  expect(await relist('Defaulted')).toMatchObject({ modified: 0 });
  writer.declare(describedResource({ shapeHash: 'shape-2' }));
  expect(await relist('Defaulted')).toMatchObject({ modified: 1 });
  expect(await relist('Running')).toMatchObject({ modified: 0 });
  expect(read(file, published)).toMatchObject([['a', '5', expect.stringContaining('Defaulted')]]);
});

test.each([
  ['in one transaction', 1000],
  ['through another rowset', 0],
])(
  'F20: versions that may be given a second time are compared by their bodies, when asked: %s',
  async (_, maxDifferences) => {
    const { writer, file } = open({ maxDifferences });
    const handle = await synced(writer, [pod({ name: 'a', rv: 5 }), pod({ name: 'b', rv: 6 })]);
    const relist = async (sameVersions?: SameVersions) => {
      const replace = writer.replace(handle, sameVersions);
      replace.put([pod({ name: 'a', rv: 5, phase: 'Another' }), pod({ name: 'b', rv: 6 })]);
      return await replace.commit('10');
    };
    expect(await relist()).toMatchObject({ modified: 0, ignored: 2 });
    expect(await relist('compare')).toMatchObject({ added: 0, modified: 1, deleted: 0, ignored: 1 });
    expect(read(file, published)).toMatchObject([
      ['a', '5', expect.stringContaining('Another')],
      ['b', '6', expect.anything()],
    ]);
  },
);

test('bodies of another shape are known as such until the replace that compares them, also by the next process', async () => {
  const { writer, file } = open();
  const handle = await synced(writer);
  expect(writer.state(handle).outdated).toBe(false);
  writer.declare(describedResource({ shapeHash: 'shape-2' }));
  writer.close();
  const { writer: next } = open({ file });
  expect(next.states()).toMatchObject([{ synced: true, lastResourceVersion: '10', outdated: true }]);
  const [state] = next.states();
  if (state === undefined) throw new Error('no resource');
  const replace = next.replace(state.handle);
  replace.put([pod({ name: 'a', rv: 5 })]);
  await replace.commit('11');
  expect(next.state(state.handle).outdated).toBe(false);
});

test('readers see the old set or the new one while a large replace is committed, never a mix', async () => {
  const { writer, file } = open({ maxDifferences: 10, bounds: { maxMs: 0, maxBytes: 1 } });
  const objects = (phase: string, rv: number) =>
    Array.from({ length: 40 }, (_, index) => pod({ name: `n${index}`, rv, phase }));
  const handle = await synced(writer, objects('old', 5));
  const replace = writer.replace(handle);
  replace.put(objects('new', 6).slice(0, 30));
  const phases = () => read(file, published).map(([, , body]) => JSON.parse(String(body)).status.phase);
  const seen = new Set<string>();
  const committed = replace.commit('20');
  expect(() => writer.apply(handle, [], '21')).toThrow(expect.objectContaining({ code: 'CONFLICT' }));
  let over = false;
  void committed.then(() => {
    over = true;
  });
  while (!over) {
    seen.add(JSON.stringify(phases()));
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(await committed).toMatchObject({ added: 0, modified: 30, deleted: 10 });
  expect([...seen].length).toBeGreaterThan(0);
  for (const set of seen) expect([Array(40).fill('old'), Array(30).fill('new')]).toContainEqual(JSON.parse(set));
  expect(phases()).toEqual(Array(30).fill('new'));
  expect(read(file, changes)).toEqual([
    [1, 'RESET', '', '10'],
    [2, 'RESET', '', '20'],
  ]);
});

test('up to 2,000 differences of a replace are changes in one commit, more are one RESET', async () => {
  const { writer, file } = open();
  const objects = (phase: string, rv: number, changed: number) =>
    Array.from({ length: 2500 }, (_, index) =>
      pod({ name: `n${index}`, rv: index < changed ? rv : 1, phase: index < changed ? phase : 'old' }),
    );
  const handle = await synced(writer, objects('old', 1, 0));
  const relist = async (phase: string, rv: number, changed: number) => {
    const replace = writer.replace(handle);
    replace.put(objects(phase, rv, changed));
    return await replace.commit(String(rv));
  };
  let commits = 0;
  writer.onCommit(() => {
    commits += 1;
  });
  expect(await relist('few', 20, 2000)).toMatchObject({ modified: 2000, ignored: 500, revision: 2001 });
  expect(commits).toBe(1);
  expect(read(file, 'SELECT type, count(*) FROM change GROUP BY 1')).toEqual([
    ['MODIFIED', 2000],
    ['RESET', 1],
  ]);
  expect(await relist('many', 30, 2001)).toMatchObject({ modified: 2001, revision: 2002 });
  expect(read(file, 'SELECT type, name FROM change WHERE seq > 2001')).toEqual([['RESET', '']]);
  const phases = `SELECT b.body ->> '$.status.phase', count(*) FROM object o JOIN body b USING (id)
    WHERE o.rowset IN (SELECT rowset FROM resource) GROUP BY 1`;
  expect(read(file, phases)).toEqual([
    ['many', 2001],
    ['old', 499],
  ]);
});
