import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type ListHead, type ListItem, ListSlicer } from './list-slicer.ts';
import { splitManagedFields } from './managed-fields.ts';
import { ProtocolError } from './protocol-error.ts';

function slice(chunks: readonly Buffer[], slicer = new ListSlicer()): { items: string[]; head: ListHead } {
  const items = chunks.flatMap((chunk) => texts(slicer.push(chunk)));
  return { items, head: slicer.end() };
}

const texts = (items: Iterable<ListItem>): string[] => Array.from(items, ({ text }) => text);

const items = [
  '{"metadata":{"name":"a","n":9007199254740993},"s":"br}ace ] \\" \\\\"}',
  '{ "x" : [ {}, [ "😀\u2028" ] ] }',
  '{}',
];
const metadata = '"metadata":{"resourceVersion":"42","continue":"tok\\"en","remainingItemCount":7}';
const head = { kind: 'PodList', resourceVersion: '42', continueToken: 'tok"en', remaining: 7 };
const before = `{"kind":"PodList","apiVersion":"v1",${metadata},"items":[${items.join(',')}]}\n`;
const after = ` { "items" : [ ${items.join(' ,\n')} ] , "kind":"PodList","extra":[1,{"items":[]}],"n":1.5e3,${metadata} } `;

test.each([
  ['before', before],
  ['after', after],
])('metadata may stand %s the items, cut at every position', (_, text) => {
  const bytes = Buffer.from(text);
  for (let at = 0; at <= bytes.length; at += 1) {
    expect(slice([bytes.subarray(0, at), bytes.subarray(at)])).toEqual({ items, head });
  }
  expect(slice([...bytes].map((byte) => Buffer.from([byte])))).toEqual({ items, head });
});

test('F52: no items, and items that are null', () => {
  const empty = { kind: 'PodList', resourceVersion: '1', continueToken: '', remaining: null };
  for (const none of ['[]', '[ ]', 'null', ' null ']) {
    const text = `{"kind":"PodList","metadata":{"resourceVersion":"1"},"items":${none}}`;
    expect(slice([...Buffer.from(text)].map((byte) => Buffer.from([byte])))).toEqual({ items: [], head: empty });
  }
});

test('F12: a body that ends early is an error, wherever it ends', () => {
  const bytes = Buffer.from(before.trimEnd());
  for (let end = 0; end < bytes.length; end += 1) {
    expect(() => slice([bytes.subarray(0, end)])).toThrow(ProtocolError);
  }
});

test.each([
  ['a Status', '{"kind":"Status","code":500}', /sent Status instead/],
  ['HTML', '<html>', /not JSON/],
  ['an array', '[]', /not JSON/],
  ['items that are an object', '{"items":{}}', /items are no list/],
  ['items that are no objects', '{"items":[1]}', /not JSON/],
  ['something behind the list', '{"items":[]}{', /not JSON/],
])('%s is no list', (_, text, message) => {
  expect(() => slice([Buffer.from(text)])).toThrow(message);
});

test('F37: an item over the cap is a typed error', () => {
  expect(() => slice([Buffer.from('{"items":[{"a":"'), Buffer.from('123456789')], new ListSlicer(8))).toThrow(
    /more than 8 bytes/,
  );
});

test('any list in any chunks comes out as it went in', () => {
  const object = fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue());
  const space = fc.constantFrom(undefined, 1, '\t');
  fc.assert(
    fc.property(fc.array(object), space, fc.boolean(), fc.array(fc.nat()), (objects, indent, first, cuts) => {
      const meta = { resourceVersion: '5', continue: 'c' };
      const list = first
        ? { kind: 'L', metadata: meta, items: objects }
        : { items: objects, metadata: meta, kind: 'L' };
      const bytes = Buffer.from(JSON.stringify(list, null, indent));
      const at = [...new Set(cuts.map((each) => each % bytes.length))].sort((a, b) => a - b);
      const chunks = [0, ...at].map((from, index) => bytes.subarray(from, at[index] ?? bytes.length));
      const found = slice(chunks);
      expect(found.items.map((item) => JSON.parse(item))).toEqual(JSON.parse(JSON.stringify(objects)));
      expect(found.head).toEqual({ kind: 'L', resourceVersion: '5', continueToken: 'c', remaining: null });
    }),
  );
});

const managed = '"managedFields":[{"manager":"a\\"}]","fieldsV1":{"f:x":{".":{}}}}]';

