/** Filters on maps, conditions, paths, field selectors, patterns and addresses; orders through lists and in natural order. */
import { describe, expect, test } from 'vitest';
import { engineFixture, made, sharedFixture } from '../../../test/kit/engine-fixture.ts';
import { widget, widgetProperties, widgets } from '../../../test/kit/graphql-world.ts';
import { rawJson } from '../../catalog/values/raw-json.ts';

const properties = {
  ...widgetProperties,
  spec: {
    ...widgetProperties.spec,
    properties: {
      ...widgetProperties.spec.properties,
      limits: {
        type: 'object',
        additionalProperties: {
          'x-kubernetes-int-or-string': true,
          pattern:
            '^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$',
        },
      },
      volumes: {
        type: 'object',
        additionalProperties: { type: 'object', properties: { size: { type: 'string', format: 'quantity' } } },
      },
      address: { type: 'string', format: 'ipv4' },
    },
  },
};
const condition = (type: string, status: string, at = '2026-01-01T00:00:00Z') => ({
  type,
  status,
  lastTransitionTime: at,
});

const objects = [
  made({
    name: 'a-10',
    labels: { app: 'web', tier: 'front', n: '07' },
    spec: {
      name: 'web-10',
      replicas: 0,
      paused: false,
      settings: { mode: 'fast', level: 'Debug', n: '12' },
      limits: { cpu: '1500m', memory: '1Gi' },
      volumes: { data: { size: '10Gi' } },
      address: '10.0.0.10',
      free: {
        owner: 'Ops',
        nested: [{ n: 1 }, { n: 'two' }],
        templates: [{ metadata: { labels: { app: 'db' } } }],
        size: 3,
        count: '10',
        big: rawJson('9007199254740993'),
        cpu: '1500m',
        at: '2026-01-31T12:00:00+01:00',
      },
      ports: [{ number: 80 }, { number: 8080 }],
    },
    status: {
      phase: 'Running',
      conditions: [condition('Ready', 'True'), condition('Synced', 'False', '2026-03-01T00:00:00Z')],
    },
  }),
  made({
    name: 'a-9',
    labels: { app: 'db' },
    spec: {
      name: 'web-9',
      replicas: 3,
      paused: true,
      settings: { mode: 'slow' },
      limits: { cpu: '2' },
      volumes: { data: { size: '1Ti' }, logs: { size: '1Gi' } },
      address: '10.0.0.9',
      free: { owner: 'dev', nested: [{ n: 2 }], count: 4, cpu: 0.5, at: '2026-01-31T12:00:00Z', big: 9007199254740992 },
      ports: [{ number: 443 }],
    },
    status: { phase: 'Failed', conditions: [condition('Ready', 'False')] },
  }),
  made({ name: 'b', spec: { name: 'x', address: 'None', ports: [] } }),
];

/** The tests only read. */
const world = sharedFixture(async (fixture) => {
  await fixture.declare(widget('east', properties));
  await fixture.sync(
    widgets,
    objects.map((object) => JSON.stringify(object)),
  );
  return {
    async names(filter: unknown, orderBy: unknown = null): Promise<string> {
      const { data, errors } = await fixture.query(
        `query ($filter: ExampleComWidgetFilter, $orderBy: [ObjectOrder!]) {
          exampleComWidgets(filter: $filter, orderBy: $orderBy) { nodes { metadata { name } } totalCount } }`,
        { filter, orderBy },
      );
      if (errors[0] !== undefined) throw errors[0].originalError ?? errors[0];
      const names = data.exampleComWidgets.nodes.map((node: { metadata: { name: string } }) => node.metadata.name);
      expect(data.exampleComWidgets.totalCount).toBe(names.length);
      return names.join(' ');
    },
  };
});

