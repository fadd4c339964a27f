import { expect, test } from 'vitest';
import { engineFixture, made } from '../../../test/kit/engine-fixture.ts';
import { gadget, gadgets, widget, widgets } from '../../../test/kit/graphql-world.ts';
import { decodeLiveCursor } from '../../live/log/live-cursor.ts';

/** Gadgets g1 and g2 own widgets: g1 three of them and one gadget, g2 one widget. */
async function world() {
  const fixture = engineFixture();
  await fixture.declare(widget(), gadget());
  await fixture.sync(gadgets, [
    made({ name: 'g1', namespace: null, uid: 'u1' }),
    made({ name: 'g2', namespace: null, uid: 'u2' }),
    made({ name: 'g3', namespace: null, uid: 'u3', owner: { uid: 'u1' } }),
  ]);
  await fixture.sync(
    widgets,
    [1, 2, 3, 4].map((replicas) =>
      made({
        name: `w${replicas}`,
        owner: { uid: replicas < 4 ? 'u1' : 'u2' },
        labels: { n: `${replicas}` },
        spec: { replicas },
      }),
    ),
  );
  return fixture;
}

const names = (connection: { nodes: { metadata: { name: string } }[] }): string =>
  connection.nodes.map(({ metadata }) => metadata.name).join(' ');

test('owned objects of all kinds, of some, in pages', async () => {
  const { query } = await world();
  const { data, errors } = await query(`{ g1: exampleComGadget(name: "g1") {
    all: owned { nodes { kind metadata { name } } totalCount few: totalCount(limit: 2) pageInfo { hasNextPage } }
    widgets: owned(kinds: ["Widget"], first: 2) { nodes { metadata { name } ... on ExampleComWidget { spec { replicas } } }
      totalCount pageInfo { hasNextPage hasPreviousPage endCursor } }
    none: owned(kinds: []) { totalCount nodes { id } } } }`);
  expect(errors).toEqual([]);
  const { all, widgets: some, none } = data.g1;
  expect(names(all)).toBe('g3 w1 w2 w3');
  expect(all).toMatchObject({ totalCount: 4, few: 2, pageInfo: { hasNextPage: false } });
  expect(some.nodes).toEqual([
    { metadata: { name: 'w1' }, spec: { replicas: 1 } },
    { metadata: { name: 'w2' }, spec: { replicas: 2 } },
  ]);
  expect(some).toMatchObject({ totalCount: 3, pageInfo: { hasNextPage: true, hasPreviousPage: false } });
  expect(none).toEqual({ totalCount: 0, nodes: [] });
  const next = await query(
    'query ($after: String) { exampleComGadget(name: "g1") { owned(kinds: ["Widget"], first: 2, after: $after) { nodes { metadata { name } } pageInfo { hasNextPage hasPreviousPage } } } }',
    { after: some.pageInfo.endCursor },
  );
  expect(names(next.data.exampleComGadget.owned)).toBe('w3');
  expect(next.data.exampleComGadget.owned.pageInfo).toEqual({ hasNextPage: false, hasPreviousPage: true });
});

test('owners come in pages', async () => {
  const fixture = engineFixture();
  await fixture.declare(widget(), gadget());
  const owners = Array.from({ length: 12 }, (_, index) => ({
    name: `g${String(index).padStart(2, '0')}`,
    uid: `u${index}`,
  }));
  await fixture.sync(
    gadgets,
    owners.map(({ name, uid }) => made({ name, namespace: null, uid })),
  );
  const ownerReferences = owners.map(({ name, uid }) => ({ apiVersion: 'example.com/v1', kind: 'Gadget', name, uid }));
  await fixture.sync(widgets, [made({ name: 'w', metadata: { ownerReferences } } as never)]);
  const page = async (args: string) => {
    const { data, errors } = await fixture.query(
      `{ exampleComWidget(name: "w", namespace: "default") { owners${args} { totalCount nodes { metadata { name } } pageInfo { hasNextPage endCursor } } } }`,
    );
    expect(errors).toEqual([]);
    return data.exampleComWidget.owners;
  };
  const first = await page('');
  expect([first.totalCount, first.nodes.length, first.pageInfo.hasNextPage]).toEqual([12, 10, true]);
  expect(names(await page(`(after: "${first.pageInfo.endCursor}")`))).toBe('g10 g11');
  expect(names(await page('(first: 2)'))).toBe('g00 g01');
  expect((await page('(first: 12)')).pageInfo.hasNextPage).toBe(false);
});

