import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { describedResource, event, pod } from '../../../test/kit/store-file.ts';
import { changes, open, published, read, synced } from '../../../test/kit/written-store.ts';
import { systemClock } from '../../base/clock.ts';
import { Database } from '../sqlite/database.ts';
import { idleStatus } from '../types/progress.ts';

test('events change rows, and the log has each with the body before', async () => {
  const { writer, file } = open();
  const handle = await synced(writer);
  const summary = writer.apply(
    handle,
    [
      event('MODIFIED', { name: 'a', rv: 11, phase: 'Failed' }),
      event('ADDED', { name: 'b', rv: 12 }),
      event('DELETED', { name: 'a', rv: 13 }),
    ],
    '13',
  );
  expect(summary).toEqual({ added: 1, modified: 1, deleted: 1, ignored: 0, revision: 4 });
  expect(read(file, published).map(([name]) => name)).toEqual(['b']);
  expect(read(file, changes)).toEqual([
    [1, 'RESET', '', '10'],
    [2, 'MODIFIED', 'a', '11'],
    [3, 'ADDED', 'b', '12'],
    [4, 'DELETED', 'a', '13'],
  ]);
  expect(read(file, `SELECT seq, before ->> '$.status.phase' FROM change ORDER BY seq`)).toEqual([
    [1, null],
    [2, 'Running'],
    [3, null],
    [4, 'Failed'],
  ]);
});

test('a recreated object is DELETED and ADDED, with a new object id', async () => {
  const { writer, file } = open();
  const handle = await synced(writer);
  const [before] = read(file, 'SELECT id FROM object');
  writer.apply(handle, [event('ADDED', { name: 'a', uid: 'another', rv: 20 })], '20');
  expect(read(file, 'SELECT type, name, uid FROM change WHERE seq > 1 ORDER BY seq')).toEqual([
    ['DELETED', 'a', 'uid-default-a'],
    ['ADDED', 'a', 'another'],
  ]);
  expect(read(file, 'SELECT id FROM object')).not.toEqual([before]);
});

test('old, repeated and foreign events change nothing', async () => {
  const { writer, file } = open();
  const handle = await synced(writer, [pod({ name: 'a', rv: 100 })], '100');
  const summary = writer.apply(
    handle,
    [
      event('MODIFIED', { name: 'a', rv: 100, phase: 'Same' }),
      // Versions compare as numbers: 99 is older than 100.
      event('MODIFIED', { name: 'a', rv: 99, phase: 'Old' }),
      event('DELETED', { name: 'a', uid: 'foreign', rv: 101 }),
      event('DELETED', { name: 'unknown', rv: 101 }),
    ],
    '101',
  );
  expect(summary).toMatchObject({ added: 0, modified: 0, deleted: 0, ignored: 4, revision: 1 });
  expect(writer.state(handle).lastResourceVersion).toBe('101');
  expect(read(file, published)).toMatchObject([['a', '100', expect.stringContaining('Running')]]);
});

test('opaque resourceVersions are only ever equal or not', async () => {
  const { writer, file } = open();
  const handle = await synced(writer, [pod({ name: 'a', rv: 'v900' })], 'v900');
  writer.apply(handle, [event('MODIFIED', { name: 'a', rv: 'v7', phase: 'Failed' })], 'v7');
  expect(read(file, published)).toMatchObject([['a', 'v7', expect.stringContaining('Failed')]]);
});

test('lastResourceVersion never goes back, except by a replace', async () => {
  const { writer } = open();
  const handle = await synced(writer, [], '500');
  writer.bookmark(handle, '499');
  expect(writer.state(handle).lastResourceVersion).toBe('500');
  writer.apply(handle, [], '498');
  expect(writer.state(handle).lastResourceVersion).toBe('500');
  await writer.replace(handle).commit('30');
  expect(writer.state(handle).lastResourceVersion).toBe('30');
});

test('int64, escapes and unusual texts reach the store as they were sent', async () => {
  const { writer, file } = open();
  const text = pod({ name: 'a', rv: 1 }).text.replace(
    '"status"',
    String.raw`"spec":{"big":9223372036854775807,"float":1.50,"lone":"\ud800","nul":"x\u0000y","sep":"\u2028"},"status"`,
  );
  await synced(writer, [{ text }]);
  expect(read(file, 'SELECT json(body) FROM body')).toEqual([[text]]);
});

