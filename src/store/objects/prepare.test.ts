import fc from 'fast-check';
import { expect, test } from 'vitest';
import { describedResource, pod, storeFile } from '../../../test/kit/store-file.ts';
import type { PromotedPath } from '../../catalog/resources/catalog.ts';
import { parseExact } from '../../catalog/values/values.ts';
import { Database } from '../sqlite/database.ts';
import { openWriter } from '../write/writer.ts';
import { Preparer } from './prepare.ts';

const promoted: readonly PromotedPath[] = [
  { path: 'status.phase', type: 'String' },
  { path: 'spec.n', type: 'Int64' },
  { path: 'spec.quantity', type: 'Quantity' },
  { path: 'status.startTime', type: 'DateTime' },
  { path: 'status.conditions[type=Ready].status', type: 'String' },
  { path: 'spec.list[1].size', type: 'Int' },
  { path: 'metadata.labels["a\\"b.c/d"]', type: 'String' },
  { path: 'metadata.labels["a.b/c"]', type: 'String' },
  { path: 'health.status', type: 'String' },
  { path: 'health.reason', type: 'String' },
  { path: 'metadata.annotations["kubectl.kubernetes.io/last-applied-configuration"]', type: 'String' },
];

const tables = [
  'object',
  'object_count',
  'object_by_uid',
  'body',
  'object_by_label',
  'edge',
  'p1',
  'state',
  'resource',
];

/** Prepared in another thread, prepared in the writer's thread, or read like events. */
type Way = 'beside' | 'here' | 'plain';

/** All rows after a first sync of these texts, as SQL literals. */
async function stored(texts: readonly string[], redacted: readonly string[], way: Way): Promise<unknown> {
  const file = storeFile();
  const writer = openWriter(file, { checkpoints: 'inline' });
  const replace = writer.replace(writer.declare(describedResource({ promoted, redacted })));
  if (way === 'beside') {
    const recipe = JSON.parse(JSON.stringify(replace.recipe)) as NonNullable<typeof replace.recipe>;
    const preparer = new Preparer(recipe);
    const prepared = preparer.prepare(texts.map((text) => ({ text, bytes: Buffer.from(text) })));
    const objects = texts.map((text, index) => structuredClone(prepared[index]) ?? { text });
    for (let from = 0; from < objects.length; from += 20) replace.putPrepared(objects.slice(from, from + 20), recipe);
  } else {
    for (let from = 0; from < texts.length; from += 20) {
      const some = texts.slice(from, from + 20);
      replace.put(some.map((text) => (way === 'here' ? { text } : { text, value: parseExact(text) })));
    }
  }
  await replace.commit('9');
  const { count } = replace;
  writer.close();
  const database = new Database(file, { readonly: true });
  const rows = tables.map((table) => {
    const columns = database.statement(`SELECT name FROM pragma_table_info(?)`).all(table).map(String);
    return database
      .statement(`SELECT ${columns.map((name) => `quote(${name})`).join(', ')} FROM ${table} ORDER BY 1, 2`)
      .all();
  });
  database.close();
  return { count, rows };
}

const odd = [
  pod({ name: 'plain', rv: 1, labels: { app: 'a', tier: 'b' } }).text,
  pod({ name: 'plain', rv: 2, labels: { app: 'c' } }).text,
  '{"metadata":{"name":"no-kind","uid":"u1","resourceVersion":"1","managedFields":[{"a":1}]},"status":{"phase":"x"}}',
  '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"n","uid":"u2","resourceVersion":"3"},"spec":{"n":9007199254740993}}',
  '{"metadata":{"name":"esc","uid":"u3","resourceVersion":"1","labels":{"a\\u0000b":"\\ud800"}},"status":{"phase":"\\u0041\\udfff\\u0000"}}',
  `{"metadata":{"name":"deep","uid":"u4","resourceVersion":"1"},"spec":${'['.repeat(1100)}${']'.repeat(1100)}}`,
  '{"metadata":{"name":"own","uid":"u5","resourceVersion":"1","ownerReferences":[{"uid":"o","controller":true},{"uid":"o"}],"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{}","x":"y"}},"spec":{"quantity":"1.5Gi"},"status":{"startTime":"2026-01-31T12:00:00.123456Z"}}',
  '{"metadata":{"name":"paths","uid":"u7","resourceVersion":"1","labels":{"a\\"b.c/d":"1","a.b/c":"2"}},"spec":{"list":[{"size":1},{"size":2}]},"status":{"conditions":[{"type":"Old","status":"x"},{"type":"Ready","status":"True"}]}}',
  '{"metadata":{"name":"none","uid":"u8","resourceVersion":"1"},"spec":null,"status":{"conditions":{"type":"Ready"},"phase":null}}',
  '{"kind":"Pod","metadata":{"name":"half","uid":"u9","resourceVersion":"1"}}',
  '{"metadata":{"name":"behind","uid":"u10","resourceVersion":"1"},"kind":"Other","apiVersion":"v2"}',
  '{ "metadata" : { "name" : "spaced", "uid" : "u12", "resourceVersion" : "1" } }',
  '{"metadata":{"name":"m","uid":"u","resourceVersion":"1"}}',
  // Bodies whose size is written in one, two and four bytes, and sizes near these limits.
  ...[1, 60, 100, 140, 200, 65_300, 65_400, 65_500, 66_000].map((size) =>
    JSON.stringify({
      metadata: { name: `of-${size}`, uid: `size-${size}`, resourceVersion: '1' },
      data: 'x'.repeat(size),
    }),
  ),
  '{"metadata":{"name":"secret","uid":"u6","resourceVersion":"1"},"data":{"a":"hidden"},"list":[{"token":"hidden","keep":1},{"token":"hidden"}]}',
];

