/** Relations whose references state their kind. */
import { expect, test } from 'vitest';
import { must } from '../../src/base/must.ts';
import { made } from '../kit/engine-fixture.ts';
import { gadgets, widgets } from '../kit/graphql-world.ts';
import { scopedStore, worldKinds } from '../kit/scoped-world.ts';

test('the edges of a relation to several objects of any kind have the paths of their references', async () => {
  const { pair, fill } = await scopedStore();
  const placed = (key: string, namespace: string | null, name: string, spec: object) => {
    const object = made({ name, namespace, spec, metadata: { uid: `u-${name}` } });
    return { cluster: 'east', key, namespace, name, object };
  };
  const ref = (kind: string, name: string) => ({ kind, group: 'example.com', name });
  const refs = [ref('Widget', 'b'), ref('Gadget', 'g1'), ref('Widget', 'b'), ref('Widget', 'gone')];
  await fill([
    placed(widgets, 'n0', 'a', { refs }),
    placed(widgets, 'n0', 'b', {}),
    placed(gadgets, null, 'g1', { name: 'x' }),
  ]);
  const query =
    '{ exampleComWidgets(first: 1) { nodes { sources { totalCount edges { via node { kind metadata { name } } } } } } }';
  for (const { text } of await pair.ask(JSON.stringify({ query }))) {
    const { data, errors } = JSON.parse(text);
    expect(errors).toBeUndefined();
    const edge = (kind: string, name: string) => ({ via: ['spec.refs[].name'], node: { kind, metadata: { name } } });
    expect(data.exampleComWidgets.nodes[0].sources).toEqual({
      totalCount: 2,
      edges: [edge('Gadget', 'g1'), edge('Widget', 'b')],
    });
  }
});

test.each([
  ['a relation to any kind', 'sources', 'filter: { path: [{ path: "health.nope", eq: "x" }] }'],
  ['a relation to any kind, in its order', 'sources', 'orderBy: [{ path: "spec.nope" }]'],
  ['a relation to one kind', 'selected', 'filter: { path: [{ path: "spec.nope", eq: "x" }] }'],
])('the arguments of %s are read once for all objects of the page', async (_of, field, args) => {
  const { pair, fill } = await scopedStore();
  const names = ['a', 'b', 'c'];
  await fill(
    names.map((name) => ({
      cluster: 'east',
      key: widgets,
      namespace: 'n0',
      name,
      object: made({ name, namespace: 'n0', spec: {}, metadata: { uid: `u-${name}` } }),
    })),
  );
  const { errors } = await pair.fixture.query(
    `{ exampleComWidgets(first: 3) { nodes { ${field}(${args}) { totalCount } } } }`,
  );
  expect(errors).toHaveLength(names.length);
  expect(errors[0]?.originalError).toMatchObject({ code: 'BAD_USER_INPUT' });
  expect(new Set(errors.map(({ originalError }) => originalError)).size).toBe(1);
});

test('a search through a relation to any kind is guarded by the index of all kinds', async () => {
  const { pair, fill } = await scopedStore();
  await fill([]);
  const { query, statements } = pair.fixture;
  const kindsOfGuard = async (relation: string): Promise<number> => {
    const before = statements.length;
    const filter = `{ ${relation}: { some: { search: "web" } } }`;
    const { errors } = await query(`{ exampleComWidgets(filter: ${filter}) { totalCount } }`);
    expect(errors).toEqual([]);
    const guards = statements
      .slice(before)
      .filter(({ sql }) => sql.includes('watermark') && sql.startsWith('SELECT paths'));
    // The last parameter is the limit.
    return must(guards[0], 'the guard').params.slice(0, -1).length;
  };
  expect(await kindsOfGuard('sources')).toBe(worldKinds.length);
});

test('a graph through a relation to any kind takes one statement more than through one to a kind, for any number of objects', async () => {
  const { pair, fill } = await scopedStore();
  const { query, statements } = pair.fixture;
  const names = Array.from({ length: 8 }, (_, index) => `b${index}`);
  const placed = (name: string, spec: object) => {
    const object = made({ name, namespace: 'n0', spec, metadata: { uid: `u-${name}` } });
    return { cluster: 'east', key: widgets, namespace: 'n0', name, object };
  };
  const ref = (name: string) => ({ kind: 'Widget', group: 'example.com', name });
  await fill([
    placed('one', { refs: names.slice(0, 1).map(ref) }),
    placed('many', { refs: names.map(ref) }),
    placed('of-kind', { tags: names }),
    ...names.map((name) => placed(name, {})),
  ]);
  const statementsOf = async (name: string): Promise<readonly [objects: number, statements: number]> => {
    const before = statements.length;
    const { data, errors } = await query(
      `{ exampleComWidget(cluster: "east", namespace: "n0", name: "${name}") { graph(depth: 1) { nodes { id } edges { relation } } } }`,
    );
    expect(errors).toEqual([]);
    return [data.exampleComWidget.graph.nodes.length, statements.length - before];
  };
  // What is read once for a generation.
  await statementsOf('of-kind');
  const [objects, ofKind] = await statementsOf('of-kind');
  expect(objects).toBe(9);
  // One statement finds the kinds of the references.
  expect(await statementsOf('many')).toEqual([9, ofKind + 1]);
  expect(await statementsOf('one')).toEqual([2, ofKind + 1]);
});