test('managedFields, last-applied and redacted paths never reach the disk', async () => {
  const { writer, file } = open();
  const handle = writer.declare(
    describedResource({
      redacted: ['data', 'metadata.labels["secret.io/x"]', 'spec.env[].value', 'spec.named[name=b].token'],
    }),
  );
  const metadata = {
    managedFields: [{ manager: 'visible-manager' }],
    annotations: { 'kubectl.kubernetes.io/last-applied-configuration': 'visible-last', kept: '1' },
    labels: { 'secret.io/x': 'visible-label', ok: '1' },
  };
  const rest = {
    data: { password: 'visible-data' },
    spec: {
      env: [{ name: 'one', value: 'visible-one' }, { name: 'two' }, { name: 'three', value: 'visible-three' }],
      named: [
        { name: 'a', token: 'stays' },
        { name: 'b', token: 'visible-token' },
      ],
    },
  };
  const replace = writer.replace(handle);
  replace.put([pod({ name: 'a', rv: 1, metadata, rest })]);
  await replace.commit('1');
  // The second replace writes to the staging file and the log.
  const again = writer.replace(handle);
  again.put([pod({ name: 'a', rv: 2, metadata, rest })]);
  await again.commit('2');
  const [[body]] = read(file, 'SELECT json(body) FROM body') as [[string]];
  expect(JSON.parse(body)).toMatchObject({
    metadata: { annotations: { kept: '1' }, labels: { ok: '1' } },
    spec: {
      env: [{ name: 'one' }, { name: 'two' }, { name: 'three' }],
      named: [{ name: 'a', token: 'stays' }, { name: 'b' }],
    },
  });
  const everything = ['', '-wal', '-staging']
    .map((suffix) => readFileSync(`${file}${suffix}`).toString('latin1'))
    .join('');
  expect(everything).toContain('stays');
  expect(everything).not.toContain('visible-');
});

test('what SQLite refuses is kept as text, with its metadata, and without what is redacted', async () => {
  const { writer, file } = open();
  const handle = writer.declare(describedResource({ redacted: ['spec.token'] }));
  const deep = `${'['.repeat(1200)}9007199254740993${']'.repeat(1200)}`;
  const text = pod({ name: 'a', rv: 1, metadata: { managedFields: ['x'] } }).text.replace(
    '"status"',
    `"spec":{"token":"hidden","deep":${deep}},"status"`,
  );
  const replace = writer.replace(handle);
  replace.put([{ text }]);
  await replace.commit('1');
  const [[stored, body]] = read(file, 'SELECT text, json(body) FROM body') as [[string, string]];
  expect(stored).toContain(deep);
  expect(stored).not.toContain('hidden');
  expect(stored).not.toContain('managedFields');
  expect(JSON.parse(body)).toMatchObject({ kind: 'Pod', metadata: { name: 'a' } });
  writer.apply(handle, [event('DELETED', { name: 'a', rv: 2 })], '2');
  expect(read(file, `SELECT typeof(before), before = ? FROM change WHERE seq = 2`.replace('?', `'${stored}'`))).toEqual(
    [['text', 1]],
  );
});

test('items of a list get their apiVersion and kind', async () => {
  const { writer, file } = open();
  await synced(writer, [{ text: '{"metadata":{"name":"a","uid":"u","resourceVersion":"1"}}' }]);
  expect(read(file, 'SELECT json(body) FROM body')).toEqual([
    ['{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","uid":"u","resourceVersion":"1"}}'],
  ]);
});

test.each([
  ['no JSON', '{"metadata":'],
  ['no metadata', '{"kind":"Pod"}'],
  ['no name', '{"metadata":{"uid":"u","resourceVersion":"1"}}'],
  ['no uid', '{"metadata":{"name":"a","resourceVersion":"1"}}'],
  ['no resourceVersion', '{"metadata":{"name":"a","uid":"u"}}'],
])('an object with %s is refused, and what came before it is committed', async (_what, text) => {
  const { writer, file } = open();
  const handle = await synced(writer, []);
  const events = [event('ADDED', { name: 'good', rv: 11 }), { type: 'ADDED', object: { text } } as const];
  expect(() => writer.apply(handle, events, '12')).toThrow(
    expect.objectContaining({ code: 'INVALID', details: { index: 1, resourceVersion: '11' } }),
  );
  expect(read(file, published).map(([name]) => name)).toEqual(['good']);
  expect(writer.state(handle).lastResourceVersion).toBe('11');
  const replace = writer.replace(handle);
  expect(() => replace.put([{ text }])).toThrow(expect.objectContaining({ code: 'INVALID' }));
});

