/** Past states that a document selects many times: each is parsed and compared once. */
import { expect, test, vi } from 'vitest';
import { changedPaths } from '../../src/catalog/values/changed-paths.ts';
import { parseExact } from '../../src/catalog/values/values.ts';
import { engineFixture, made } from '../kit/engine-fixture.ts';
import { widget, widgets } from '../kit/graphql-world.ts';

vi.mock('../../src/catalog/values/values.ts', async (original) => {
  const values = await original<typeof import('../../src/catalog/values/values.ts')>();
  return { ...values, parseExact: vi.fn(values.parseExact) };
});
vi.mock('../../src/catalog/values/changed-paths.ts', async (original) => {
  const paths = await original<typeof import('../../src/catalog/values/changed-paths.ts')>();
  return { ...paths, changedPaths: vi.fn(paths.changedPaths) };
});

test('150 aliases of the states and the changed paths of an object, on two pages', async () => {
  const fixture = engineFixture();
  await fixture.declare(widget());
  const state = (replicas: number) => made({ name: 'a', spec: { name: 'past', replicas } });
  await fixture.sync(widgets, [state(0)]);
  for (const replicas of [1, 2, 3]) fixture.apply(widgets, 'MODIFIED', state(replicas));
  const aliases = Array.from({ length: 50 }, (_, at) =>
    [
      `a${at}: object { id }`,
      `b${at}: before { ... on ExampleComWidget { spec { replicas } } }`,
      `c${at}: changedPaths`,
    ].join(' '),
  ).join(' ');
  const history = `history(first: 3) { nodes { ${aliases} } }`;
  vi.mocked(parseExact).mockClear();
  vi.mocked(changedPaths).mockClear();
  const { data, errors } = await fixture.query(
    `{ exampleComWidget(namespace: "default", name: "a") { h0: ${history} h1: ${history} } }`,
  );
  expect(errors).toEqual([]);
  for (const { nodes } of Object.values(data.exampleComWidget) as { nodes: Record<string, unknown>[] }[]) {
    expect(nodes.map(({ b49, c49 }) => [b49, c49])).toEqual(
      [2, 1, 0].map((replicas) => [{ spec: { replicas } }, ['spec.replicas']]),
    );
  }
  // Three changes, with two states each.
  expect(vi.mocked(parseExact).mock.calls.filter(([text]) => text.includes('"past"'))).toHaveLength(6);
  expect(changedPaths).toHaveBeenCalledTimes(3);
});
