import { describe, expect, test } from 'vitest';
import { describedCrd, engineFixture, type FixtureOptions, made } from '../../../test/kit/engine-fixture.ts';
import { systemClock } from '../../base/clock.ts';
import type { PromotedSlot } from '../../store/types/kind-layout.ts';

const widgets = 'widgets.example.com';

async function world(options: FixtureOptions = {}, count = 1100) {
  const fixture = engineFixture({ promotes: true, ...options });
  await fixture.declare(
    describedCrd({
      kind: 'Widget',
      plural: 'widgets',
      properties: {
        spec: {
          type: 'object',
          properties: {
            size: { type: 'integer' },
            colour: { type: 'string' },
            tags: { type: 'array', items: { type: 'string' } },
          },
        },
      },
    }),
  );
  await fixture.sync(
    widgets,
    Array.from({ length: count }, (_, index) =>
      made({ name: `w-${index}`, spec: { size: index % 500, colour: index % 2 === 0 ? 'red' : 'green' } }),
    ),
  );
  const promoted = async (): Promise<PromotedSlot[]> => {
    const { data } = await fixture.query('{ resources { promoted { path type ready reason } } }');
    return data.resources[0].promoted;
  };
  const ask = async (text: string) => {
    const { data, errors, operation } = await fixture.query(text);
    return { data, errors, plans: operation.trace.plans() };
  };
  return { ...fixture, promoted, ask };
}

const bySize = '{ exampleComWidgets(filter: { spec: { size: { eq: 7 } } }, first: 5) { nodes { metadata { name } } } }';

describe('paths that queries need', () => {
  test('are promoted at their third use, filled in the background, and used', async () => {
    const { ask, promoted, writer } = await world();
    const first = await ask(bySize);
    expect(first.plans).toMatchObject([{ route: 'order', ways: [], unindexed: ['spec.size'] }]);
    await ask(bySize);
    expect(await promoted()).toEqual([]);
    await ask(bySize);
    expect(await promoted()).toEqual([{ path: 'spec.size', type: 'Int64', ready: false, reason: 'QUERIES' }]);
    expect((await ask(bySize)).plans).toMatchObject([{ unindexed: ['spec.size'] }]);
    while (writer().maintain());
    expect(await promoted()).toEqual([{ path: 'spec.size', type: 'Int64', ready: true, reason: 'QUERIES' }]);
    const after = await ask(bySize);
    expect(after.data).toEqual(first.data);
    expect(after.plans).toMatchObject([
      {
        field: 'exampleComWidgets',
        kind: widgets,
        route: 'path',
        ways: [{ on: 'spec.size eq', rows: 3 }],
        unindexed: [],
      },
    ]);
  });

  test.each([
    ['an order', '{ exampleComWidgets(orderBy: { path: "spec.size" }, first: 2) { nodes { id } } }', 'scan', 'order'],
    ['a count', '{ exampleComWidgets(filter: { spec: { size: { lt: 3 } } }) { totalCount } }', 'scan', 'path'],
    [
      'an aggregate',
      '{ exampleComWidgets(filter: { spec: { size: { gte: 490 } } }) { aggregate { max(path: "spec.size") } } }',
      'scan',
      'path',
    ],
  ])('%s is a use', async (_, text, before, later) => {
    const { ask: askOnce, apply, promoted, writer } = await world();
    const ask = (query: string) => {
      // A count is kept until its kind changes, and a kept count uses no index.
      apply(widgets, 'MODIFIED', made({ name: 'w-250', spec: { size: 250, colour: 'red' } }));
      return askOnce(query);
    };
    const first = await ask(text);
    expect(first.errors).toEqual([]);
    expect(first.plans[0]?.route).toBe(before);
    for (let use = 0; use < 2; use += 1) await ask(text);
    expect((await promoted()).map(({ path }) => path)).toEqual(['spec.size']);
    while (writer().maintain());
    const after = await ask(text);
    expect(after.plans[0]?.route).toBe(later);
    expect(after.data).toEqual(first.data);
  });

  test.each([
    ['a column of every object', '{ exampleComWidgets(filter: { metadata: { name: { eq: "w-1" } } }) { totalCount } }'],
    ['a list', '{ exampleComWidgets(filter: { spec: { tags: { some: { eq: "a" } } } }) { totalCount } }'],
    ['an order through a list', '{ exampleComWidgets(orderBy: { path: "spec.tags[]" }, first: 1) { nodes { id } } }'],
    ['a natural order', '{ exampleComWidgets(orderBy: { path: "spec.colour", natural: true }) { nodes { id } } }'],
    ['a search for a part', '{ exampleComWidgets(filter: { spec: { colour: { contains: "e" } } }) { totalCount } }'],
    [
      'an alternative',
      '{ exampleComWidgets(filter: { or: [{ spec: { size: { eq: 1 } } }, { spec: { size: { eq: 2 } } }] }) { totalCount } }',
    ],
    ['a label', '{ exampleComWidgets(filter: { labelSelector: "app=a" }) { totalCount } }'],
    [
      'few objects by another way',
      '{ exampleComWidgets(filter: { namespaces: ["none"], spec: { size: { eq: 2 } } }) { totalCount } }',
    ],
  ])('are not %s', async (_, text) => {
    const { ask, promoted } = await world();
    for (let use = 0; use < 4; use += 1) expect((await ask(text)).errors).toEqual([]);
    expect(await promoted()).toEqual([]);
  });

  test('are nobody’s when it is turned off, and of a kind with few objects', async () => {
    const off = await world({ promotes: false });
    for (let use = 0; use < 4; use += 1) await off.ask(bySize);
    expect(await off.promoted()).toEqual([]);
    const few = await world({}, 50);
    for (let use = 0; use < 4; use += 1) await few.ask(bySize);
    expect(await few.promoted()).toEqual([]);
  });

  test('must come within a while', async () => {
    let now = 0;
    const { ask, promoted } = await world({ engine: { clock: { ...systemClock, monotonic: () => now } } });
    for (let use = 0; use < 5; use += 1) {
      await ask(bySize);
      now += 400_000;
    }
    expect(await promoted()).toEqual([]);
  });
});