test.each([
  ['nothing', []],
  ['fixed paths', ['data', 'spec.n']],
  ['paths through lists', ['data', 'list[].token']],
])('with %s redacted, what another thread made ready is stored as the texts are', async (_, redacted) => {
  const texts = [
    ...odd,
    ...Array.from({ length: 40 }, (__, index) => pod({ name: `p${index % 37}`, rv: index + 1 }).text),
  ];
  const plain = await stored(texts, redacted, 'plain');
  expect(await stored(texts, redacted, 'beside')).toEqual(plain);
  expect(await stored(texts, redacted, 'here')).toEqual(plain);
  if (redacted.length > 0) expect(JSON.stringify(plain)).not.toContain('hidden');
});

test('any objects: the same rows', async () => {
  const member = fc.constantFrom('spec', 'status', 'phase', 'n', 'labels', 'data', 'a"\\');
  const value = fc.oneof(fc.jsonValue(), fc.string({ unit: 'binary' }), fc.bigInt().map(String));
  const tree = fc.dictionary(member, fc.oneof(value, fc.dictionary(member, value)));
  const object = fc.record({ name: fc.constantFrom('a', 'b', 'c', 'd'), rv: fc.nat(), rest: tree });
  await fc.assert(
    fc.asyncProperty(fc.array(object, { minLength: 1, maxLength: 12 }), async (objects) => {
      const texts = objects.map(({ name, rv, rest }) => pod({ name, rv, rest }).text);
      for (const redacted of [[], ['data']]) {
        const plain = await stored(texts, redacted, 'plain');
        expect(await stored(texts, redacted, 'beside')).toEqual(plain);
        expect(await stored(texts, redacted, 'here')).toEqual(plain);
      }
    }),
    { numRuns: 10 },
  );
});

test('bytes that are no UTF-8 are stored as the text that is made of them', () => {
  const preparer = new Preparer({ names: { apiVersion: 'v1', kind: 'Pod' }, redacted: [], slots: [] });
  const json = (byte: string): Buffer =>
    Buffer.from(`{"metadata":{"name":"n","uid":"u","resourceVersion":"1","labels":{"a":"${byte}"}}}`, 'latin1');
  const [prepared] = preparer.prepare([{ text: json('\xff').toString(), bytes: json('\xff') }]);
  expect(prepared?.labels).toEqual([['a', '\ufffd']]);
  const [sound] = preparer.prepare([{ text: json('\xc3\xa9').toString(), bytes: json('\xc3\xa9') }]);
  expect(sound?.labels).toEqual([['a', 'é']]);
  expect(Buffer.from(prepared?.body ?? []).includes('\ufffd')).toBe(true);
});

test.each([
  '{metadata:{name:"a"}}',
  "{'metadata':{}}",
  '{"metadata":{"name":"a","uid":"u","resourceVersion":"1",}}',
  '[]',
  '{}',
  '{"metadata":{"name":1,"uid":"u","resourceVersion":"1"}}',
])('%s is refused', (text) => {
  const preparer = new Preparer({ names: { apiVersion: 'v1', kind: 'Pod' }, redacted: [], slots: [] });
  expect(() => preparer.prepare([{ text }])).toThrow(/The API server sent an object that/);
});

test('what was made ready by another recipe is refused', () => {
  const writer = openWriter(storeFile(), { checkpoints: 'inline' });
  const replace = writer.replace(writer.declare(describedResource({ promoted })));
  const { recipe } = replace;
  if (recipe === null) throw new Error('a first sync has a recipe');
  writer.declare(describedResource({ promoted: promoted.slice(1) }));
  expect(() => replace.putPrepared([], recipe)).toThrow(/begin another one/);
  writer.close();
});
