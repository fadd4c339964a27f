/** Values that the API server takes, and stored values that no longer fit their schema: found, ordered and shown, or an error at the field. */
import { createClient } from 'graphql-ws';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { rawJson } from '../../src/catalog/values/raw-json.ts';
import { describedCrd, engineFixture, made, type Schema } from '../kit/engine-fixture.ts';
import { nextOf, untilPhase } from '../kit/list-messages.ts';
import { serveFixture } from '../kit/served-fixture.ts';

const key = 'frees.example.com';
const anything = { 'x-kubernetes-preserve-unknown-fields': true };

/** A world with objects of the kind Free; a spec may be JSON text, for numbers that JavaScript has not. */
async function frees(properties: Schema, specs: Readonly<Record<string, Schema | string>>) {
  const fixture = engineFixture();
  const spec = { type: 'object', properties };
  await fixture.declare(describedCrd({ kind: 'Free', plural: 'frees', properties: { spec } }));
  const objects = Object.entries(specs).map(([name, given]) =>
    JSON.stringify(made({ name, spec: 'SPEC' })).replace(
      '"SPEC"',
      typeof given === 'string' ? given : JSON.stringify(given),
    ),
  );
  await fixture.sync(key, objects);
  /** The names of the matches, in the order of the list. */
  const names = async (args: string): Promise<string[]> => {
    const { data, errors } = await fixture.query(`{ exampleComFrees(${args}) { nodes { metadata { name } } } }`);
    expect(errors).toEqual([]);
    return data.exampleComFrees.nodes.map((node: { metadata: { name: string } }) => node.metadata.name);
  };
  return { fixture, names };
}

test('V3: durations and times are found and ordered as the API server takes them', async () => {
  const { names } = await frees(
    { for: { type: 'string', format: 'duration' }, at: { type: 'string', format: 'date-time' } },
    {
      a: { for: '1 week', at: '2026-03-01t10:00:00z' },
      b: { for: '1d', at: '2026-03-01T09:00:00Z' },
      c: { for: '3 days', at: '2026-03-01T09:30:00,5Z' },
      d: { for: 'PT5M', at: '2026-03-01T12:00:00Z' },
      e: { for: '1h 30m', at: '2026-03-01T11:00:00+00:00' },
    },
  );
  expect(await names('orderBy: [{ path: "spec.for" }]')).toEqual(['d', 'e', 'b', 'c', 'a']);
  expect(await names('filter: { spec: { for: { gt: "24h" } } }')).toEqual(['a', 'c']);
  expect(await names('filter: { spec: { for: { eq: "24h" } } }')).toEqual(['b']);
  expect(await names('filter: { spec: { for: { in: ["1 day", "90m"] } } }')).toEqual(['b', 'e']);
  expect(await names('orderBy: [{ path: "spec.at" }]')).toEqual(['b', 'c', 'a', 'e', 'd']);
  expect(await names('filter: { spec: { at: { eq: "2026-03-01T10:00:00Z" } } }')).toEqual(['a']);
});

/** Labels of the objects that the selectors below are asked of. */
const labelled: readonly Readonly<Record<string, string>>[] = [
  {},
  { x: '5' },
  { x: '' },
  { x: '10', app: 'web' },
  { x: 'a', app: '' },
  { in: '1', x: '007' },
  { x: '99999999999999999999' },
];

/** Label selectors, and which of the objects labels.Parse of the API server 1.37 matches; null for a selector that it refuses. */
const selectors: readonly (readonly [selector: string, matches: string | null])[] = [
  ['', '1111111'],
  ['x', '0111111'],
  ['!x', '1000000'],
  ['! x', '1000000'],
  ['x=5', '0100000'],
  ['x==5', '0100000'],
  ['x!=5', '1011111'],
  ['x=', '0010000'],
  ['x!=', '1101111'],
  ['x=,app', '0000000'],
  ['x in (5)', '0100000'],
  ['x in(5)', '0100000'],
  ['x in ( 5 , 10 )', '0101000'],
  ['x in ()', '0010000'],
  ['x in ( )', '0010000'],
  ['x notin ()', '1101111'],
  ['x in (,)', '0010000'],
  ['x in (,5)', '0110000'],
  ['x in (5,)', '0110000'],
  ['x in (5,,10)', '0111000'],
  ['x notin (5)', '1011111'],
  ['x notin (,5)', '1001111'],
  ['x in (in,notin)', '0000000'],
  ['in', '0000010'],
  ['in in (1)', '0000010'],
  ['in=1', '0000010'],
  ['notin', '0000000'],
  ['notin=in', '0000000'],
  ['x>1', '0101010'],
  ['x>5', '0001010'],
  ['x > 6', '0001010'],
  ['x<6', '0100000'],
  ['x < 007', '0100000'],
  ['x>-1', null],
  ['x>a', null],
  ['x>', null],
  ['x<9223372036854775807', '0101010'],
  ['x<9223372036854775808', null],
  ['x>5,x<11', '0001010'],
  ['x,app', '0001100'],
  ['x,!app', '0110011'],
  ['x=5,app=web', '0000000'],
  ['!x,!in', '1000000'],
  ['app in (web, x),x', '0001000'],
  ['x=5 ', '0100000'],
  ['\tx=5', '0100000'],
  [' , ', null],
  ['x,', null],
  ['x 5', null],
  ['x=5 app', null],
  ['!x=5', null],
  ['x in 5', null],
  ['x in (5', null],
  ['x in (5 10)', null],
  ['(x)', null],
  ['x(5)', null],
  ['-x', null],
  ['x=-', null],
  ['x===5', null],
  ['a/b/c', null],
  ['/x', null],
  ['x/', null],
  ['Example.com/x', null],
];