test.each([
  ['first', `{"metadata":{${managed},"name":"a"},"x":1}`, '{"metadata":{"name":"a"},"x":1}'],
  ['between', `{"metadata":{"name":"a",${managed},"uid":"b"},"x":1}`, '{"metadata":{"name":"a","uid":"b"},"x":1}'],
  ['last', `{"kind":"K","metadata":{"name":"é",${managed}},"x":1}`, '{"kind":"K","metadata":{"name":"é"},"x":1}'],
  ['alone', `{"metadata":{${managed}}}`, '{"metadata":{}}'],
])('managedFields are cut out, %s in the metadata', (_, item, rest) => {
  const bytes = Buffer.from(`{"items":[${item},${item}]}`);
  expect(slice([bytes]).items).toEqual([rest, rest]);
  for (let at = 0; at <= bytes.length; at += 1) {
    expect(slice([bytes.subarray(0, at), bytes.subarray(at)]).items).toEqual([rest, rest]);
  }
});

test.each([
  ['of a field of another name', `{"spec":{${managed}},"metadata":{"name":"a"}}`],
  ['deeper', `{"metadata":{"annotations":{${managed}}}}`],
  ['in a value', '{"metadata":{"name":"managedFields","uid":"managedFields\\":[1]"}}'],
  ['behind metadata', `{"metadata":{"name":"a"},"s":"x",${managed}}`],
  ['spaced otherwise', `{"metadata": {${managed}}}`],
  ['null', '{"metadata":{"managedFields":null}}'],
])('nothing else is cut out: %s', (_, item) => {
  const bytes = Buffer.from(`{"items":[${item},{}]}`);
  for (let at = 0; at <= bytes.length; at += 1) {
    expect(slice([bytes.subarray(0, at), bytes.subarray(at)]).items).toEqual([item, '{}']);
  }
});

test('lists that stream at the same time do not disturb each other', () => {
  const item = (name: string): string => `{"metadata":{"name":"${name}","x":[{"y":"${'z'.repeat(50)}"}]}}`;
  const names = ['a', 'b', 'c'];
  const lists = names.map((name) => Buffer.from(`{"items":[${item(name)},${item(name)},${item(name)}]}`));
  const slicers = lists.map(() => new ListSlicer());
  const streams = slicers.map((slicer, index) => slicer.push(lists[index] ?? Buffer.alloc(0)));
  for (const _ of names) {
    expect(streams.map((stream) => stream.next().value?.text)).toEqual(names.map(item));
  }
  // The same buffer with new content.
  const chunk = Buffer.from(`{"items":[${item('a')},`);
  const slicer = new ListSlicer();
  expect(texts(slicer.push(chunk))).toEqual([item('a')]);
  const rest = Buffer.from(`${item('b')}]}`);
  rest.copy(chunk);
  expect(texts(slicer.push(chunk.subarray(0, rest.length)))).toEqual([item('b')]);
});

test('what is cut out is what a parser would remove, for any object', () => {
  const json = fc.jsonValue({ maxDepth: 2 });
  const member = fc.oneof(fc.constantFrom('metadata', 'managedFields', 'name', 'spec', 'a"b\\'), fc.string());
  const inner = fc.dictionary(member, json);
  const object = fc.dictionary(member, fc.oneof(inner, json)).chain((rest) =>
    fc.record({
      rest: fc.constant(rest),
      metadata: inner,
      managed: fc.array(json),
      at: fc.nat({ max: 9 }),
      cut: fc.nat(),
    }),
  );
  fc.assert(
    fc.property(object, ({ rest, metadata, managed: fields, at, cut }) => {
      const entries = Object.entries(metadata).filter(([name]) => name !== 'managedFields');
      const item = { ...rest, metadata: Object.fromEntries(entries.toSpliced(at, 0, ['managedFields', fields])) };
      const text = JSON.stringify(item);
      const bytes = Buffer.from(`{"items":[${text}]}`);
      const place = cut % (bytes.length + 1);
      const whole = JSON.stringify({ ...item, metadata: Object.fromEntries(entries) });
      expect(JSON.parse(slice([bytes]).items[0] ?? '')).toEqual(JSON.parse(whole));
      const { rest: kept, managedFields } = splitManagedFields(Buffer.from(text));
      expect(JSON.parse(kept.toString())).toEqual(JSON.parse(whole));
      expect(JSON.parse(managedFields ?? '')).toEqual(JSON.parse(JSON.stringify(fields)));
      const [cutInTwo = ''] = slice([bytes.subarray(0, place), bytes.subarray(place)]).items;
      expect(JSON.parse(cutInTwo)).toEqual(JSON.parse(whole));
    }),
  );
});
