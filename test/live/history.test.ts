/** `history` of an object, and `changes` over several kinds: what they show, how far they reach, and what they hide. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fixedRights } from '../../src/access/rights.ts';
import { isVisible, noRows, type Scope, unrestricted } from '../../src/access/scope.ts';
import { systemClock } from '../../src/base/clock.ts';
import { type EngineFixture, engineFixture, made } from '../kit/engine-fixture.ts';
import { gadget, gadgets, widget, widgets } from '../kit/graphql-world.ts';

const begun = Date.parse('2026-01-31T12:00:00Z');

/** A store whose time stands still until it is moved, with widgets and gadgets. */
async function world(options: { readonly maxBytes?: number; readonly scope?: (key: string) => Scope } = {}) {
  let now = begun;
  const clock = { ...systemClock, now: () => now };
  const { scope } = options;
  const fixture = engineFixture({
    writer: { clock, ...(options.maxBytes === undefined ? {} : { changeLog: { maxBytes: options.maxBytes } }) },
    engine: {
      clock,
      ...(scope === undefined ? {} : { rights: fixedRights(() => ({ id: 'test', of: (key: string) => scope(key) })) }),
    },
  });
  await fixture.declare(widget(), gadget());
  await fixture.sync(widgets, []);
  await fixture.sync(gadgets, []);
  let rv = 100;
  const write = (type: 'ADDED' | 'MODIFIED' | 'DELETED', name: string, given: object = {}, key = widgets): void => {
    rv += 1;
    const { replicas, namespace, uid, managers, ...metadata } = given as Record<string, unknown>;
    const managedFields = managers === undefined ? {} : { managedFields: managers };
    fixture.apply(key, type, {
      ...made({
        name,
        ...(key === gadgets ? { namespace: null } : namespace === undefined ? {} : { namespace }),
        ...(uid === undefined ? {} : { uid }),
        metadata: { resourceVersion: String(rv), ...metadata, ...managedFields },
        spec: { replicas },
      } as never),
    });
  };
  const pass = (seconds: number): void => {
    now += seconds * 1000;
  };
  return { ...fixture, write, pass };
}

async function ask({ query }: Pick<EngineFixture, 'query'>, text: string) {
  const { data, errors } = await query(text);
  return { data: JSON.parse(JSON.stringify(data ?? null)), errors };
}

const nodes = 'nodes { type at resourceVersion changedPaths managers { manager operation subresource time }';
const replicas = (field: string) => `${field} { ... on ExampleComWidget { spec { replicas } } }`;
const historyOf = (name: string, args = '') =>
  `{ exampleComWidget(namespace: "default", name: "${name}") { history${args} {
    ${nodes} ${replicas('object')} ${replicas('before')} } pageInfo { hasNextPage endCursor } since isComplete } } }`;

test('shows the states of an object, newest first, with what changed and how far it reaches', async () => {
  const store = await world();
  const { write, pass } = store;
  pass(10);
  write('ADDED', 'web', { replicas: 1 });
  pass(10);
  write('MODIFIED', 'web', { replicas: 2, labels: { app: 'shop' } });
  pass(10);
  write('MODIFIED', 'web', { replicas: 2, labels: { app: 'shop' } });
  const { data } = await ask(store, historyOf('web'));
  expect(data.exampleComWidget.history).toMatchObject({
    nodes: [
      { type: 'MODIFIED', at: '2026-01-31T12:00:30.000Z', resourceVersion: '103', changedPaths: [] },
      {
        type: 'MODIFIED',
        at: '2026-01-31T12:00:20.000Z',
        resourceVersion: '102',
        changedPaths: ['metadata.labels', 'spec.replicas'],
        object: { spec: { replicas: 2 } },
        before: { spec: { replicas: 1 } },
      },
      { type: 'ADDED', resourceVersion: '101', changedPaths: null, object: { spec: { replicas: 1 } }, before: null },
    ],
    pageInfo: { hasNextPage: false },
    since: '2026-01-31T12:00:00.000Z',
    isComplete: true,
  });
});

test('pages go on where the last one ended', async () => {
  const store = await world();
  store.write('ADDED', 'web', { replicas: 0 });
  for (let index = 1; index < 8; index += 1) store.write('MODIFIED', 'web', { replicas: index });
  const seen: number[] = [];
  let after = '';
  for (;;) {
    const { data } = await ask(store, historyOf('web', `(first: 3${after})`));
    const { history } = data.exampleComWidget;
    seen.push(...history.nodes.map((node: { object: { spec: { replicas: number } } }) => node.object.spec.replicas));
    if (!history.pageInfo.hasNextPage) break;
    after = `, after: "${history.pageInfo.endCursor}"`;
  }
  expect(seen).toEqual([7, 6, 5, 4, 3, 2, 1, 0]);
});