test('a batch beyond the bounds is several transactions, each at the resourceVersion of its last event', async () => {
  const { writer, file } = open({ bounds: { maxMs: Number.POSITIVE_INFINITY, maxBytes: 1 } });
  const handle = await synced(writer, []);
  const seen: unknown[] = [];
  writer.onCommit(() => seen.push(read(file, 'SELECT last_rv, (SELECT revision FROM state) FROM resource')[0]));
  writer.apply(handle, [event('ADDED', { name: 'a', rv: 11 }), event('ADDED', { name: 'b', rv: 12 })], '15');
  expect(seen).toEqual([
    ['11', 2],
    ['15', 3],
  ]);
});

test('labels and owners follow the object', async () => {
  const { writer, file } = open();
  const owners = [{ uid: 'owner-1', controller: true }, { uid: 'owner-2' }];
  const handle = await synced(writer, [
    pod({
      name: 'a',
      rv: 1,
      labels: { app: 'x', tier: 'web' },
      metadata: { ownerReferences: owners },
    }),
  ]);
  const marks = () => [
    read(file, 'SELECT key, value FROM object_by_label ORDER BY 1'),
    read(file, 'SELECT owner_uid, controller FROM edge ORDER BY 1'),
  ];
  expect(marks()).toEqual([
    [
      ['app', 'x'],
      ['tier', 'web'],
    ],
    [
      ['owner-1', 1],
      ['owner-2', 0],
    ],
  ]);
  writer.apply(handle, [event('MODIFIED', { name: 'a', rv: 11, labels: { app: 'y' } })], '11');
  expect(marks()).toEqual([[['app', 'y']], []]);
  writer.apply(handle, [event('DELETED', { name: 'a', rv: 12 })], '12');
  expect(marks()).toEqual([[], []]);
  expect(read(file, 'SELECT * FROM p1')).toEqual([]);
});

test('bookmarks and statuses go with the next commit, on time, and at the end', async () => {
  let now = 0;
  const clock = { ...systemClock, monotonic: () => now };
  const { writer, file } = open({ clock });
  const handle = await synced(writer, []);
  const status = { ...idleStatus, phase: 'WATCHING', lastEventAt: 1 } as const;
  const stored = () => read(file, `SELECT last_rv, status ->> '$.lastEventAt' FROM resource`)[0];
  writer.setStatus(handle, status);
  writer.bookmark(handle, '20');
  writer.setStatus(handle, { ...status, lastEventAt: 2 });
  expect(stored()).toEqual(['10', 1]);
  now = 30_000;
  writer.maintain();
  expect(stored()).toEqual(['20', 2]);
  writer.bookmark(handle, '21');
  writer.apply(handle, [event('ADDED', { name: 'a', rv: 22 })], '22');
  expect(stored()).toEqual(['22', 2]);
  writer.bookmark(handle, '23');
  writer.close();
  expect(stored()).toEqual(['23', 2]);
  const again = open({ file }).writer;
  expect(again.states()).toMatchObject([
    { lastResourceVersion: '23', synced: true, objects: 1, status: { lastEventAt: 2 } },
  ]);
});

test('another cluster under the same name drops what the first one had', async () => {
  const { writer, file } = open();
  const handle = await synced(writer);
  writer.openCluster('east', null);
  writer.openCluster('east', 'cluster-uid');
  expect(writer.states()).toHaveLength(1);
  writer.openCluster('east', 'other-uid');
  expect(writer.states()).toEqual([]);
  expect(() => writer.state(handle)).toThrow(expect.objectContaining({ code: 'NOT_FOUND' }));
  expect(read(file, published)).toEqual([]);
  expect(read(file, changes)).toEqual([
    [1, 'RESET', '', '10'],
    [2, 'RESET', '', '10'],
  ]);
  while (writer.maintain());
  for (const table of ['object', 'body', 'object_by_label', 'p1', 'stale_rowset'])
    expect(read(file, `SELECT * FROM ${table}`)).toEqual([]);
});

test('a slot that comes later is filled from the bodies, and ready when all rows have it', async () => {
  const { writer, file } = open({ bounds: { maxMs: 0, maxBytes: 1 } });
  await synced(writer, [
    pod({ name: 'a', rv: 1, rest: { spec: { replicas: 5, when: '1970-01-01T00:00:01Z' } } }),
    pod({ name: 'b', rv: 2, rest: { spec: { replicas: '9007199254740993' } } }),
  ]);
  writer.declare(
    describedResource({
      promoted: [
        { path: 'spec.replicas', type: 'Int64' },
        { path: 'spec.when', type: 'DateTime' },
      ],
    }),
  );
  const slots = () => read(file, 'SELECT column_name, path, ready FROM slot ORDER BY 1');
  expect(slots()).toEqual([
    ['c0', 'spec.replicas', 0],
    ['c1', 'spec.when', 0],
  ]);
  while (writer.maintain());
  expect(slots().map(([, , ready]) => ready)).toEqual([1, 1]);
  expect(read(file, 'SELECT name, CAST(c0 AS TEXT), typeof(c0), c1 FROM p1 ORDER BY 1')).toEqual([
    ['a', '5', 'integer', 1_000_000],
    ['b', '9007199254740993', 'integer', null],
  ]);
  expect(read(file, `SELECT name FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'p1' ORDER BY 1`)).toEqual([
    ['p1_c0'],
    ['p1_c1'],
    // Indexes of free columns.
    ['p1_c2'],
    ['p1_c3'],
    ['p1_c4'],
  ]);
});