describe('a filter', () => {
  test.each<[string, unknown, string]>([
    ['a label', { metadata: { labels: [{ key: 'app', eq: 'web' }] } }, 'a-10'],
    ['a label that is not', { metadata: { labels: [{ key: 'app', ne: 'web' }] } }, 'a-9 b'],
    [
      'two labels',
      {
        metadata: {
          labels: [
            { key: 'app', exists: true },
            { key: 'tier', exists: false },
          ],
        },
      },
      'a-9',
    ],
    ['a label by prefix', { metadata: { labels: [{ key: 'app', startsWith: 'd' }] } }, 'a-9'],
    ['a map of strings', { spec: { settings: [{ key: 'mode', in: ['fast'] }] } }, 'a-10'],
    [
      'a map of strings, ignoring case',
      { spec: { settings: [{ key: 'level', eq: 'debug', ignoreCase: true }] } },
      'a-10',
    ],
    [
      'a map of quantities',
      {
        spec: {
          limits: [
            { key: 'cpu', gt: '1' },
            { key: 'cpu', lt: '2000m' },
          ],
        },
      },
      'a-10',
    ],
    ['a map of objects', { spec: { volumes: [{ key: 'data', value: { size: { gte: '1Ti' } } }] } }, 'a-9'],
    ['a key of a map of objects', { spec: { volumes: [{ key: 'logs', exists: false }] } }, 'a-10 b'],
    ['a condition', { condition: [{ type: 'Ready', status: { eq: 'False' } }] }, 'a-9'],
    ['a condition that is not', { condition: [{ type: 'Ready', status: { ne: 'True' } }] }, 'a-9 b'],
    ['a condition that is there', { condition: [{ type: 'Synced', exists: true }] }, 'a-10'],
    [
      'several conditions',
      {
        condition: [
          { type: 'Ready', status: { eq: 'True' } },
          { type: 'Synced', lastTransitionTime: { gt: '2026-02-01T00:00:00Z' } },
        ],
      },
      'a-10',
    ],
    ['a path into free JSON', { path: [{ path: 'spec.free.owner', eq: 'ops', ignoreCase: true }] }, 'a-10'],
    ['text of free JSON', { path: [{ path: 'spec.free.owner', startsWith: 'd' }] }, 'a-9'],
    ['a number of free JSON', { path: [{ path: 'spec.free.size', gte: 3 }] }, 'a-10'],
    ['elements of free JSON', { path: [{ path: 'spec.free.nested[].n', eq: 'two' }] }, 'a-10'],
    ['a label of an element', { path: [{ path: 'spec.free.templates[].metadata.labels["app"]', eq: 'db' }] }, 'a-10'],
    [
      'a label of the object alone',
      { path: [{ path: 'spec.free.templates[].metadata.labels["app"]', eq: 'web' }] },
      '',
    ],
    [
      'elements with a label',
      { path: [{ path: 'spec.free.templates[].metadata.labels["app"]', exists: true }] },
      'a-10',
    ],
    ['a text operator on free JSON', { path: [{ path: 'spec.free.count', contains: '1' }] }, 'a-10'],
    ['a text operator on a number', { path: [{ path: 'spec.free.count', startsWith: '4' }] }, ''],
    ['a pattern on a number', { path: [{ path: 'spec.free.size', matches: '3' }] }, ''],
    ['a number of free JSON that is a text', { path: [{ path: 'spec.free.count', as: 'NUMBER', lt: 5 }] }, 'a-9'],
    ['a number beyond 2^53', { path: [{ path: 'spec.free.big', as: 'NUMBER', gt: '9007199254740992' }] }, 'a-10'],
    ['a quantity of free JSON', { path: [{ path: 'spec.free.cpu', as: 'QUANTITY', gte: 1 }] }, 'a-10'],
    ['a quantity in milli', { path: [{ path: 'spec.free.cpu', as: 'QUANTITY', eq: '500m' }] }, 'a-9'],
    ['a time of free JSON', { path: [{ path: 'spec.free.at', as: 'TIME', lt: '2026-01-31T12:00:00Z' }] }, 'a-10'],
    ['a time relative to now', { path: [{ path: 'spec.free.at', as: 'TIME', lt: '-1h' }] }, 'a-10 a-9'],
    ['a number of a label', { path: [{ path: 'metadata.labels["n"]', as: 'NUMBER', eq: 7 }] }, 'a-10'],
    ['no number of a label', { path: [{ path: 'metadata.labels["n"]', as: 'NUMBER', notIn: [8, 9] }] }, 'a-10 a-9 b'],
    ['a number of a map', { path: [{ path: 'spec.settings["n"]', as: 'NUMBER', gt: 9 }] }, 'a-10'],
    ['a number of a text', { path: [{ path: 'spec.name', as: 'NUMBER', exists: true }] }, 'a-10 a-9 b'],
    ['a number of numbers', { path: [{ path: 'spec.replicas', as: 'NUMBER', lte: 0.5 }] }, 'a-10'],
    ['cast elements', { path: [{ path: 'spec.free.nested[].n', as: 'NUMBER', gt: 1 }] }, 'a-9'],
    ['a sum of cast elements', { path: [{ path: 'sum(spec.free.nested[].n)', as: 'NUMBER', eq: 1 }] }, 'a-10'],
    ['two cast values', { compare: [{ path: 'spec.free.count', as: 'NUMBER', lt: 'spec.settings["n"]' }] }, 'a-10'],
    ['a text that looks like a relative time', { spec: { name: { ne: '-1h' } } }, 'a-10 a-9 b'],
    ['a range from a text that begins so', { spec: { name: { gt: '-1hour' } } }, 'a-10 a-9 b'],
    ['none of the elements', { path: [{ path: 'spec.free.nested[].n', notIn: [2] }] }, 'a-10 b'],
    ['a typed path', { path: [{ path: 'spec.ports[].number', gt: 100, lt: 1000 }] }, 'a-10 a-9'],
    ['a path that is a list', { path: [{ path: 'spec.ports', exists: true }] }, 'a-10 a-9 b'],
    [
      'several paths',
      {
        path: [
          { path: 'spec.replicas', gte: 0 },
          { path: 'status.phase', ne: 'Failed' },
        ],
      },
      'a-10',
    ],
    ['a label by path', { path: [{ path: 'metadata.labels["app"]', in: ['db', 'x'] }] }, 'a-9'],
    ['a field selector', { fieldSelector: 'status.phase!=Failed,metadata.name=a-10' }, 'a-10'],
    ['a field selector on what has no value', { fieldSelector: 'status.phase=' }, 'b'],
    // An absent value of a custom resource is the empty text, whatever its type (KEP-4358).
    ['a field selector on a boolean', { fieldSelector: 'spec.paused=false' }, 'a-10'],
    ['a field selector on a number', { fieldSelector: 'spec.replicas==0' }, 'a-10'],
    ['a field selector on a number that is not', { fieldSelector: 'spec.replicas!=3' }, 'a-10 b'],
    ['a field selector on an absent number', { fieldSelector: 'spec.replicas=' }, 'b'],
    ['a field selector that writes a number otherwise', { fieldSelector: 'spec.replicas=03' }, ''],
    ['a field selector with no number', { fieldSelector: 'spec.replicas=many' }, ''],
    ['a field selector without a number', { fieldSelector: 'spec.replicas!=many' }, 'a-10 a-9 b'],
    ['a pattern', { spec: { name: { matches: '^web-[0-9]+$' } } }, 'a-10 a-9'],
    ['a pattern, ignoring case', { spec: { name: { matches: 'WEB-1', ignoreCase: true } } }, 'a-10'],
    ['addresses by value', { spec: { address: { lt: '10.0.0.10' } } }, 'a-9'],
    ['what is no address', { spec: { address: { eq: 'None' } } }, 'b'],
    ['addresses as text', { spec: { address: { startsWith: '10.0.0.1' } } }, 'a-10'],
  ])('by %s', async (_what, filter, expected) => {
    const { names } = world();
    expect(await names(filter)).toBe(expected);
  });

  test.each<[string, unknown, RegExp]>([
    ['a map without entries', { metadata: { labels: [] } }, /^filter\.metadata\.labels is empty/],
    [
      'an entry that says nothing',
      { metadata: { labels: [{ key: 'app' }] } },
      /^filter\.metadata\.labels\[0\] is empty/,
    ],
    ['a condition that says nothing', { condition: [{ type: 'Ready' }] }, /^filter\.condition\[0\] is empty/],
    [
      'a condition with an empty leaf',
      { condition: [{ type: 'Ready', status: {} }] },
      /^filter\.condition\[0\]\.status is empty/,
    ],
    ['a path that says nothing', { path: [{ path: 'spec.name' }] }, /^filter\.path\[0\] is empty/],
    ['a path that is not there', { path: [{ path: 'spec.nme', eq: 'x' }] }, /did you mean "name"/],
    ['a path to a list', { path: [{ path: 'spec.ports', eq: 'x' }] }, /spec\.ports\[\] goes through its elements/],
    [
      'text of a number',
      { path: [{ path: 'spec.replicas', contains: '1' }] },
      /compares text, and spec\.replicas is Int/,
    ],
    ['a value that does not fit', { path: [{ path: 'spec.replicas', eq: 'many' }] }, /"many" is not an integer/],
    [
      'a number that is none',
      { path: [{ path: 'spec.free.size', as: 'NUMBER', lt: 'many' }] },
      /"many" is not a number/,
    ],
    ['a unit of a number', { path: [{ path: 'spec.free.size', as: 'NUMBER', lt: '5m' }] }, /"5m" is not a number/],
    [
      'a quantity that is none',
      { path: [{ path: 'spec.free.size', as: 'QUANTITY', lt: '5 Gi' }] },
      /is not a quantity/,
    ],
    ['a time that is none', { path: [{ path: 'spec.free.at', as: 'TIME', lt: '2026' }] }, /is not a time/],
    ['a cast of no operand', { path: [{ path: 'spec.free.at', as: 'TIME' }] }, /^filter\.path\[0\] is empty/],
    ['text of a cast', { path: [{ path: 'spec.free.size', as: 'NUMBER', contains: '1' }] }, /as: NUMBER makes it none/],
    [
      'letter case of a cast',
      { path: [{ path: 'spec.free.size', as: 'NUMBER', eq: 1, ignoreCase: true }] },
      /ignoreCase is for texts, and as: NUMBER makes it none/,
    ],
    [
      'a cast of a boolean',
      { path: [{ path: 'spec.paused', as: 'NUMBER', eq: 1 }] },
      /does not apply to spec\.paused, which is Boolean/,
    ],
    ['a time that is a number', { path: [{ path: 'spec.replicas', as: 'TIME', lt: '-1h' }] }, /which is Int/],
    ['a cast of the cluster', { path: [{ path: 'cluster', as: 'NUMBER', eq: 1 }] }, /does not apply to cluster/],
    ['a cast of the health', { path: [{ path: 'health.status', as: 'NUMBER', eq: 1 }] }, /which is computed/],
    ['a cast number of values', { path: [{ path: 'count(spec.tags[])', as: 'NUMBER', eq: 1 }] }, /a number of values/],
    [
      'a cast sum of times',
      { path: [{ path: 'sum(spec.free.nested[].n)', as: 'TIME', eq: '-1h' }] },
      /sum needs numbers/,
    ],
    ['a cast that is null', { path: [{ path: 'spec.free.size', as: null, eq: 1 }] }, /^filter\.path\[0\]\.as is null/],
    [
      'a relative time among texts',
      { metadata: { annotations: [{ key: 'x', lt: '-1h' }] } },
      /compares texts, and "-1h" is a time relative to now; compare times by path: \[\{ path, as: TIME, lt: "-1h" \}\]/,
    ],
    [
      'a relative time among free JSON',
      { path: [{ path: 'spec.free.at', gte: '+1d12h' }] },
      /as: TIME, gte: "\+1d12h"/,
    ],
    ['a pattern that is none', { spec: { name: { matches: '(a' } } }, /is no pattern in RE2 syntax/],
    [
      'a pattern that is too large',
      { spec: { name: { matches: '(a{100}){9}' } } },
      /compiles to \d+ steps; a pattern has at most 250/,
    ],
    ['a pattern that is too long', { spec: { name: { matches: 'a'.repeat(501) } } }, /has 501 characters/],
    ['a field selector without operator', { fieldSelector: 'status.phase' }, /write path=value/],
  ])('is refused for %s', async (_what, filter, message) => {
    const { names } = world();
    await expect(names(filter)).rejects.toMatchObject({
      code: 'BAD_USER_INPUT',
      message: expect.stringMatching(message),
    });
  });
});