test('what the configuration names and cannot be promoted is told where the kind is', async () => {
  const promote = ['widgets=spec.size', 'widgets=spec.sice', 'widgets.example.com=spec.tags[]', 'gadgets=x'];
  const { promoted, query } = await world({ writer: { promote }, engine: { diagnosis: { promote } } });
  expect(await promoted()).toEqual([{ path: 'spec.size', type: 'Int64', ready: true, reason: 'CONFIGURED' }]);
  const { data } = await query('{ resources { diagnostics } }');
  expect(data.resources[0].diagnostics).toEqual([
    expect.stringMatching(/--promote widgets=spec\.sice cannot be done: .*did you mean "size"/),
    expect.stringContaining('--promote widgets.example.com=spec.tags[] cannot be done: it goes through a list'),
  ]);
});

describe('a read that is cut', () => {
  const slow = '{ exampleComWidgets(filter: { spec: { size: { eq: -1 } } }) { nodes { id } } }';
  const messageOf = async (promotes: boolean) => {
    const fixture = await world({ promotes, reader: { leaseMs: 1 } }, 30_000);
    for (;;) {
      // A lease of one millisecond may end before the list is planned.
      const { errors } = await fixture.ask(slow);
      const message = errors[0]?.message ?? '';
      if (message.includes('spec.size')) return { message, extensions: errors[0]?.originalError, fixture };
    }
  };

  test('says which path had no index, and asks for one at once', { timeout: 120_000 }, async () => {
    const { message, extensions, fixture } = await messageOf(true);
    expect(message).toContain('spec.size of widgets.example.com has no index; queries that need one get it');
    expect(extensions).toMatchObject({
      code: 'TIMEOUT',
      details: { unindexed: { kind: widgets, path: 'spec.size' } },
    });
    expect(fixture.writer().promote({ key: widgets, path: 'spec.size', type: 'Int64' })).toBe('known');
  });

  test('says which option would help where queries promote nothing', { timeout: 120_000 }, async () => {
    const { message } = await messageOf(false);
    expect(message).toContain('--promote widgets.example.com=spec.size gives it one');
  });
});