test('says who changed the object, where managedFields tell', async () => {
  const store = await world();
  const { write, pass } = store;
  const at = (second: number) => new Date(begun + second * 1000).toISOString().replace('.000', '');
  const kubectl = (second: number) => ({ manager: 'kubectl', operation: 'Apply', time: at(second) });
  const controller = (second: number) => ({
    manager: 'controller',
    operation: 'Update',
    subresource: 'status',
    time: at(second),
  });
  pass(1);
  write('ADDED', 'web', { replicas: 1, managers: [kubectl(1)] });
  pass(9);
  write('MODIFIED', 'web', { replicas: 2, managers: [kubectl(1), controller(10)] });
  // In the same second: the newest time is also that of the manager before.
  write('MODIFIED', 'web', { replicas: 3, managers: [kubectl(10), controller(10)] });
  pass(50);
  // A deletion mark is recorded by no manager.
  write('MODIFIED', 'web', { replicas: 3, deletionTimestamp: at(60), managers: [kubectl(10), controller(10)] });
  pass(1);
  write('DELETED', 'web');
  const { data } = await ask(store, `{ changes(since: "-1h") { ${nodes} } } }`);
  expect(data.changes.nodes.map(({ managers }: { managers: object }) => managers)).toEqual([
    [],
    [],
    [{ ...kubectl(10), subresource: null }],
    [controller(10)],
    [{ ...kubectl(1), subresource: null }],
  ]);
});

test('names nobody for a change that gives no manager a newer time', async () => {
  const store = await world();
  const { write, pass } = store;
  const manager = (name: string, second: number) => ({
    ...{ manager: name, operation: 'Update', subresource: null },
    time: new Date(begun + second * 1000).toISOString().replace('.000', ''),
  });
  pass(1);
  write('ADDED', 'web', { replicas: 1, managers: [manager('first', 1)] });
  pass(9);
  write('MODIFIED', 'web', { replicas: 2, managers: [manager('first', 1), manager('second', 10)] });
  // Somebody removes all fields of the newest manager.
  write('MODIFIED', 'web', { replicas: 3, managers: [manager('first', 1)] });
  pass(1);
  // Somebody removes a field, and no entry has another time.
  write('MODIFIED', 'web', { replicas: 4, managers: [manager('first', 1)] });
  pass(1);
  write('MODIFIED', 'web', { replicas: 5, managers: [manager('first', 12)] });
  // In the same second, by the same manager or by a removal: managedFields do not tell.
  write('MODIFIED', 'web', { replicas: 6, managers: [manager('first', 12)] });
  const { data } = await ask(store, `{ changes(since: "-1h") { ${nodes} } } }`);
  expect(data.changes.nodes.map(({ managers }: { managers: object }) => managers)).toEqual([
    [],
    [manager('first', 12)],
    [],
    [],
    [manager('second', 10)],
    [manager('first', 1)],
  ]);
});

test('a past that is cut is told by the time from which it is whole', async () => {
  const store = await world({ maxBytes: 6000 });
  const { write, pass } = store;
  write('ADDED', 'other', { replicas: 1 }, gadgets);
  write('ADDED', 'web', { replicas: 0 });
  for (let index = 1; index < 60; index += 1) {
    pass(1);
    write('MODIFIED', 'web', { replicas: index });
  }
  while (store.writer().maintain());
  const { data } = await ask(store, historyOf('web', '(first: 100)'));
  const { history } = data.exampleComWidget;
  expect(history.isComplete).toBe(false);
  expect(history.nodes.length).toBeGreaterThan(3);
  expect(history.nodes.length).toBeLessThan(40);
  const oldest = history.nodes.at(-1);
  expect(Date.parse(oldest.at)).toBe(Date.parse(history.since) + 1000);
  expect(oldest.before.spec.replicas).toBe(oldest.object.spec.replicas - 1);
  const reached = await ask(store, '{ changes(since: "-1h", first: 1) { reaches { kind group cluster since } } }');
  expect(reached.data.changes.reaches).toEqual([
    { kind: 'Gadget', group: 'example.com', cluster: 'east', since: '2026-01-31T12:00:00.000Z' },
    { kind: 'Widget', group: 'example.com', cluster: 'east', since: history.since },
  ]);
});

