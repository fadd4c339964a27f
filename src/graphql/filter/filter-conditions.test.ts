/** Filters on maps, conditions, paths, field selectors, patterns and addresses; orders through lists and in natural order. */
import { describe, expect, test } from 'vitest';
import { engineFixture, made } from '../../../test/kit/engine-fixture.ts';
import { widget, widgetProperties, widgets } from '../../../test/kit/graphql-world.ts';

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
    labels: { app: 'web', tier: 'front' },
    spec: {
      name: 'web-10',
      replicas: 0,
      paused: false,
      settings: { mode: 'fast', level: 'Debug' },
      limits: { cpu: '1500m', memory: '1Gi' },
      volumes: { data: { size: '10Gi' } },
      address: '10.0.0.10',
      free: { owner: 'Ops', nested: [{ n: 1 }, { n: 'two' }], size: 3 },
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
      free: { owner: 'dev', nested: [{ n: 2 }] },
      ports: [{ number: 443 }],
    },
    status: { phase: 'Failed', conditions: [condition('Ready', 'False')] },
  }),
  made({ name: 'b', spec: { name: 'x', address: 'None', ports: [] } }),
];

async function world() {
  const fixture = engineFixture();
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
}

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
    const { names } = await world();
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
    ['a pattern that is none', { spec: { name: { matches: '(a' } } }, /is no pattern in RE2 syntax/],
    [
      'a pattern that is too large',
      { spec: { name: { matches: '(a{100}){9}' } } },
      /compiles to \d+ steps; a pattern has at most 250/,
    ],
    ['a pattern that is too long', { spec: { name: { matches: 'a'.repeat(501) } } }, /has 501 characters/],
    ['a field selector without operator', { fieldSelector: 'status.phase' }, /write path=value/],
  ])('is refused for %s', async (_what, filter, message) => {
    const { names } = await world();
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
  ])('%s', async (_what, orderBy, expected) => {
    const { names } = await world();
    expect(await names(null, orderBy)).toBe(expected);
  });

  test('in natural order is for texts', async () => {
    const { names } = await world();
    await expect(names(null, [{ path: 'spec.replicas', natural: true }])).rejects.toMatchObject({
      code: 'BAD_USER_INPUT',
      message: expect.stringMatching(/natural orders texts, and spec\.replicas is Int/),
    });
  });
});
