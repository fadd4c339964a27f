import { expect, test } from 'vitest';
import { engineFixture, type FixtureOptions, made } from '../../test/kit/engine-fixture.ts';
import { widget, widgets } from '../../test/kit/graphql-world.ts';
import { type Logger, silentLogger } from '../base/log.ts';
import { createYogaServer } from './graphql/yoga-server.ts';

async function world(options: FixtureOptions = {}) {
  const fixture = engineFixture(options);
  await fixture.declare(widget());
  await fixture.sync(
    widgets,
    [...'abc'].map((name) => made({ name, spec: { name: 'hidden-value' } })),
  );
  const { source } = fixture.engine;
  const yoga = createYogaServer({ source, log: silentLogger });
  const ask = async (query: string, extensions?: unknown) => {
    const response = await yoga.fetch('http://127.0.0.1/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query, extensions }),
    });
    return (await response.json()) as {
      data?: unknown;
      errors?: { message: string; extensions: { code: string } }[];
      // biome-ignore lint/suspicious/noExplicitAny: the shape is what the test is about.
      extensions?: { portolan: { explain?: any } };
    };
  };
  return { ask, source };
}

const asked = { portolan: { explain: true } };
const query =
  '{ some: exampleComWidgets(filter: { spec: { name: { eq: "hidden-value" } }, namespaces: ["default"] }, first: 2) { nodes { metadata { name } } } }';

test('an operation that asks for it says how it was carried out, without values', async () => {
  const { ask } = await world({ engine: { diagnosis: { explain: true } } });
  const { data, extensions } = await ask(query, asked);
  expect(data).toEqual({ some: { nodes: [{ metadata: { name: 'a' } }, { metadata: { name: 'b' } }] } });
  const { plans, statements } = extensions?.portolan.explain ?? {};
  expect(plans).toEqual([
    {
      field: 'some',
      kind: widgets,
      filter: expect.stringContaining('spec.name eq'),
      orderBy: '',
      route: 'path',
      ways: [{ on: 'namespaces', rows: 3 }],
      unindexed: [],
    },
  ]);
  const page = statements.at(-1);
  expect(page).toMatchObject({ field: 'some', rows: 3, milliseconds: expect.any(Number) });
  expect(page.sql).toMatch(/^SELECT .*\?/);
  expect(page.plan.join('\n')).toMatch(/SEARCH o USING/);
  expect(JSON.stringify(extensions)).not.toContain('hidden-value');
  expect((await ask(query)).extensions?.portolan.explain).toBeUndefined();
});

test('it is refused where the gateway was not started for it', async () => {
  const { ask } = await world();
  const { data, errors } = await ask(query, asked);
  expect(data).toBeUndefined();
  expect(errors).toMatchObject([
    { message: expect.stringContaining('start it with --explain'), extensions: { code: 'FORBIDDEN' } },
  ]);
  expect((await ask(query, { portolan: null })).errors).toBeUndefined();
  expect((await ask(query, { portolan: { explain: false } })).errors).toBeUndefined();
});

test('a slow operation is counted and logged by its shape, never with a value', async () => {
  const logged: [object, string][] = [];
  const log: Logger = {
    ...silentLogger,
    warn: (fields, message) => void logged.push([fields, message]),
    child: () => log,
  };
  const { ask, source } = await world({ log, engine: { slowQueryMs: 0 } });
  await ask(`query Hidden ${query}`);
  expect(source.slowQueries.count).toBe(1);
  expect(logged).toEqual([
    [
      expect.objectContaining({
        milliseconds: expect.any(Number),
        rows: expect.any(Number),
        plans: [expect.objectContaining({ field: 'some', kind: widgets, route: 'path' })],
      }),
      'a slow query',
    ],
  ]);
  expect(JSON.stringify(logged)).not.toContain('hidden-value');
});

test('a quick one is not', async () => {
  const { ask, source } = await world({ engine: { slowQueryMs: 3_600_000 } });
  await ask(query);
  expect(source.slowQueries.count).toBe(0);
});
