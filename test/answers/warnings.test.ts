/** Names that can be known to match nothing, and groups that merge clusters, in `extensions.portolan.warnings`. */
import { expect, test } from 'vitest';
import { must } from '../../src/base/must.ts';
import { answerPair } from '../kit/answer-pair.ts';
import { made } from '../kit/engine-fixture.ts';
import { widget, widgets } from '../kit/graphql-world.ts';
import { describeSimulatedKinds } from '../kit/simulated-kinds.ts';

async function world() {
  const pair = await answerPair();
  const { fixture } = pair;
  const described = await describeSimulatedKinds({ objects: 'empty' });
  const namespace = must(
    described.find(({ resource }) => resource.plural === 'namespaces'),
    'namespaces',
  );
  const namespaces = (cluster: string) => ({ ...namespace, cluster });
  await fixture.declare(widget('east'), widget('west'), namespaces('east'), namespaces('west'));
  for (const cluster of ['east', 'west']) {
    await fixture.sync('namespaces', [made({ name: 'default', namespace: null })], cluster);
    await fixture.sync(widgets, [made({ name: 'a', spec: { name: 'x' } })], cluster);
  }
  /** The warnings of the executor, after both ways gave one answer. */
  const warnings = async (query: string): Promise<unknown> => {
    const [prepared, executed] = await pair.ask(JSON.stringify({ query }));
    const [first, second] = [prepared, executed].map(({ text }) => JSON.parse(text));
    expect(first).toEqual(second);
    expect(first.errors).toBeUndefined();
    return second.extensions.portolan.warnings;
  };
  return warnings;
}

test.each<[string, string, readonly string[]]>([
  ['a namespace', 'filter: { namespaces: ["defualt"] }', ['There is no namespace "defualt" in any cluster.']],
  [
    'one of several',
    'filter: { or: [{ namespaces: ["none"] }, { clusters: ["north"] }] }',
    ['There is no cluster "north"; there are east, west.', 'There is no namespace "none" in any cluster.'],
  ],
])('%s that does not exist is named where nothing matches', async (_what, args, expected) => {
  const warnings = await world();
  const at = (path: string) => expected.map((message) => ({ path: [path], message }));
  expect(await warnings(`{ exampleComWidgets(${args}) { nodes { metadata { name } } } }`)).toEqual(
    at('exampleComWidgets'),
  );
  expect(await warnings(`{ n: exampleComWidgets(${args}) { totalCount } }`)).toEqual(at('n'));
});

test.each([
  'filter: { namespaces: ["default"] }',
  'filter: { namespaces: ["default", "none"] }',
  // A page of no objects, of a list with a match.
  'filter: { namespaces: ["default", "none"] }, first: 0',
  'filter: { namespaces: ["default", "none"] }, last: 0',
  'filter: { namespaces: ["default"], clusters: ["east"], metadata: { name: { eq: "b" } } }',
  'filter: { not: { namespaces: ["none"] }, metadata: { name: { eq: "b" } } }',
])('no warning where objects match, or the names exist: %s', async (args) => {
  const warnings = await world();
  expect(await warnings(`{ exampleComWidgets(${args}) { nodes { metadata { name } } } }`)).toBeUndefined();
});

test('groups by a name that merge clusters are named; those by cluster, or of one cluster, are not', async () => {
  const warnings = await world();
  const groups = (by: string, filter = '') =>
    warnings(`{ exampleComWidgets${filter} { aggregate { groups(by: ${by}) { keys } } } }`);
  expect(await groups('["metadata.name"]')).toEqual([
    { path: ['exampleComWidgets', 'aggregate', 'groups'], message: expect.stringContaining('add "cluster" to `by`') },
  ]);
  expect(await groups('["cluster", "metadata.name"]')).toBeUndefined();
  expect(await groups('["status.phase"]')).toBeUndefined();
  expect(await groups('["metadata.name"]', '(filter: { clusters: ["east"] })')).toBeUndefined();
});

test.each([
  ['spec: { name: { eq: "X" } }', 'spec.name "X"'],
  ['spec: { name: { in: ["Y", "X"] } }, metadata: { name: { eq: "A" } }', 'metadata.name "A" and spec.name "Y", "X"'],
  ['spec: { name: { startsWith: "X" } }', 'spec.name "X"'],
])('a text that differs by letter case is named where nothing matches: %s', async (filter, texts) => {
  const warnings = await world();
  const message = `Letter case counts, and only in another one there is ${texts}: write it so, or add ignoreCase: true.`;
  const at = (path: string) => [{ path: [path], message }];
  expect(await warnings(`{ exampleComWidgets(filter: { ${filter} }) { nodes { metadata { name } } } }`)).toEqual(
    at('exampleComWidgets'),
  );
  expect(await warnings(`{ n: exampleComWidgets(filter: { ${filter} }) { totalCount } }`)).toEqual(at('n'));
});

test.each([
  'spec: { name: { eq: "z" } }',
  'spec: { name: { eq: "X", ignoreCase: true } }',
  'spec: { name: { ne: "X" } }',
])('no warning of letter case for %s', async (filter) => {
  const warnings = await world();
  expect(await warnings(`{ exampleComWidgets(filter: { ${filter} }) { totalCount } }`)).toBeUndefined();
});