test('owners, and the way back', async () => {
  const { query } = await world();
  const { data } = await query(`{ exampleComWidgets { nodes { metadata { name }
    owners { nodes { metadata { name } owned(kinds: ["Widget"]) { nodes { metadata { name } } } } totalCount none: totalCount(limit: 0) } } } }`);
  expect(data.exampleComWidgets.nodes.map((node: { owners: unknown }) => node.owners)).toMatchObject([
    ...[1, 2, 3].map(() => ({ nodes: [{ metadata: { name: 'g1' } }], totalCount: 1, none: 0 })),
    { nodes: [{ metadata: { name: 'g2' }, owned: { nodes: [{ metadata: { name: 'w4' } }] } }] },
  ]);
});

test('one statement answers a whole list', async () => {
  const { query, statements } = await world();
  statements.length = 0;
  await query(`{ exampleComGadgets { nodes { owned { nodes { id metadata { labels } } edges { cursor } pageInfo { hasNextPage } totalCount changesCursor }
    owners { nodes { id } totalCount } } } }`);
  const related = statements.filter(({ sql }) => sql.includes('edge AS e'));
  expect(related).toHaveLength(3);
});

test('a fragment at two places reads at each what is asked there', async () => {
  const { query } = await world();
  const { data } = await query(`
    { thin: exampleComGadgets { nodes { ...F } }
      thick: exampleComGadgets { nodes { ...F owned { nodes { metadata { labels } } } owners { nodes { raw } } } } }
    fragment F on ExampleComGadget { owned { nodes { metadata { name } } } owners { nodes { id } } }`);
  const [first, , third] = data.thick.nodes;
  expect(first.owned.nodes[1].metadata).toEqual({ name: 'w1', labels: { n: '1' } });
  expect(third.owners.nodes[0].raw.metadata.uid).toBe('u1');
});

test.each([
  ['a kind that is not there', 'kinds: ["Wodget"]', /Wodget/],
  ['a negative page', 'first: -1', /0 or more/],
  ['a cursor that is none', 'after: "x"', /not a cursor/],
])('%s is refused', async (_what, args, message) => {
  const { query } = await world();
  const { errors } = await query(`{ exampleComGadget(name: "g1") { owned(${args}) { nodes { id } } } }`);
  expect(errors[0]?.originalError).toMatchObject({ code: 'BAD_USER_INPUT', message: expect.stringMatching(message) });
});

test('in a subscription, the cursor of related objects is of the snapshot they were read in', async () => {
  const { subscribe, apply, writer, statements } = await world();
  const events = await subscribe(`subscription { changes: exampleComGadgetChanges {
    changes { object { owned(kinds: ["Widget"]) { nodes { metadata { name } } changesCursor } } } } }`);
  const revision = writer().revision();
  // The owned objects are read in a snapshot; a widget is added as soon as that snapshot is taken.
  statements.push = (...asked) => {
    const read = asked.some(({ sql }) => sql.includes('edge AS e')) && writer().revision() === revision;
    if (read) apply(widgets, 'ADDED', made({ name: 'w5', owner: { uid: 'u1' } }));
    return asked.length;
  };
  const { value } = await events.next();
  const { changes } = JSON.parse(JSON.stringify(value)).data.changes;
  expect(writer().revision()).toBeGreaterThan(revision);
  expect(names(changes[0].object.owned)).toBe('w1 w2 w3');
  expect(decodeLiveCursor(changes[0].object.owned.changesCursor).sequence).toBe(revision);
});
