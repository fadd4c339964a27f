/** A short document that shows one long value many times: each place counts, against the bound of an answer. */
import { expect, test, vi } from 'vitest';
import { stringify } from 'yaml';
import { answerPair } from '../kit/answer-pair.ts';
import { describedCrd, type EngineFixture, engineFixture, made } from '../kit/engine-fixture.ts';

vi.mock('yaml', async (original) => {
  const library = await original<typeof import('yaml')>();
  return { ...library, stringify: vi.fn(library.stringify) };
});

const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
const texts = { type: 'object', additionalProperties: { type: 'string' } };
const item = { type: 'object', properties: { text: { type: 'string' } } };
const properties = {
  spec: {
    type: 'object',
    properties: { any: anything, text: { type: 'string' }, texts, items: { type: 'array', items: item } },
  },
};
const kind = describedCrd({ kind: 'Free', plural: 'frees', properties });
const maxReadBytes = 1_000_000;
/** Each object has about 40,000 characters, in four parts. */
const part = 'x'.repeat(10_000);
const spec = { any: { part }, text: part, texts: { part }, items: [{ text: part }] };

async function fill(fixture: EngineFixture): Promise<void> {
  await fixture.declare(kind);
  await fixture.sync(
    'frees.example.com',
    ['a', 'b', 'c'].map((name) => made({ kind: 'Free', name, spec, metadata: { annotations: { part } } })),
  );
}

const aliases = (count: number, field: string): string =>
  Array.from({ length: count }, (_, at) => `a${at}: ${field}`).join(' ');

const selections: readonly [what: string, place: (fields: string) => string, field: string][] = [
  ['raw', (fields) => fields, 'raw'],
  ['value', (fields) => fields, 'value(path: "spec.any")'],
  ['values of lists', (fields) => fields, 'value(path: "spec.items[].text")'],
  ['annotations', (fields) => `metadata { ${fields} }`, 'annotations'],
  ['an annotation', (fields) => `metadata { ${fields} }`, 'annotation(key: "part")'],
  ['free JSON', (fields) => `spec { ${fields} }`, 'any'],
  ['a map', (fields) => `spec { ${fields} }`, 'texts'],
  ['a text', (fields) => `spec { ${fields} }`, 'text'],
  ['texts of lists', (fields) => `spec { items { ${fields} } }`, 'text'],
];

test.each(selections)('%s', async (_what, place, field) => {
  const fixture = engineFixture({ maxReadBytes });
  await fill(fixture);
  const ask = (count: number) => fixture.query(`{ exampleComFrees { nodes { ${place(aliases(count, field))} } } }`);
  const once = await ask(1);
  expect(once.errors).toEqual([]);
  const often = await ask(150);
  expect(often.errors.map(({ originalError }) => originalError)).toEqual([
    expect.objectContaining({ code: 'QUERY_TOO_COSTLY', details: { limit: 'characters', allowed: maxReadBytes / 2 } }),
  ]);
  expect(JSON.stringify(often.data).length).toBeLessThan(maxReadBytes);
});

test.each(selections.slice(3))('prepared and executed answers are the same: %s', async (_what, place, field) => {
  const pair = await answerPair({ maxReadBytes: 1_400_000 });
  await fill(pair.fixture);
  for (const count of [1, 4, 5, 20, 150]) {
    const body = JSON.stringify({ query: `{ exampleComFrees { nodes { ${place(aliases(count, field))} } } }` });
    for (let time = 0; time < 3; time += 1) {
      const [mine, executors] = await pair.ask(body);
      expect(mine).toEqual(executors);
    }
  }
});

test.each([
  ['keys of groups', (many: string) => `aggregate { groups(by: ["spec.text"]) { ${many} } }`, 'keys'],
  ['cursors of groups', (many: string) => `aggregate { groups(by: ["spec.text"]) { ${many} } }`, 'cursor'],
  ['cursors of edges', (many: string) => `edges { ${many} }`, 'cursor'],
])('texts that cannot be null: %s', async (_what, place, field) => {
  const fixture = engineFixture({ maxReadBytes });
  await fill(fixture);
  const ordered = '(orderBy: [{ path: "spec.text" }])';
  const ask = (count: number) =>
    fixture.query(`{ exampleComFrees${ordered} { totalCount ${place(aliases(count, field))} } }`);
  expect((await ask(1)).errors).toEqual([]);
  const often = await ask(150);
  expect(often.errors.length).toBeGreaterThan(0);
  for (const { originalError } of often.errors) expect(originalError).toMatchObject({ code: 'QUERY_TOO_COSTLY' });
  expect(JSON.stringify(often.data ?? null).length).toBeLessThan(maxReadBytes);
});

test('after the bound, a page tells where it ends', async () => {
  const fixture = engineFixture({ maxReadBytes });
  await fill(fixture);
  const { data } = await fixture.query(
    `{ exampleComFrees(first: 2) { nodes { ${aliases(150, 'raw')} } pageInfo { hasNextPage endCursor } } }`,
  );
  expect(data.exampleComFrees.pageInfo).toEqual({ hasNextPage: true, endCursor: expect.any(String) });
});

test('several lists of one page repeat its values', async () => {
  const pair = await answerPair({ maxReadBytes: 1_400_000 });
  await fill(pair.fixture);
  const nodes = Array.from({ length: 60 }, (_, at) => `n${at}: nodes { spec { text } }`).join(' ');
  const [mine, executors] = await pair.ask(JSON.stringify({ query: `{ exampleComFrees { ${nodes} } }` }));
  expect(mine).toEqual(executors);
  expect(mine.text.match(/QUERY_TOO_COSTLY/g)).toHaveLength(1);
});

test('the text of an object as YAML is made once', async () => {
  const made = vi.mocked(stringify);
  made.mockClear();
  const fixture = engineFixture();
  await fill(fixture);
  const { data, errors } = await fixture.query(`{ exampleComFrees { nodes { ${aliases(100, 'yaml')} } } }`);
  expect(errors).toEqual([]);
  expect(made).toHaveBeenCalledTimes(3);
  for (const node of data.exampleComFrees.nodes) expect(new Set(Object.values(node)).size).toBe(1);
});

test('texts of more objects than the bound allows are not made', async () => {
  const made = vi.mocked(stringify);
  made.mockClear();
  const fixture = engineFixture({ maxReadBytes });
  await fill(fixture);
  // Each object counts eight times its 50,000 characters.
  const { errors } = await fixture.query('{ exampleComFrees { nodes { yaml } } }');
  expect(errors.map(({ originalError }) => originalError)).toEqual([
    expect.objectContaining({ code: 'QUERY_TOO_COSTLY' }),
  ]);
  expect(made).toHaveBeenCalledTimes(1);
});

test('a page of 200 objects of 5 KB is allowed by default', async () => {
  const fixture = engineFixture();
  await fixture.declare(kind);
  const names = Array.from({ length: 200 }, (_, at) => `n${at}`);
  await fixture.sync(
    'frees.example.com',
    names.map((name) => made({ kind: 'Free', name, spec: { text: 'x'.repeat(5000) } })),
  );
  const { data, errors } = await fixture.query('{ exampleComFrees(first: 200) { nodes { raw yaml } } }');
  expect(errors).toEqual([]);
  expect(data.exampleComFrees.nodes).toHaveLength(200);
});