test('V4: label selectors have the answers of the API server', async () => {
  const fixture = engineFixture();
  await fixture.declare(describedCrd({ kind: 'Free', plural: 'frees', properties: {} }));
  await fixture.sync(
    key,
    labelled.map((labels, index) => made({ name: `o${index}`, labels })),
  );
  for (const [selector, matches] of selectors) {
    const { data, errors } = await fixture.query(
      'query ($selector: String) { exampleComFrees(filter: { labelSelector: $selector }) { nodes { metadata { name } } } }',
      { selector },
    );
    const names = data?.exampleComFrees?.nodes.map((node: { metadata: { name: string } }) => node.metadata.name);
    const found =
      errors.length > 0 ? null : labelled.map((_, index) => (names.includes(`o${index}`) ? '1' : '0')).join('');
    expect([selector, found]).toEqual([selector, matches]);
  }
});

async function served(fixture: Awaited<ReturnType<typeof frees>>['fixture']): Promise<string> {
  return (await serveFixture(fixture)).url;
}

const great = '9007199254740993';
const next = '9007199254740994';

test('V1: an integer beyond 2^53 in free JSON is found by its value', async () => {
  const { names } = await frees(
    { any: anything, port: { 'x-kubernetes-int-or-string': true } },
    { a: `{"any":${great},"port":${great}}`, b: `{"any":${next}}`, c: `{"any":"${great}","port":"${great}"}` },
  );
  const found = (condition: string): Promise<string[]> =>
    names(`filter: { path: [{ path: "spec.any", ${condition} }] }`);
  expect(await found(`eq: ${great}`)).toEqual(['a']);
  expect(await found(`eq: "${great}"`)).toEqual(['c']);
  expect(await found(`in: [${great}, ${next}]`)).toEqual(['a', 'b']);
  expect(await found(`gte: ${next}`)).toEqual(['b', 'c']);
  expect(await found(`lt: ${next}`)).toEqual(['a']);
  expect(await names(`filter: { spec: { port: { eq: ${great} } } }`)).toEqual(['a']);
  expect(await names(`filter: { spec: { port: { eq: "${great}" } } }`)).toEqual(['c']);
});

test('V1: an integer beyond 2^53 in a variable keeps its digits, over each transport', async () => {
  const { fixture } = await frees({ any: anything }, { a: `{"any":${great}}`, b: `{"any":${next}}` });
  const url = await served(fixture);
  const query =
    'query ($value: JSON) { exampleComFrees(filter: { path: [{ path: "spec.any", eq: $value }] }) { nodes { metadata { name } } } }';
  const expected = { data: { exampleComFrees: { nodes: [{ metadata: { name: 'a' } }] } } };
  const body = `{"query":${JSON.stringify(query)},"variables":{"value":${great}}}`;
  const headers = { 'content-type': 'application/json' };
  // The second content type is read by Yoga, and has no prepared answer.
  for (const type of ['application/json', 'application/json; charset="utf-8"']) {
    const posted = await fetch(url, { method: 'POST', headers: { ...headers, 'content-type': type }, body });
    expect(await posted.json()).toMatchObject(expected);
  }
  const events = await fetch(url, { method: 'POST', headers: { ...headers, accept: 'text/event-stream' }, body });
  expect(await events.text()).toContain(JSON.stringify(expected.data));
  const variables = encodeURIComponent(`{"value":${great}}`);
  for (const accept of ['application/json', 'text/event-stream']) {
    const got = await fetch(`${url}?query=${encodeURIComponent(query)}&variables=${variables}`, {
      headers: { accept },
    });
    expect(await got.text()).toContain(JSON.stringify(expected.data));
  }
  const none = await fetch(`${url}?query=${encodeURIComponent('{ __typename }')}&variables=`);
  expect(await none.json()).toMatchObject({ data: { __typename: 'Query' } });
  const client = createClient({
    url: url.replace('http', 'ws'),
    webSocketImpl: WebSocket,
    lazy: true,
    jsonMessageReplacer: (_name, value) => (value === 'GREAT' ? rawJson(great) : value),
  });
  onTestFinished(() => client.dispose());
  const results = client.iterate({ query, variables: { value: 'GREAT' } });
  expect((await results.next()).value).toMatchObject(expected);
});