describe('an order', () => {
  test.each<[string, unknown, string]>([
    ['by code point', [{ path: 'spec.name' }], 'a-10 a-9 b'],
    ['in natural order', [{ path: 'spec.name', natural: true }], 'a-9 a-10 b'],
    ['in natural order, backward', [{ path: 'spec.name', natural: true, direction: 'DESC' }], 'b a-10 a-9'],
    ['by the least element', [{ path: 'spec.ports[].number' }], 'a-10 a-9 b'],
    ['by the greatest element', [{ path: 'spec.ports[].number', direction: 'DESC' }], 'a-10 a-9 b'],
    [
      'by the greatest element, nulls first',
      [{ path: 'spec.ports[].number', direction: 'DESC', nulls: 'FIRST' }],
      'b a-10 a-9',
    ],
    ['by address', [{ path: 'spec.address' }], 'a-9 a-10 b'],
    ['by letters of any case', [{ path: 'spec.free.owner', ignoreCase: true }], 'a-9 a-10 b'],
    ['by letters with their case', [{ path: 'spec.free.owner' }], 'a-10 a-9 b'],
    ['of free JSON in natural order', [{ path: 'spec.free.count', natural: true }], 'a-9 a-10 b'],
    ['by a number that is a text', [{ path: 'spec.free.count', as: 'NUMBER', nulls: 'FIRST' }], 'b a-9 a-10'],
    ['by a quantity', [{ path: 'spec.free.cpu', as: 'QUANTITY', direction: 'DESC' }], 'a-10 a-9 b'],
    ['by a time', [{ path: 'spec.free.at', as: 'TIME' }], 'a-10 a-9 b'],
    ['by a number beyond 2^53', [{ path: 'spec.free.big', as: 'NUMBER' }], 'a-9 a-10 b'],
    ['by the greatest cast element', [{ path: 'spec.free.nested[].n', as: 'NUMBER', direction: 'DESC' }], 'a-9 a-10 b'],
  ])('%s', async (_what, orderBy, expected) => {
    const { names } = world();
    expect(await names(null, orderBy)).toBe(expected);
  });

  test.each<[string, unknown, RegExp]>([
    [
      'letters of a number',
      { path: 'spec.replicas', ignoreCase: true },
      /ignoreCase orders texts, and spec\.replicas is Int/,
    ],
    [
      'letters of a cast',
      { path: 'spec.free.cpu', as: 'QUANTITY', ignoreCase: true },
      /as: QUANTITY makes spec\.free\.cpu none/,
    ],
    [
      'natural order of a cast',
      { path: 'spec.free.cpu', as: 'TIME', natural: true },
      /natural orders texts, and as: TIME/,
    ],
    ['a cast of a list', { path: 'spec.ports', as: 'NUMBER' }, /spec\.ports\[\] goes through its elements/],
    ['a cast of an address', { path: 'spec.address', as: 'NUMBER' }, /which is IP/],
  ])('is refused for %s', async (_what, term, message) => {
    const { names } = world();
    await expect(names(null, [term])).rejects.toMatchObject({
      code: 'BAD_USER_INPUT',
      message: expect.stringMatching(message),
    });
  });

  test('in natural order is for texts', async () => {
    const { names } = world();
    await expect(names(null, [{ path: 'spec.replicas', natural: true }])).rejects.toMatchObject({
      code: 'BAD_USER_INPUT',
      message: expect.stringMatching(/natural orders texts, and spec\.replicas is Int/),
    });
  });
});

