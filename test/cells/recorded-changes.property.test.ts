/**
 * Pages of recorded changes over several cells. Together, the pages of a list have each change of its first moment exactly once, the newest
 * first, while writes go on.
 */
import { describe, expect, test } from 'vitest';
import { Dice } from '../fuzz/dice.ts';
import { type CellsFixture, cellsFixture } from '../kit/cells-fixture.ts';
import { made, queryOf } from '../kit/engine-fixture.ts';
import { gadget, gadgets, widget, widgets } from '../kit/graphql-world.ts';

const runs = Number(process.env['PORTOLAN_CELL_RUNS'] ?? '3');
const clusters = ['east', 'west', 'north'];
const names = [...'abcd'];

const layouts: readonly { readonly cells: number; readonly at: Readonly<Record<string, number>> }[] = [
  { cells: 1, at: { east: 0, west: 0, north: 0 } },
  { cells: 3, at: { east: 0, west: 1, north: 2 } },
  { cells: 3, at: { east: 2, west: 0, north: 2 } },
  { cells: 8, at: { east: 5, west: 3, north: 0 } },
];

interface Edge {
  readonly cursor: string;
  readonly node: {
    readonly at: string;
    readonly type: string;
    readonly cluster: string;
    readonly name: string;
    readonly resourceVersion: string | null;
  };
}

interface Page {
  readonly edges: readonly Edge[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}

async function world(cells: number, at: Readonly<Record<string, number>>): Promise<CellsFixture> {
  const fixture = cellsFixture(cells, (cluster) => at[cluster] ?? 0);
  await fixture.declare(...clusters.flatMap((cluster) => [widget(cluster), gadget(cluster)]));
  for (const cluster of clusters) for (const key of [widgets, gadgets]) await fixture.sync(key, [], cluster);
  return fixture;
}

function write(fixture: CellsFixture, dice: Dice): void {
  const key = dice.pick([widgets, gadgets]);
  const namespace = key === gadgets ? null : 'default';
  const object = made({ name: dice.pick(names), namespace, spec: { total: dice.below(100) } });
  fixture.apply(key, dice.chance(0.2) ? 'DELETED' : 'MODIFIED', object, dice.pick(clusters));
}

async function page(fixture: CellsFixture, args: string, after: string | null, first: number): Promise<Page> {
  const { data, errors } = await queryOf(
    fixture.engine.source,
    `query ($after: String) { changes(since: "-1h"${args}, first: ${first}, after: $after) {
      edges { cursor node { at type cluster name resourceVersion } } pageInfo { hasNextPage endCursor } } }`,
    { after },
  );
  if (errors[0] !== undefined) throw errors[0].originalError ?? errors[0];
  return data.changes as Page;
}

const nameOf = ({ node: { cluster, name, type, resourceVersion, at } }: Edge): string =>
  [cluster, name, type, resourceVersion, at].join(' ');

describe.each(layouts)('$cells cells, clusters at $at', ({ cells, at }) => {
  test.each(Array.from({ length: runs }, (_, index) => index + 1))(
    'the pages have each change once, the newest first, seed %i',
    { timeout: 120_000 },
    async (seed) => {
      const dice = new Dice(seed, cells);
      const fixture = await world(cells, at);
      for (let step = 0; step < 60; step += 1) {
        write(fixture, dice);
        // Changes of one millisecond have no order between cells.
        if (dice.chance(0.3)) await new Promise((resolve) => setTimeout(resolve, 2));
      }
      for (const args of ['', `, kinds: ["${widgets}"]`, ', clusters: ["east", "north"]', ', clusters: ["west"]']) {
        const whole = (await page(fixture, args, null, 200)).edges;
        expect(whole.length).toBeGreaterThan(3);
        const times = whole.map(({ node }) => Date.parse(node.at));
        expect(times).toEqual(times.toSorted((a, b) => b - a));
        const found: Edge[] = [];
        for (let after: string | null = null; ; ) {
          const { edges, pageInfo }: Page = await page(fixture, args, after, dice.between(1, 9));
          found.push(...edges);
          if (!pageInfo.hasNextPage) break;
          after = pageInfo.endCursor;
          for (let more = dice.below(4); more > 0; more -= 1) write(fixture, dice);
        }
        expect(found.map(nameOf)).toEqual(whole.map(nameOf));
        // Any cursor continues where it stands.
        const at = dice.below(whole.length);
        const rest = await page(fixture, args, whole[at]?.cursor ?? null, 200);
        expect(rest.edges.map(nameOf)).toEqual(whole.slice(at + 1).map(nameOf));
      }
    },
  );
});

test('a cursor of other cells, or of another list, is refused', async () => {
  const [one, three] = [await world(1, {}), await world(3, { east: 0, west: 1, north: 2 })];
  const again = await world(3, { east: 0, west: 1, north: 2 });
  const dice = new Dice(1);
  for (const fixture of [one, three, again]) for (let step = 0; step < 30; step += 1) write(fixture, dice);
  const cursorOf = async (fixture: CellsFixture, args: string) =>
    (await page(fixture, args, null, 2)).pageInfo.endCursor;
  const asked = (fixture: CellsFixture, args: string, after: string | null) => page(fixture, args, after, 2);
  const refused = { code: expect.stringMatching(/^(GONE|BAD_USER_INPUT)$/) };
  await expect(asked(one, '', await cursorOf(three, ''))).rejects.toMatchObject(refused);
  await expect(asked(three, '', await cursorOf(one, ''))).rejects.toMatchObject(refused);
  await expect(asked(again, '', await cursorOf(three, ''))).rejects.toMatchObject({ code: 'GONE' });
  const east = ', clusters: ["east"]';
  await expect(asked(three, east, await cursorOf(three, ''))).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
  await expect(asked(three, '', await cursorOf(three, east))).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
});

test('the reach and the history of an object are those of its cell', async () => {
  const fixture = await world(3, { east: 0, west: 1, north: 2 });
  for (const cluster of clusters) {
    for (const total of [1, 2]) fixture.apply(widgets, 'MODIFIED', made({ name: 'a', spec: { total } }), cluster);
  }
  const { data, errors } = await queryOf(
    fixture.engine.source,
    `{ changes(since: "-1h", kinds: ["${widgets}"]) { reaches { cluster since } }
      exampleComWidgets { nodes { cluster history(first: 1) { isComplete since edges { cursor node { type changedPaths } } } } } }`,
  );
  expect(errors).toEqual([]);
  expect(data.changes.reaches.map(({ cluster }: { readonly cluster: string }) => cluster)).toEqual(clusters.toSorted());
  const { nodes } = data.exampleComWidgets;
  expect(nodes).toHaveLength(3);
  for (const { history } of nodes) {
    expect(history.edges).toMatchObject([{ node: { type: 'MODIFIED', changedPaths: ['spec.total'] } }]);
    expect(history.since).not.toBeNull();
  }
});
