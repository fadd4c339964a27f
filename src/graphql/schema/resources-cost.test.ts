import { expect, test } from 'vitest';
import { type EngineFixture, engineFixture } from '../../../test/kit/engine-fixture.ts';
import { gadget, widget } from '../../../test/kit/graphql-world.ts';

/** How many statements that read descriptions a query of `resources` has sent, and what it answered. */
async function cost({ query, statements }: EngineFixture, fields: string) {
  const before = statements.length;
  const { data, errors } = await query(`{ resources { ${fields} } }`);
  expect(errors).toEqual([]);
  const read = statements.slice(before).filter(({ sql }) => sql.includes('description'));
  return { read: read.length, resources: data.resources };
}

test('how ingest stands is told without reading a description; what is described is read once', async () => {
  const fixture = engineFixture();
  await fixture.declare(widget(), gadget(), widget('west'));
  const state = 'key cluster phase synced objects lastEventAt restarts { reason count } error type list';
  expect(await cost(fixture, state)).toMatchObject({ read: 0, resources: { length: 3 } });
  expect(await cost(fixture, 'cluster plural kind verbs diagnostics fields { path }')).toMatchObject({
    read: 1,
    resources: [
      { cluster: 'east', plural: 'gadgets' },
      { cluster: 'east', plural: 'widgets' },
      { cluster: 'west', plural: 'widgets' },
    ],
  });
});