test('paths that are redacted from now on take the stored bodies away, from the log too', async () => {
  const { writer, file } = open();
  const handle = await synced(writer, [pod({ name: 'a', rv: 1, phase: 'confidential' })]);
  writer.apply(handle, [event('MODIFIED', { name: 'a', rv: 11 })], '11');
  writer.declare(describedResource({ redacted: ['status.phase'] }));
  expect(writer.state(handle)).toMatchObject({ synced: false, lastResourceVersion: null, objects: 0 });
  while (writer.maintain());
  expect(read(file, 'SELECT count(*), count(before) FROM change')).toEqual([[3, 0]]);
  expect(read(file, 'SELECT * FROM body')).toEqual([]);
});

test('an entry of the log has the managers that made the change, and none for a list or a deletion', async () => {
  const { writer, file } = open();
  const handle = await synced(writer);
  const at = (manager: string, second: number) => ({
    manager,
    operation: 'Update',
    time: `2026-01-31T12:00:0${second}Z`,
  });
  const list = (...entries: readonly unknown[]) => ({ metadata: { managedFields: entries } });
  const cutOut = { ...pod({ name: 'a', rv: 11 }), managedFields: JSON.stringify([at('kubectl', 1)]) };
  writer.apply(handle, [{ type: 'MODIFIED', object: cutOut }], '11');
  writer.apply(
    handle,
    [
      event('MODIFIED', { name: 'a', rv: 12, ...list(at('kubectl', 1), at('kubelet', 2)) }),
      event('DELETED', { name: 'a', rv: 13 }),
    ],
    '13',
  );
  const replace = writer.replace(handle);
  replace.put([pod({ name: 'b', rv: 14 })]);
  await replace.commit('14');
  expect(read(file, 'SELECT type, managers FROM change WHERE seq > 1 ORDER BY seq')).toEqual([
    ['MODIFIED', '[["kubectl","Update",null,"2026-01-31T12:00:01Z"]]'],
    ['MODIFIED', '[["kubelet","Update",null,"2026-01-31T12:00:02Z"]]'],
    ['DELETED', null],
    ['ADDED', null],
  ]);
});

test('retain removes the oldest objects, as changes', async () => {
  const { writer, file } = open({ clock: { ...systemClock, now: () => Date.parse('2026-01-02T00:00:00Z') } });
  const at = (name: string, creationTimestamp: string) => pod({ name, rv: 1, metadata: { creationTimestamp } });
  const handle = await synced(writer, [
    at('old', '2025-01-01T00:00:00Z'),
    at('second', '2026-01-01T00:00:02Z'),
    at('third', '2026-01-01T00:00:03Z'),
    at('first', '2026-01-01T00:00:01Z'),
  ]);
  expect(writer.retain(handle, { maxObjects: 10, maxAgeMs: 7 * 86_400_000 })).toBe(1);
  expect(writer.retain(handle, { maxObjects: 2, maxAgeMs: 7 * 86_400_000 })).toBe(1);
  expect(read(file, published).map(([name]) => name)).toEqual(['second', 'third']);
  expect(read(file, `SELECT name FROM change WHERE type = 'DELETED' ORDER BY seq`)).toEqual([['old'], ['first']]);
  expect(writer.state(handle).objects).toBe(2);
});

test('a failing transaction leaves memory and file as they were', async () => {
  const { writer, file } = open();
  const handle = await synced(writer);
  const before = [writer.revision(), writer.state(handle), read(file, published)];
  const other = new Database(file);
  other.exec(`CREATE TRIGGER refuse BEFORE INSERT ON change BEGIN SELECT raise(ABORT, 'refused'); END`);
  expect(() => writer.apply(handle, [event('ADDED', { name: 'b', rv: 11 })], '11')).toThrow('refused');
  expect([writer.revision(), writer.state(handle), read(file, published)]).toEqual(before);
  other.exec('DROP TRIGGER refuse');
  other.close();
  writer.apply(handle, [event('ADDED', { name: 'b', rv: 11 })], '11');
  expect(writer.revision()).toBe(2);
});