test('S10: resource versions are compared as numbers of any length, and other texts after them', async () => {
  const fixture = engineFixture();
  await fixture.declare(widget());
  const versions = ['1707', '780', '18446744073709551617', '18446744073709551616', 'a1', '0780', '9'];
  await fixture.sync(
    widgets,
    versions.map((resourceVersion, at) => made({ name: `w${at}`, metadata: { resourceVersion } })),
  );
  const read = async (args: string): Promise<readonly string[]> => {
    const { data, errors } = await fixture.query(
      `{ exampleComWidgets(${args}) { nodes { metadata { resourceVersion } } } }`,
    );
    expect(errors).toEqual([]);
    return data.exampleComWidgets.nodes.map(
      (node: { metadata: { resourceVersion: string } }) => node.metadata.resourceVersion,
    );
  };
  const ordered = ['9', '780', '1707', '18446744073709551616', '18446744073709551617', '0780', 'a1'];
  const order = 'orderBy: [{ path: "metadata.resourceVersion" }]';
  expect(await read(order)).toEqual(ordered);
  expect(await read(order.replace('" }', '", direction: DESC }'))).toEqual(ordered.toReversed());
  expect(
    await read(`${order}, filter: { metadata: { resourceVersion: { gt: "780", lte: "18446744073709551616" } } }`),
  ).toEqual(ordered.slice(2, 4));
  expect(await read('filter: { path: [{ path: "metadata.resourceVersion", lt: "780" }] }')).toEqual(['9']);
  expect(await read('filter: { metadata: { resourceVersion: { eq: "780" } } }')).toEqual(['780']);
  expect(await read('filter: { metadata: { resourceVersion: { startsWith: "78" } } }')).toEqual(['780']);
  const { data } = await fixture.query(
    '{ exampleComWidgets { aggregate { max(path: "metadata.resourceVersion") min(path: "metadata.resourceVersion") } facets(paths: ["metadata.resourceVersion"], contains: "78") { values { value } } } }',
  );
  expect(data.exampleComWidgets.aggregate).toEqual({ max: 'a1', min: '9' });
  expect(data.exampleComWidgets.facets[0].values).toEqual([{ value: '780' }, { value: '0780' }]);
});
