import { expect, test } from 'vitest';
import { type EngineFixture, engineFixture } from '../../../test/kit/engine-fixture.ts';
import { gadget, widget } from '../../../test/kit/graphql-world.ts';

/** The answer of a query of `resources`, its statements that read descriptions, and those of them that read texts. */
async function cost({ query, statements }: EngineFixture, fields: string) {
  const before = statements.length;
  const { data, errors } = await query(`{ resources { ${fields} } }`);
  expect(errors).toEqual([]);
  const about = statements.slice(before).filter(({ sql }) => sql.includes('description'));
  const read = about.filter(({ sql }) => sql.includes('SELECT rowid, json FROM description'));
  return { about: about.length, read: read.length, resources: data.resources };
}

test('how ingest stands is told without reading a description; what is described is read once', async () => {
  const fixture = engineFixture();
  await fixture.declare(widget(), gadget(), widget('west'));
  const state = 'key cluster phase synced objects lastEventAt restarts { reason count } error type list';
  expect(await cost(fixture, state)).toMatchObject({ about: 0, resources: { length: 3 } });
  expect(await cost(fixture, 'cluster plural kind verbs diagnostics fields { path }')).toMatchObject({
    about: 2,
    read: 1,
    resources: [
      { cluster: 'east', plural: 'gadgets' },
      { cluster: 'east', plural: 'widgets' },
      { cluster: 'west', plural: 'widgets' },
    ],
  });
});

test('only the descriptions of the resources that are asked for are read', async () => {
  const fixture = engineFixture();
  await fixture.declare(widget(), gadget(), widget('west'));
  const before = fixture.statements.length;
  const { data } = await fixture.query(
    '{ resources(kinds: ["ExampleComWidget"], clusters: ["west"]) { plural diagnostics fields { path } } }',
  );
  expect(data.resources).toMatchObject([{ plural: 'widgets', diagnostics: [] }]);
  const texts = fixture.statements.slice(before).find(({ sql }) => sql.includes('SELECT rowid, json'));
  expect(JSON.parse(String(texts?.params[0]))).toHaveLength(1);
});
