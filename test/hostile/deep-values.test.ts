/** Free JSON that nests deeper than writers of JSON can go: an error at the field, and the rest of the page, in every kind of answer. */
import { createClient } from 'graphql-ws';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { describedCrd, engineFixture, made } from '../kit/engine-fixture.ts';
import { serveFixture } from '../kit/served-fixture.ts';

const key = 'frees.example.com';
const anything = { 'x-kubernetes-preserve-unknown-fields': true };

const nested = (depth: number, kind: 'lists' | 'objects'): string =>
  kind === 'lists' ? `${'['.repeat(depth)}1${']'.repeat(depth)}` : `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;

const object = (name: string, depth: number, kind: 'lists' | 'objects' = 'lists'): string =>
  JSON.stringify(made({ kind: 'Free', name, spec: { any: 'DEEP', plain: name } })).replace(
    '"DEEP"',
    nested(depth, kind),
  );

async function world(objects: readonly string[]) {
  const fixture = engineFixture();
  const properties = { spec: { type: 'object', properties: { any: anything, plain: { type: 'string' } } } };
  await fixture.declare(describedCrd({ kind: 'Free', plural: 'frees', properties }));
  await fixture.sync(key, objects);
  return { fixture, server: await serveFixture(fixture) };
}

interface Answer {
  readonly data: { readonly exampleComFrees: { readonly nodes: readonly Record<string, unknown>[] } } | null;
  readonly errors?: readonly { readonly path: readonly unknown[]; readonly extensions: { readonly code: string } }[];
}

async function ask(url: string, query: string): Promise<Answer> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ query }) });
  return (await response.json()) as Answer;
}

const fields: readonly [field: string, path: readonly string[]][] = [
  ['deep: raw', ['deep']],
  ['deep: yaml', ['deep']],
  ['deep: value(path: "spec")', ['deep']],
  ['deep: value(path: "spec.any")', ['deep']],
  ['deep: value(path: "spec.any[]")', ['deep']],
  ['spec { deep: any }', ['spec', 'deep']],
];

test.each(
  fields.flatMap(([field, path]) =>
    ([1100, 5000, 9000] as const).flatMap((depth) =>
      (['lists', 'objects'] as const)
        .filter((kind) => !(field.includes('[]') && kind === 'objects'))
        .map((kind) => [field, depth, kind, path] as const),
    ),
  ),
)('%s of %i levels of %s', async (field, depth, kind, path) => {
  const { server } = await world([object('a', 1), object('b', depth, kind), object('c', 3)]);
  const query = `{ exampleComFrees { nodes { metadata { name } ${field} } } }`;
  // The second answer may be prepared, the third one kept.
  for (const _turn of [1, 2, 3]) {
    const { data, errors = [] } = await ask(server.url, query);
    expect(errors.map((error) => [error.path, error.extensions.code])).toEqual([
      [['exampleComFrees', 'nodes', 1, ...path], 'QUERY_TOO_COSTLY'],
    ]);
    const nodes = data?.exampleComFrees.nodes ?? [];
    expect(nodes.map((node) => (node['metadata'] as { name: string }).name)).toEqual(['a', 'b', 'c']);
    expect(JSON.stringify(nodes[1])).not.toContain('[[[');
    expect(JSON.stringify(nodes[2])).toContain('1');
  }
});

test.each([20, 250, 900])('%i levels are shown as ever, prepared and executed', async (depth) => {
  const { server, fixture } = await world([object('a', depth)]);
  const query = '{ exampleComFrees { nodes { metadata { name } spec { any } } } }';
  const executed = await fixture.query(query);
  expect(executed.errors).toEqual([]);
  for (const _turn of [1, 2, 3]) {
    expect((await ask(server.url, query)).data).toEqual(JSON.parse(JSON.stringify(executed.data)));
  }
  const { errors } = await ask(server.url, '{ exampleComFrees { nodes { raw value(path: "spec.any") } } }');
  expect(errors).toBeUndefined();
  const yaml = await ask(server.url, '{ exampleComFrees { nodes { yaml } } }');
  expect(yaml.errors?.map(({ extensions }) => extensions.code)).toEqual(depth < 300 ? undefined : ['QUERY_TOO_COSTLY']);
});

test('what is not deep of a deep object is shown without an error', async () => {
  const { server } = await world([object('b', 5000)]);
  const query =
    '{ exampleComFrees { nodes { metadata { name } spec { plain } columns { value } value(path: "spec.plain") } } }';
  const { data, errors } = await ask(server.url, query);
  expect(errors).toBeUndefined();
  expect(data?.exampleComFrees.nodes).toMatchObject([{ spec: { plain: 'b' }, value: 'b' }]);
});

test.each([
  [
    'a live list',
    'subscription { exampleComFreeChanges { changes { object { metadata { name } raw yaml spec { any } } } } }',
  ],
  [
    'a live list with changed paths',
    'subscription { exampleComFreeChanges { changes { changedPaths object { metadata { name } raw } } } }',
  ],
  ['a live query', 'query @live { exampleComFrees { nodes { metadata { name } raw } } }'],
])('%s goes on after a message with a deep object', async (_what, query) => {
  const { fixture, server } = await world([object('a', 1)]);
  const url = server.url.replace(/^http/, 'ws');
  const client = createClient({ url, webSocketImpl: WebSocket, retryAttempts: 0 });
  onTestFinished(() => client.dispose());
  const texts: string[] = [];
  client.subscribe(
    { query },
    {
      next: (value) => void texts.push(JSON.stringify(value)),
      error: (error) => void texts.push(`failed ${JSON.stringify(error)}`),
      complete: () => void texts.push('complete'),
    },
  );
  await expect.poll(() => texts.join()).toContain('"a"');
  fixture.apply(key, 'ADDED', object('b', 5000));
  await expect.poll(() => texts.join()).toContain('"b"');
  expect(texts.join()).toContain('QUERY_TOO_COSTLY');
  fixture.apply(key, 'ADDED', made({ kind: 'Free', name: 'late', spec: { plain: 'x' } }));
  // A live query with errors rests for five seconds.
  await expect.poll(() => texts.join(), { timeout: 20_000 }).toContain('"late"');
  expect(texts.join()).not.toMatch(/INTERNAL_SERVER_ERROR|failed|complete/);
});
