import { expect, test } from 'vitest';
import { openTestStore, promotedKey, type TestStore, thing } from '../../../test/kit/query-store.ts';
import { must } from '../../base/must.ts';
import { parseExact } from '../../catalog/values/values.ts';
import type { Projection, ProjectionTree } from '../plan/plan.ts';
import { fetchObjects } from '../read/fetch.ts';

const hostile = ['o"d', 'n\\a', 'a.b', '[0]', '$', "it's", 'n\0l', '', 'é😀', '__proto__', '?1'];

const text = thing({
  name: 'a',
  uid: 'uid-a',
  labels: { app: 'web' },
  rest: {
    spec: { big: 0, half: 1.0, list: [{ a: 1, b: 2 }, 'text'], scalar: 'text', none: null, empty: {} },
    odd: Object.fromEntries([...hostile.map((name) => [name, { [name]: name }])]),
    status: { phase: 'Run\0ning\ud800' },
  },
}).replace('"big":0', '"big":9007199254740993');

async function openStore(texts: readonly string[] = [text]): Promise<TestStore> {
  const store = openTestStore([]);
  await store.sync(promotedKey, 'east', texts);
  return store;
}

async function read(store: TestStore, projection: Projection): Promise<unknown> {
  const identity = { cluster: 'east', key: promotedKey, namespace: 'default', name: 'a' };
  const [row] = await store.read((lease, view) => fetchObjects(lease, view, [identity], projection));
  return must(row, 'the object').body;
}

test('a whole body comes as it was stored', async () => {
  expect(JSON.stringify(await read(await openStore(), 'whole'))).toBe(JSON.stringify(parseExact(text)));
});

test('a projected body is a thinner object of the same shape', async () => {
  const store = await openStore();
  expect(await read(store, {})).toEqual({});
  expect(await read(store, { metadata: { name: true, labels: true }, status: true })).toEqual({
    metadata: { name: 'a', labels: { app: 'web' } },
    status: { phase: 'Run\0ning\ud800' },
  });
  expect(JSON.stringify(await read(store, { spec: { big: true, half: true } }))).toBe(
    '{"spec":{"big":9007199254740993,"half":1}}',
  );
});

test('what is absent is absent or null, and never an empty object', async () => {
  const store = await openStore();
  expect(
    await read(store, { nowhere: { deep: { er: true } }, spec: { none: true, missing: true, gone: { x: true } } }),
  ).toEqual({
    nowhere: null,
    spec: { none: null, missing: null, gone: null },
  });
});

test('where an object was expected, something else comes whole', async () => {
  const store = await openStore();
  expect(await read(store, { spec: { list: { a: true }, scalar: { a: true }, empty: { a: true } } })).toEqual({
    spec: { list: [{ a: 1, b: 2 }, 'text'], scalar: 'text', empty: { a: null } },
  });
});

test('no name of a field is taken for syntax', async () => {
  const store = await openStore();
  for (const name of hostile) {
    // A computed key, because `__proto__: true` would not be a member.
    const projection = { odd: Object.fromEntries([[name, Object.fromEntries([[name, true]])]]) } as ProjectionTree;
    const expected = `{"odd":{${JSON.stringify(name)}:{${JSON.stringify(name)}:${JSON.stringify(name)}}}}`;
    expect(JSON.stringify(await read(store, projection))).toBe(expected);
  }
});

test('wide and deep projections take the whole body', async () => {
  const store = await openStore();
  const whole = await read(store, 'whole');
  const wide = Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`f${index}`, true as const]));
  expect(await read(store, wide)).toEqual(whole);
  let deep: ProjectionTree = { end: true };
  for (let depth = 0; depth < 60; depth++) deep = { next: deep };
  expect(await read(store, deep)).toEqual(whole);
});

test('a body that SQLite refuses comes whole, whatever was asked', async () => {
  const nested = `${'['.repeat(1500)}${']'.repeat(1500)}`;
  const refused = `${text.slice(0, -1)},"nested":${nested}}`;
  const store = await openStore([refused]);
  for (const projection of ['whole', { spec: { big: true } }] as const) {
    const body = (await read(store, projection)) as Readonly<Record<string, unknown>>;
    expect(JSON.stringify(body['spec'])).toContain('"big":9007199254740993');
    expect(Array.isArray(body['nested'])).toBe(true);
  }
});
