import { expect, test } from 'vitest';
import { describedCrd, engineFixture, made } from '../../../test/kit/engine-fixture.ts';
import { widget, widgets } from '../../../test/kit/graphql-world.ts';

test('names that GraphQL does not take, and data that is called id, are shown under names of their own', async () => {
  const { declare, sync, query } = engineFixture();
  const text = { type: 'string' };
  await declare(
    describedCrd({
      kind: 'Odd',
      plural: 'odds',
      properties: {
        'my-field': text,
        id: text,
        raw: text,
        spec: {
          type: 'object',
          properties: { 'a.b': text, '3d': text, id: text, $ref: text, empty: { type: 'object' } },
        },
      },
    }),
  );
  const spec = { 'a.b': 'dot', '3d': 'digit', id: 'inner', $ref: 'dollar', empty: { any: 1 } };
  await sync('odds.example.com', [made({ name: 'a', 'my-field': 'dash', id: 'outer', raw: 'mine', spec })]);
  const { data, errors } = await query(
    '{ exampleComOdds { nodes { my__field id_ raw_ spec { a___b _3d id_ _x24_ref empty } id } } }',
  );
  expect(errors).toEqual([]);
  expect(data.exampleComOdds.nodes).toMatchObject([
    {
      my__field: 'dash',
      id_: 'outer',
      raw_: 'mine',
      spec: { a___b: 'dot', _3d: 'digit', id_: 'inner', _x24_ref: 'dollar', empty: { any: 1 } },
    },
  ]);
  expect(data.exampleComOdds.nodes[0].id).not.toBe('outer');
});

const fields = `spec { name replicas total ratio paused at port tags numbers ports { name number } template { image } settings free }
  status { phase conditions { type lastTransitionTime observedGeneration } }`;

test('values of another form than the schema promises are null with an error, and lists keep their length', async () => {
  const { declare, sync, query } = engineFixture();
  await declare(widget());
  const wrong = {
    name: { a: 1 },
    replicas: 'many',
    total: 1.5,
    ratio: 'half',
    paused: 'yes',
    at: 5,
    port: true,
    tags: ['x', 1, null, { a: 1 }, 'y'],
    numbers: [1, 'two', 3],
    ports: [{ name: 'http', number: 2 ** 31 }, { name: 'low', number: -(2 ** 31) - 1 }, 'admin', null, [1]],
    template: ['image'],
    settings: 'none',
    free: 'text',
  };
  const status = { phase: ['Ready'], conditions: { type: 'Ready' } };
  await sync(widgets, [made({ name: 'a', spec: wrong, status }), made({ name: 'b', spec: 'text', status: 3 })]);
  const { data, errors } = await query(`{ exampleComWidgets { nodes { ${fields} raw } } }`);
  expect(errors.map(({ path }) => path?.slice(2).join('.')).sort()).toEqual(
    [
      ...['name', 'replicas', 'total', 'ratio', 'paused', 'at', 'port', 'tags.3', 'numbers.1', 'ports.0.number'],
      ...['ports.1.number', 'ports.2', 'ports.4', 'template', 'settings'],
    ]
      .map((path) => `0.spec.${path}`)
      .concat('0.status.conditions', '0.status.phase', '1.spec', '1.status')
      .sort(),
  );
  const [a, b] = data.exampleComWidgets.nodes;
  const { raw, ...typed } = a;
  expect(JSON.parse(JSON.stringify(typed))).toEqual({
    spec: {
      name: null,
      replicas: null,
      total: null,
      ratio: null,
      paused: null,
      at: null,
      port: null,
      tags: ['x', '1', null, null, 'y'],
      numbers: [1, null, 3],
      ports: [{ name: 'http', number: null }, { name: 'low', number: null }, null, null, null],
      template: null,
      settings: null,
      free: 'text',
    },
    status: { phase: null, conditions: null },
  });
  expect(raw.spec).toEqual(wrong);
  expect({ spec: b.spec, status: b.status }).toEqual({ spec: null, status: null });
});

test('values of the promised form are shown', async () => {
  const { declare, sync, query } = engineFixture();
  await declare(widget());
  const spec = {
    name: 'n',
    replicas: 0,
    total: 5,
    ratio: 0.5,
    paused: false,
    at: '2026-01-31T12:00:00Z',
    port: 'http',
    tags: [''],
    numbers: [0],
    ports: [
      { name: 'http', number: 80 },
      { name: 'least', number: -(2 ** 31) },
      { name: 'greatest', number: 2 ** 31 - 1 },
    ],
    template: { image: 'i' },
    settings: { a: 'b' },
    free: [null, 1],
  };
  const conditions = [{ type: 'Ready', lastTransitionTime: '2026-01-31T12:00:00Z', observedGeneration: 2 }];
  await sync(widgets, [made({ name: 'a', spec, status: { phase: 'Ready', conditions } })]);
  const { data, errors } = await query(`{ exampleComWidgets { nodes { ${fields} } } }`);
  expect(errors).toEqual([]);
  expect(JSON.parse(JSON.stringify(data.exampleComWidgets.nodes))).toEqual([
    { spec, status: { phase: 'Ready', conditions } },
  ]);
});

test('a condition with values of another form has errors in those places', async () => {
  const { declare, sync, query } = engineFixture();
  await declare(widget());
  const conditions = [{ type: 'Ready', status: true, lastTransitionTime: 5, observedGeneration: 'two' }];
  await sync(widgets, [made({ name: 'a', status: { conditions } })]);
  const { data, errors } = await query(
    '{ exampleComWidgets { nodes { condition(type: "Ready") { type status lastTransitionTime observedGeneration } } } }',
  );
  expect(errors.map(({ path }) => path?.at(-1))).toEqual(['lastTransitionTime', 'observedGeneration']);
  expect(data.exampleComWidgets.nodes).toEqual([
    { condition: { type: 'Ready', status: 'true', lastTransitionTime: null, observedGeneration: null } },
  ]);
});

test('a field that is named like something every object of JavaScript has is null where the data has none', async () => {
  const { declare, sync, query } = engineFixture();
  const free = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  await declare(
    describedCrd({
      kind: 'Odd',
      plural: 'odds',
      properties: { constructor: free, spec: { type: 'object', properties: { toString: free, valueOf: free } } },
    }),
  );
  await sync('odds.example.com', [made({ name: 'a', spec: { valueOf: 1 } })]);
  const { data, errors } = await query('{ exampleComOdds { nodes { constructor spec { toString valueOf } } } }');
  expect(errors).toEqual([]);
  expect(data.exampleComOdds.nodes).toEqual([{ constructor: null, spec: { toString: null, valueOf: 1 } }]);
});

test('a number that no Float can hold is null with an error', async () => {
  const { declare, sync, query } = engineFixture();
  await declare(widget());
  const large = JSON.stringify(made({ name: 'a', spec: { ratio: '@' } })).replace('"@"', `1${'0'.repeat(400)}`);
  await sync(widgets, [large]);
  const { data, errors } = await query('{ exampleComWidgets { nodes { spec { ratio } } } }');
  expect(errors.map(({ path }) => path)).toEqual([['exampleComWidgets', 'nodes', 0, 'spec', 'ratio']]);
  expect(data.exampleComWidgets.nodes).toEqual([{ spec: { ratio: null } }]);
});