test('C1, C2: the columns of a CRD have the cells of the API server, by the type of the column', async () => {
  const fixture = engineFixture();
  const column = (type: string, jsonPath: string) => ({ name: `${type} ${jsonPath}`, type, jsonPath });
  const columns = [
    column('string', ".metadata.labels['app\\.kubernetes\\.io/name']"),
    column('string', '.spec.list[*]'),
    column('string', '.spec.list[-1:]'),
    column('string', '.spec.on'),
    column('boolean', '.spec.on'),
    column('integer', '.spec.on'),
    column('string', '.spec.count'),
    column('integer', '.spec.count'),
    column('number', '.spec.count'),
    column('boolean', '.spec.count'),
    column('integer', '.spec.ratio'),
    column('number', '.spec.ratio'),
    column('integer', '.spec.text'),
    column('date', '.metadata.creationTimestamp'),
    column('string', '.spec'),
    column('string', '.spec.none'),
  ];
  const spec = { type: 'object', ...anything };
  await fixture.declare(describedCrd({ kind: 'Free', plural: 'frees', properties: { spec }, columns }));
  const labels = { 'app.kubernetes.io/name': 'web' };
  const values = { list: ['a', 'b'], on: true, count: 7, ratio: 1.5, text: 'x' };
  await fixture.sync(key, [made({ name: 'a', labels, spec: values })]);
  const { data, errors } = await fixture.query('{ exampleComFrees { nodes { columns { value } } } }');
  expect(errors).toEqual([]);
  const cells = data.exampleComFrees.nodes[0].columns.map(({ value }: { value: unknown }) => value);
  const whole = '{"count":7,"list":["a","b"],"on":true,"ratio":1.5,"text":"x"}';
  const born = '2026-01-31T12:00:00Z';
  expect(cells).toEqual(['a', 'web', 'a', 'b', 'true', true, null, '7', 7, 7, null, 1, 1.5, null, born, whole, null]);
});

test('labels that are numbers and booleans are found by the text that groups and facets show', async () => {
  const { fixture, names } = await frees({}, {});
  await fixture.sync(key, [
    made({ name: 'number', labels: { x: 5 } }),
    made({ name: 'text', labels: { x: '5' } }),
    made({ name: 'truth', labels: { x: true } }),
    made({ name: 'list', labels: { x: [5] } }),
  ]);
  const path = 'metadata.labels["x"]';
  const { data, errors } = await fixture.query(
    `query ($paths: [Path!]!) { exampleComFrees { facets(paths: $paths) { values { value count } } aggregate { groups(by: $paths) { keys aggregate { count } } } } }`,
    { paths: [path] },
  );
  expect(errors).toEqual([]);
  const { facets, aggregate } = data.exampleComFrees;
  const shown = [
    ['5', 2],
    [null, 1],
    ['true', 1],
  ].sort();
  expect(facets[0].values.map((each: { value: unknown; count: number }) => [each.value, each.count]).sort()).toEqual(
    shown,
  );
  expect(
    aggregate.groups
      .map((each: { keys: unknown[]; aggregate: { count: number } }) => [each.keys[0], each.aggregate.count])
      .sort(),
  ).toEqual(shown);
  const found = ['number', 'text'];
  expect(await names('filter: { metadata: { labels: [{ key: "x", eq: "5" }] } }')).toEqual(found);
  expect(await names('filter: { metadata: { labels: [{ key: "x", ne: "5" }] } }')).toEqual(['list', 'truth']);
  expect(await names(`filter: { path: [{ path: ${JSON.stringify(path)}, in: ["5", "true"] }] }`)).toEqual([
    ...found,
    'truth',
  ]);
  expect(await names(`filter: { path: [{ path: ${JSON.stringify(path)}, startsWith: "5" }] }`)).toEqual(found);
  expect(await names('filter: { labelSelector: "x>4" }')).toEqual(found);
  expect(await names('filter: { labelSelector: "x=5" }')).toEqual(found);
  const events = await fixture.subscribe(
    'subscription { list: exampleComFreeChanges(filter: { labelSelector: "x=5" }) { phase totalCount changes { object { metadata { name } } } } }',
  );
  const { changes } = await nextOf<{ changes: { object: { metadata: { name: string } } }[] }>(events);
  expect(changes.map(({ object }) => object.metadata.name)).toEqual(found);
  fixture.apply(key, 'ADDED', made({ name: 'later', labels: { x: 5 } }));
  await untilPhase(events, 'SYNCED');
  expect(await nextOf(events)).toMatchObject({ changes: [{ object: { metadata: { name: 'later' } } }] });
});