test('what happened around a new list of the kind is not claimed', async () => {
  const store = await world();
  const { write, pass } = store;
  write('ADDED', 'web', { replicas: 1 });
  pass(100);
  await store.writer().drop(store.handle(widgets));
  await store.declare(widget());
  const reach = '{ changes(since: "-1h", kinds: ["ExampleComWidget"]) { nodes { name type } reaches { since } } }';
  expect((await ask(store, reach)).data.changes).toEqual({ nodes: [], reaches: [{ since: null }] });
  await store.sync(widgets, [made({ name: 'web', spec: { replicas: 5 } } as never)]);
  expect((await ask(store, reach)).data.changes).toEqual({
    nodes: [],
    reaches: [{ since: '2026-01-31T12:01:40.000Z' }],
  });
  const { data } = await ask(store, historyOf('web'));
  expect(data.exampleComWidget.history).toMatchObject({
    nodes: [],
    isComplete: false,
    since: '2026-01-31T12:01:40.000Z',
  });
});

test('what changed in the last ten minutes, over kinds, namespaces and clusters', async () => {
  const store = await world();
  const { write, pass } = store;
  write('ADDED', 'old', { replicas: 1 });
  pass(3600);
  write('ADDED', 'web', { replicas: 1 });
  write('ADDED', 'one', {}, gadgets);
  pass(60);
  write('MODIFIED', 'web', { replicas: 2 });
  write('ADDED', 'web', { replicas: 1, namespace: 'shop' });
  write('DELETED', 'old');
  const names = async (args: string) => {
    const { data, errors } = await ask(
      store,
      `{ changes(since: ${args}) { nodes { kind namespace name type before { id } } } }`,
    );
    expect(errors).toEqual([]);
    return data.changes.nodes.map(
      ({ kind, namespace, name, type }: Record<string, string>) => `${type} ${kind} ${namespace ?? ''}/${name}`,
    );
  };
  const all = [
    'DELETED Widget default/old',
    'ADDED Widget shop/web',
    'MODIFIED Widget default/web',
    'ADDED Gadget /one',
    'ADDED Widget default/web',
  ];
  expect(await names('"-10m"')).toEqual(all);
  expect(await names('"-2h"')).toEqual([...all, 'ADDED Widget default/old']);
  expect(await names('"-30s"')).toEqual(all.slice(0, 3));
  expect(await names('"2026-01-31T13:00:00Z", until: "-1m"')).toEqual(all.slice(3));
  expect(await names('"-10m", kinds: ["ExampleComGadget"]')).toEqual(['ADDED Gadget /one']);
  expect(await names('"-10m", namespaces: ["shop"]')).toEqual(['ADDED Widget shop/web']);
  expect(await names('"-10m", namespaces: ["shop", "default"], first: 2')).toEqual(all.slice(0, 2));
  expect(await names('"-10m", clusters: ["east"]')).toEqual(all);
  expect(await names('"-10m", first: 0')).toEqual([]);
});

test('pages of changes go on while the log grows', async () => {
  const store = await world();
  for (let index = 0; index < 7; index += 1) store.write('ADDED', `n${index}`, {}, index % 2 === 0 ? widgets : gadgets);
  const seen: string[] = [];
  let after = '';
  for (let page = 0; page < 4; page += 1) {
    const { data } = await ask(
      store,
      `{ changes(since: "-10m", first: 2${after}) { edges { cursor node { name } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`,
    );
    const { edges, pageInfo } = data.changes;
    seen.push(...edges.map(({ node }: { node: { name: string } }) => node.name));
    expect(pageInfo).toEqual({
      hasNextPage: page < 3,
      hasPreviousPage: page > 0,
      startCursor: edges[0].cursor,
      endCursor: edges.at(-1).cursor,
    });
    after = `, after: "${pageInfo.endCursor}"`;
    store.write('ADDED', `later${page}`);
  }
  expect(seen).toEqual(['n6', 'n5', 'n4', 'n3', 'n2', 'n1', 'n0']);
});

