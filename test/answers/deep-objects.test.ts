/** Objects that nest deeper than SQLite reads JSON: their other fields are found, ordered, counted and compared as those of any object. */
import { expect, test } from 'vitest';
import { describedCrd, engineFixture, made } from '../kit/engine-fixture.ts';
import { nextOf, untilPhase } from '../kit/list-messages.ts';

const key = 'frees.example.com';
const anything = { 'x-kubernetes-preserve-unknown-fields': true };

/** The number has so many digits that JSON.parse needs a reviver. */
function deep(levels: number, text: string): string {
  const nested = `${'{"a":'.repeat(levels)}9007199254740993${'}'.repeat(levels)}`;
  return `{"any":${nested},"text":"${text}","list":["${text}"],"free":{"n":9007199254740993,"l":[{"n":2}]}}`;
}

function free(name: string, levels: number, text: string): string {
  return JSON.stringify(made({ name, spec: 'SPEC' })).replace('"SPEC"', () => deep(levels, text));
}

async function frees(redacted: readonly string[] = []) {
  const fixture = engineFixture();
  const properties = {
    any: anything,
    text: { type: 'string' },
    list: { type: 'array', items: { type: 'string' } },
    free: anything,
  };
  const described = describedCrd({
    kind: 'Free',
    plural: 'frees',
    properties: { spec: { type: 'object', properties } },
  });
  await fixture.declare({ ...described, redacted });
  await fixture.sync(key, [free('flat', 5, 'b'), free('deep', 5000, 'a'), free('deepest', 9990, 'c')]);
  const names = async (args: string): Promise<string[]> => {
    const { data, errors } = await fixture.query(
      `{ exampleComFrees(${args}) { totalCount nodes { metadata { name } } } }`,
    );
    expect(errors).toEqual([]);
    const { totalCount, nodes } = data.exampleComFrees;
    expect(totalCount).toBe(nodes.length);
    return nodes.map((node: { metadata: { name: string } }) => node.metadata.name);
  };
  return { fixture, names };
}

test('they are found by each kind of filter, and ordered', async () => {
  const { names } = await frees();
  expect(await names('filter: { spec: { text: { eq: "a" } } }')).toEqual(['deep']);
  expect(await names('filter: { spec: { text: { ne: "a" } } }')).toEqual(['deepest', 'flat']);
  expect(await names('filter: { spec: { list: { some: { eq: "c" } } } }')).toEqual(['deepest']);
  const path = (condition: string): Promise<string[]> => names(`filter: { path: [{ ${condition} }] }`);
  expect(await path('path: "spec.any", exists: true')).toEqual(['deep', 'deepest', 'flat']);
  expect(await path('path: "spec.any.a.a.a.a.a.a", exists: true')).toEqual(['deep', 'deepest']);
  expect(await path('path: "spec.free.n", eq: 9007199254740993')).toEqual(['deep', 'deepest', 'flat']);
  expect(await path('path: "spec.free.l[n=2].n", eq: 2')).toEqual(['deep', 'deepest', 'flat']);
  expect(await names('orderBy: [{ path: "spec.text" }]')).toEqual(['deep', 'flat', 'deepest']);
});

test('they are in groups, facets and aggregates', async () => {
  const { fixture } = await frees();
  const { data, errors } = await fixture.query(`{ exampleComFrees {
    facets(paths: ["spec.list[]"]) { values { value count } }
    aggregate { max(path: "spec.text") groups(by: ["spec.text"]) { keys aggregate { count } } }
  } }`);
  expect(errors).toEqual([]);
  const { facets, aggregate } = data.exampleComFrees;
  expect(facets[0].values.map(({ value }: { value: string }) => value)).toEqual(['a', 'b', 'c']);
  expect(aggregate.max).toBe('c');
  expect(aggregate.groups.map(({ keys }: { keys: string[] }) => keys[0])).toEqual(['a', 'b', 'c']);
});

test('a change of one is found by its paths, and is told to subscribers', async () => {
  const { fixture, names } = await frees();
  const events = await fixture.subscribe(
    'subscription { list: exampleComFreeChanges(filter: { spec: { text: { eq: "z" } } }) { phase changes { type object { metadata { name } } } } }',
  );
  await untilPhase(events, 'SYNCED');
  fixture.apply(key, 'MODIFIED', free('deep', 5001, 'z'));
  expect(await nextOf(events)).toMatchObject({ changes: [{ type: 'ADDED', object: { metadata: { name: 'deep' } } }] });
  expect(await names('filter: { spec: { text: { eq: "z" } } }')).toEqual(['deep']);
  const { data, errors } = await fixture.query('{ changes(since: "-1h") { nodes { name changedPaths } } }');
  expect(errors).toEqual([]);
  const longest = `spec.any${'.a'.repeat(98)}`;
  expect(data.changes.nodes).toEqual([{ name: 'deep', changedPaths: [longest, 'spec.list', 'spec.text'].sort() }]);
});

test('what is redacted is neither found nor shown, and all else is', async () => {
  const { fixture, names } = await frees(['spec.list[]', 'spec.free']);
  expect(await names('filter: { spec: { list: { some: { eq: "c" } } } }')).toEqual([]);
  expect(await names('filter: { path: [{ path: "spec.free", exists: true }] }')).toEqual([]);
  expect(await names('filter: { spec: { text: { eq: "a" } } }')).toEqual(['deep']);
  const { data } = await fixture.query(
    '{ exampleComFrees { nodes { spec { text list free } value(path: "spec.any.a.a.a.a.a.a") } } }',
  );
  expect(data.exampleComFrees.nodes[0].spec).toEqual({ text: 'a', list: [], free: null });
});