test('the log is cut by age and by bytes, and knows its floor', async () => {
  let now = 1_000_000;
  const { writer, file } = open({
    clock: { ...systemClock, now: () => now },
    changeLog: { maxAgeMs: 1000, maxBytes: 4000 },
  });
  const handle = await synced(writer);
  const floor = () => read(file, 'SELECT floor, (SELECT min(seq) FROM change), bytes FROM kind_log')[0];
  writer.apply(handle, [event('MODIFIED', { name: 'a', rv: 11 })], '11');
  while (writer.maintain());
  expect(floor()?.slice(0, 2)).toEqual([0, 1]);
  now += 500;
  writer.apply(handle, [event('MODIFIED', { name: 'a', rv: 12 })], '12');
  now += 600;
  while (writer.maintain());
  expect(floor()?.slice(0, 2)).toEqual([2, 3]);
  for (let rv = 13; rv < 40; rv += 1) writer.apply(handle, [event('MODIFIED', { name: 'a', rv })], String(rv));
  while (writer.maintain());
  const [at, first, bytes] = floor() as [number, number, number];
  expect(first).toBe(at + 1);
  expect(bytes).toBeLessThanOrEqual(4000);
  expect(bytes).toBe(read(file, 'SELECT sum(200 + coalesce(octet_length(before), 0)) FROM change')[0]?.[0]);
  now += 10_000;
  while (writer.maintain());
  expect(floor()).toEqual([writer.revision(), null, 0]);
});

test('the log keeps within its bytes while the writer is never idle', async () => {
  const { writer, file } = open({ changeLog: { maxBytes: 4000 } });
  const handle = await synced(writer);
  const seen: number[] = [];
  for (let rv = 11; rv < 300; rv += 1) {
    writer.apply(handle, [event('MODIFIED', { name: 'a', rv })], String(rv));
    seen.push(Number(read(file, 'SELECT sum(bytes) FROM kind_log')[0]?.[0]));
  }
  const entry = (seen[1] as number) - (seen[0] as number);
  // Old entries are removed once for several changes, so the log exceeds its bound in between.
  expect(Math.max(...seen)).toBeLessThan(4000 + 20 * entry);
  expect(Math.min(...seen.slice(100))).toBeLessThanOrEqual(4000);
});

test('indexes follow an object whose time of creation is another', async () => {
  const { writer, file } = open();
  const handle = await synced(writer);
  const created = (day: number) => `2026-01-0${day}T00:00:00Z`;
  for (const [at, day] of [3, 3, 5].entries()) {
    const rv = 11 + at;
    writer.apply(
      handle,
      [event('MODIFIED', { name: 'a', rv, metadata: { creationTimestamp: created(day) } })],
      String(rv),
    );
    const stored = `SELECT created, uid FROM object INDEXED BY object_created WHERE kind = 1 AND created = ${Date.parse(created(day)) * 1000}`;
    expect(read(file, stored)).toHaveLength(1);
    expect(read(file, 'PRAGMA integrity_check')).toEqual([['ok']]);
  }
});

test('a kind has a table once it has objects, shared by the clusters that serve it', async () => {
  const { writer, file } = open();
  writer.declare(describedResource({ plural: 'nodes' }));
  expect(read(file, 'SELECT key, promoted_table FROM kind')).toEqual([['nodes', null]]);
  await synced(writer);
  const west = writer.declare(
    describedResource({ cluster: 'west', promoted: [{ path: 'spec.nodeName', type: 'String' }] }),
  );
  const replace = writer.replace(west);
  replace.put([pod({ name: 'a', rv: 1, rest: { spec: { nodeName: 'n1' } } })]);
  await replace.commit('1');
  while (writer.maintain());
  expect(read(file, 'SELECT key, promoted_table FROM kind ORDER BY 1')).toEqual([
    ['nodes', null],
    ['pods', 'p2'],
  ]);
  expect(read(file, 'SELECT cluster, c0, c1 FROM p2 ORDER BY 1')).toEqual([
    ['east', 'Running', null],
    ['west', 'Running', 'n1'],
  ]);
  await writer.drop(west);
  expect(read(file, 'SELECT cluster FROM p2')).toEqual([['east']]);
  expect(read(file, 'SELECT path FROM slot WHERE kind = 2')).toEqual([['status.phase']]);
  expect(read(file, published)).toHaveLength(1);
});