test.each([
  ['since: "yesterday"', 'BAD_USER_INPUT', 'since "yesterday" is not a time'],
  ['since: "-10x"', 'BAD_USER_INPUT', ', or "-10m" for ten minutes ago.'],
  ['since: "1d12h"', 'BAD_USER_INPUT', '; perhaps "-1d12h" is meant.'],
  ['since: "-99999999w"', 'BAD_USER_INPUT', 'before year 1'],
  ['since: "-1m", until: "-2m"', 'BAD_USER_INPUT', '`until` is before'],
  ['since: "-1m", kinds: ["Nothing"]', 'BAD_USER_INPUT', 'There is no kind'],
  ['since: "-1m", clusters: ["north"]', 'BAD_USER_INPUT', 'There is no cluster'],
  ['since: "-1m", first: -1', 'BAD_USER_INPUT', '`first`'],
  ['since: "-1m", first: 501', 'BAD_USER_INPUT', 'at most 500'],
  ['since: "-1m", after: "x"', 'BAD_USER_INPUT', 'not a cursor'],
  [
    `since: "-1m", after: "${Buffer.from('[1,"other","epoch",5]').toString('base64url')}"`,
    'BAD_USER_INPUT',
    'another list',
  ],
])('refuses %s', async (args, code, text) => {
  const { errors } = await ask(await world(), `{ changes(${args}) { nodes { name } } }`);
  expect(errors[0]?.originalError).toMatchObject({ code, message: expect.stringContaining(text) });
});

test('a cursor of a store that was rebuilt is gone, and one of another object is refused', async () => {
  const store = await world();
  for (const name of ['a', 'b']) {
    store.write('ADDED', name, { replicas: 1 });
    store.write('MODIFIED', name, { replicas: 2 });
  }
  const { data } = await ask(store, historyOf('a', '(first: 1)'));
  const { endCursor } = data.exampleComWidget.history.pageInfo;
  const other = await ask(store, historyOf('b', `(first: 1, after: "${endCursor}")`));
  expect(other.errors[0]?.originalError).toMatchObject({ code: 'BAD_USER_INPUT' });
  const [version, fingerprint, , seq] = JSON.parse(Buffer.from(endCursor, 'base64url').toString());
  const old = Buffer.from(JSON.stringify([version, fingerprint, 'an-epoch', seq])).toString('base64url');
  const rebuilt = await ask(store, historyOf('a', `(after: "${old}")`));
  expect(rebuilt.errors[0]?.originalError).toMatchObject({ code: 'GONE' });
});

const inShop: Scope = {
  rows: 'some',
  clusters: new Map([['east', { namespaces: new Set(['shop']), names: new Map([['default', new Set(['seen'])]]) }]]),
};

test('only changes of objects that the caller may see now are shown, also of deleted ones', async () => {
  const store = await world({ scope: (key) => (key === widgets ? inShop : noRows) });
  const { write } = store;
  write('ADDED', 'one', {}, gadgets);
  for (const name of ['seen', 'hidden']) write('ADDED', name);
  write('ADDED', 'web', { namespace: 'shop' });
  write('DELETED', 'hidden');
  write('DELETED', 'seen');
  write('DELETED', 'web', { namespace: 'shop' });
  const text =
    '{ changes(since: "-10m"ARGS) { nodes { type namespace name } pageInfo { hasNextPage } reaches { kind } } }';
  const { data } = await ask(store, text.replace('ARGS', ', first: 4'));
  expect(data.changes).toEqual({
    nodes: [
      { type: 'DELETED', namespace: 'shop', name: 'web' },
      { type: 'DELETED', namespace: 'default', name: 'seen' },
      { type: 'ADDED', namespace: 'shop', name: 'web' },
      { type: 'ADDED', namespace: 'default', name: 'seen' },
    ],
    pageInfo: { hasNextPage: false },
    reaches: [{ kind: 'Widget' }],
  });
  for (const args of [', kinds: ["ExampleComGadget"]', ', namespaces: ["elsewhere"]']) {
    const { errors } = await ask(store, text.replace('ARGS', args));
    expect(errors[0]?.originalError).toMatchObject({ code: 'FORBIDDEN' });
  }
});

test('the histories of a list are a fixed number of statements', async () => {
  const store = await world({ scope: (key) => unrestricted.of(key) });
  for (let index = 0; index < 20; index += 1) {
    store.write('ADDED', `n${index}`, { replicas: 1 });
    store.write('MODIFIED', `n${index}`, { replicas: 2 });
  }
  const count = async (first: number, fields: string) => {
    const before = store.statements.length;
    const { errors } = await ask(
      store,
      `{ exampleComWidgets(first: ${first}) { nodes { history(first: 2) { ${fields} } } } }`,
    );
    expect(errors).toEqual([]);
    return store.statements.length - before;
  };
  const fields = 'nodes { changedPaths object { id } } since';
  await count(1, fields);
  expect(await count(20, fields)).toBe(await count(2, fields));
  // Bodies are read only where they are shown.
  expect(await count(2, fields)).toBe((await count(2, 'nodes { at managers { manager } } since')) + 1);
});

