/** Cells that have not the same kinds, and cells that cannot be read. */
import { expect, test } from 'vitest';
import { PortolanError } from '../../src/base/errors.ts';
import type { Reader } from '../../src/store/types/lease.ts';
import { cellsFixture } from '../kit/cells-fixture.ts';
import { made, queryOf } from '../kit/engine-fixture.ts';
import { gadget, gadgets, widget, widgets } from '../kit/graphql-world.ts';
import { worldResources } from '../kit/scoped-world.ts';

const at = (cluster: string): number => (cluster === 'east' ? 0 : 1);

test('a kind that another cell alone serves is nothing to wait for', async () => {
  const fixture = cellsFixture(2, at);
  const resources = worldResources().filter(
    ({ cluster, resource }) => resource.kind === 'Widget' || (resource.kind === 'Gadget' && cluster === 'east'),
  );
  await fixture.declare(...resources);
  await fixture.sync(gadgets, [made({ name: 'g', namespace: null })], 'east');
  for (const cluster of ['east', 'west']) {
    await fixture.sync(widgets, [made({ name: `w-${cluster}`, spec: { name: 'g' } })], cluster);
  }
  for (const writer of fixture.writers()) while (writer.maintain());
  const { source } = fixture.engine;
  const related = await queryOf(source, '{ exampleComWidgets { nodes { cluster gadget { metadata { name } } } } }');
  expect(related.errors).toEqual([]);
  expect(JSON.parse(JSON.stringify(related.data))).toEqual({
    exampleComWidgets: {
      nodes: [
        { cluster: 'east', gadget: { metadata: { name: 'g' } } },
        { cluster: 'west', gadget: null },
      ],
    },
  });
  const filtered = '{ exampleComWidgets(filter: { clusters: ["west"], gadget: { exists: false } }) { totalCount } }';
  const found = await queryOf(source, filtered);
  expect([found.errors, found.data.exampleComWidgets.totalCount]).toEqual([[], 1]);
  const several =
    '{ objects(kinds: ["*.example.com"], filter: { clusters: ["west"] }) { nodes { metadata { name } } } }';
  const objects = await queryOf(source, several);
  expect([objects.errors, objects.data.objects.nodes.length]).toEqual([[], 1]);
});

test('a cell that cannot be read harms the questions about its clusters alone', async () => {
  const lost = (): Promise<never> => Promise.reject(new PortolanError('CACHE_NOT_READY', 'The store is lost.'));
  const broken: { now: boolean } = { now: false };
  const over = (reader: Reader, index: number): Reader => ({
    lease: (work, options) => (broken.now && index === 0 ? lost() : reader.lease(work, options)),
    open: (options) => (broken.now && index === 0 ? lost() : reader.open(options)),
    close: () => reader.close(),
  });
  const fixture = cellsFixture(2, at, undefined, { over });
  await fixture.declare(widget('east'), gadget('east'), widget('west'), gadget('west'));
  for (const cluster of ['east', 'west']) {
    await fixture.sync(widgets, [made({ name: cluster })], cluster);
    await fixture.sync(gadgets, [], cluster);
  }
  broken.now = true;
  const { source } = fixture.engine;
  const ask = async (text: string) => {
    const { data, errors } = await queryOf(source, text);
    return { data: JSON.parse(JSON.stringify(data)), codes: errors.map(({ extensions }) => extensions['code']) };
  };
  const west = 'clusters: ["west"]';
  expect(await ask(`{ exampleComWidgets(filter: { ${west} }) { totalCount nodes { metadata { name } } } }`)).toEqual({
    data: { exampleComWidgets: { totalCount: 1, nodes: [{ metadata: { name: 'west' } }] } },
    codes: [],
  });
  const unknown = `{ exampleComWidgets(filter: { ${west}, namespaces: ["nope"] }) { totalCount changesCursor } }`;
  expect((await ask(unknown)).codes).toEqual([]);
  expect((await ask(`{ resources(${west}) { key } }`)).data.resources).toHaveLength(2);
  expect((await ask('{ exampleComWidgets { totalCount } }')).codes).toHaveLength(1);
});