test('histories are charged by what they give, and at most by what they could give', async () => {
  const store = await world();
  for (let index = 0; index < 30; index += 1)
    store.write(index === 0 ? 'ADDED' : 'MODIFIED', 'web', { replicas: index });
  const spent = async (text: string) => {
    const { operation } = await store.query(text);
    return operation.cost.spent;
  };
  const nodes = 'nodes { at object { raw } }';
  const list = (first: number) => `{ exampleComWidgets { nodes { history(first: ${first}) { ${nodes} } } } }`;
  const object = 1 + 1 + 10 + 50;
  expect((await spent(list(20))) - (await spent(list(10)))).toBe(10 * object);
  expect(await spent(`{ changes(since: "-1m", first: 7) { ${nodes} } }`)).toBe(7 * object);
});

test('an object of before has its relations of now, and its own history', async () => {
  const store = await world();
  store.write('ADDED', 'web', { replicas: 1 });
  store.write('DELETED', 'web');
  const { data, errors } = await ask(
    store,
    `{ changes(since: "-1m", first: 1) { nodes { before { metadata { name resourceVersion } health { status } raw
       owners { nodes { id } } owned { nodes { id } } references { name } usedBy { nodes { id } }
       graph { nodes { id } edges { from } } columns { value } viewerCan(verb: "get") history { isComplete nodes { type } } } } } }`,
  );
  expect(errors).toEqual([]);
  expect(data.changes.nodes).toMatchObject([
    {
      before: {
        metadata: { name: 'web', resourceVersion: '101' },
        owners: { nodes: [] },
        owned: { nodes: [] },
        references: [],
        usedBy: { nodes: [] },
        graph: { nodes: [], edges: [] },
        history: { isComplete: true, nodes: [{ type: 'DELETED' }, { type: 'ADDED' }] },
      },
    },
  ]);
});

const names = ['a', 'b', 'c'];
const places = ['one', 'two', 'three'];
const someNames = fc.subarray(names).map((some) => new Set(some));
const scopes: fc.Arbitrary<Scope> = fc.oneof(
  { weight: 1, arbitrary: fc.constant(unrestricted.of(widgets)) },
  {
    weight: 5,
    arbitrary: fc
      .record({
        namespaces: fc.subarray(places).map((some) => new Set(some)),
        names: fc.dictionary(fc.constantFrom('', ...places), someNames).map((found) => new Map(Object.entries(found))),
      })
      .map((part): Scope => ({ rows: 'some', clusters: new Map([['east', part]]) })),
  },
);

test('a caller gets, page by page, those changes of the whole answer that the scope shows', async () => {
  let scope = unrestricted.of(widgets);
  const store = await world({ scope: (key) => (key === widgets ? scope : noRows) });
  let random = 7;
  const dice = (bound: number) => {
    random = (random * 48_271) % 2_147_483_647;
    return random % bound;
  };
  const held = new Set<string>();
  for (let index = 0; index < 120; index += 1) {
    const [name = '', namespace = ''] = [names[dice(3)], places[dice(3)]];
    const key = `${namespace}/${name}`;
    const type = !held.has(key) ? 'ADDED' : dice(3) === 0 ? 'DELETED' : 'MODIFIED';
    if (type === 'DELETED') held.delete(key);
    else held.add(key);
    store.write(type, name, { namespace, replicas: index });
  }
  const pages = async (first: number) => {
    const found: { name: string; namespace: string; resourceVersion: string; cluster: string }[] = [];
    for (let after = ''; ; ) {
      const { data, errors } = await ask(
        store,
        `{ changes(since: "-1h", first: ${first}${after}) { nodes { cluster namespace name resourceVersion } pageInfo { hasNextPage endCursor } } }`,
      );
      expect(errors).toEqual([]);
      found.push(...data.changes.nodes);
      if (!data.changes.pageInfo.hasNextPage) return found;
      after = `, after: "${data.changes.pageInfo.endCursor}"`;
    }
  };
  const whole = await pages(500);
  expect(whole).toHaveLength(120);
  await fc.assert(
    fc.asyncProperty(scopes, fc.integer({ min: 1, max: 30 }), async (some, first) => {
      scope = some;
      expect(await pages(first)).toEqual(whole.filter((change) => isVisible(some, change)));
    }),
    { numRuns: 30 },
  );
});
