/** Abstract kinds over a store: the tables of two members in two clusters become one list. */
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { fixedRights } from '../../src/access/rights.ts';
import { allRows, noRows, type Scope } from '../../src/access/scope.ts';
import { codeOf } from '../../src/base/errors.ts';
import { readAbstractKinds } from '../../src/catalog/abstract/read-abstract-kinds.ts';
import { deriving } from '../kit/deriving.ts';
import { describedCrd, type EngineFixture, engineFixture, type FixtureOptions, made } from '../kit/engine-fixture.ts';
import { eventually } from '../kit/eventually.ts';

const object = (properties: object) => ({ type: 'object', properties });
const text = { type: 'string' };
const redis = (cluster = 'east') =>
  describedCrd({
    cluster,
    kind: 'Redis',
    plural: 'redises',
    properties: {
      spec: object({
        version: text,
        memory: { 'x-kubernetes-int-or-string': true },
        shards: { type: 'array', items: object({ replicas: { type: 'integer' } }) },
      }),
      status: object({ state: text }),
    },
    columns: [],
  });
const mysql = (cluster = 'east') =>
  describedCrd({
    cluster,
    kind: 'MySQL',
    plural: 'mysqls',
    properties: {
      spec: object({ image: object({ tag: text }), size: { type: 'integer' } }),
      status: object({ phase: text }),
    },
    columns: [],
  });
const redises = 'redises.example.com';
const mysqls = 'mysqls.example.com';

const declared = `
abstractKinds:
  - name: appInstances
    type: AppInstance
    columns:
      engine: String
      version: String
      replicas: Int64
      state: { type: String, values: [up, down] }
      address: String
    members:
      - resource: redises.example.com
        columns:
          engine: { value: redis }
          version: spec.version
          replicas: sum(spec.shards[].replicas)
          state: { of: status.state, map: { OK: up, BAD: down } }
          address: { concat: [metadata.name, { value: "." }, metadata.namespace] }
      - resource: mysqls.example.com
        where: { "metadata.labels[\\"hidden\\"]": { exists: false } }
        columns:
          engine: { value: mysql }
          version: { firstOf: [spec.image.tag, spec.version] }
          replicas: spec.size
          state: { of: status.phase, map: { Running: up }, otherwise: down }
`;

let declare: (document: string) => void = () => {};
let stopDeriving: () => Promise<void> = async () => {};

/** @param visible the number of objects that the caller sees; null for a caller who is refused */
async function world(options: FixtureOptions = {}, visible: number | null = 4): Promise<EngineFixture> {
  const fixture = engineFixture(options);
  const { kinds, problems } = readAbstractKinds(parse(declared));
  expect(problems).toEqual([]);
  await fixture.declare(redis(), mysql(), redis('west'));
  await fixture.sync(redises, [
    made({ name: 'a', spec: { version: '7', shards: [{ replicas: 2 }, { replicas: 1 }] }, status: { state: 'OK' } }),
    made({ name: 'b', spec: { version: '6' }, status: { state: 'odd' } }),
  ]);
  await fixture.sync(mysqls, [
    made({ name: 'a', spec: { image: { tag: '8' }, size: 3 }, status: { phase: 'Running' } }),
    made({ name: 'h', metadata: { labels: { hidden: 'yes' } }, spec: { size: 1 } }),
  ]);
  await fixture.sync(redises, [made({ name: 'w', spec: { version: '7' } })], 'west');
  const { abstract, stop } = deriving(fixture, kinds);
  declare = (document) => abstract.declare(readAbstractKinds(parse(document)).kinds);
  stopDeriving = stop;
  await eventually(async () => {
    await fixture.engine.refreshCatalog();
    const states = fixture
      .writer()
      .states()
      .filter(({ handle }) => handle.key === 'appinstances.abstract');
    expect(states.map(({ synced }) => synced)).toEqual([true, true, true]);
    const { data } = await fixture.query('{ appInstances { totalCount } }');
    expect(data?.appInstances?.totalCount ?? null).toBe(visible);
  });
  return fixture;
}

test('two members of two clusters are one list', async () => {
  const { query } = await world();
  const { data, errors } = await query(
    '{ appInstances(orderBy: [{ path: "version" }, { path: "metadata.name", direction: DESC }]) { nodes { cluster member kind metadata { name } engine version replicas state address health { status source } } } }',
  );
  expect(errors).toEqual([]);
  const health = { status: 'Current', source: 'CONVENTION' };
  expect(data.appInstances.nodes).toEqual([
    {
      cluster: 'east',
      member: redises,
      kind: 'AppInstance',
      metadata: { name: 'b' },
      engine: 'redis',
      version: '6',
      replicas: 0,
      state: null,
      address: 'b.default',
      health: { status: 'Unknown', source: 'CONVENTION' },
    },
    {
      cluster: 'west',
      member: redises,
      kind: 'AppInstance',
      metadata: { name: 'w' },
      engine: 'redis',
      version: '7',
      replicas: 0,
      state: null,
      address: 'w.default',
      health: { status: 'Current', source: 'DEFAULT' },
    },
    {
      cluster: 'east',
      member: redises,
      kind: 'AppInstance',
      metadata: { name: 'a' },
      engine: 'redis',
      version: '7',
      replicas: 3,
      state: 'up',
      address: 'a.default',
      health: { status: 'Current', source: 'CONVENTION' },
    },
    {
      cluster: 'east',
      member: mysqls,
      kind: 'AppInstance',
      metadata: { name: 'a' },
      engine: 'mysql',
      version: '8',
      replicas: 3,
      state: 'up',
      address: null,
      health,
    },
  ]);
});

test('filters, counts, groups, facets and pages are those of one list', async () => {
  const { query } = await world();
  const { data, errors } = await query(`{
    east: appInstances(filter: { clusters: ["east"], state: { eq: "up" } }) { totalCount nodes { member object { kind metadata { name } ... on ExampleComRedis { spec { version } } } } }
    unknown: appInstances(filter: { engine: { exists: false } }) { totalCount }
    groups: appInstances { aggregate { groups(by: ["cluster", "engine"]) { keys aggregate { count } } } }
    member: appInstances(filter: { member: { eq: "mysqls.example.com" } }) { nodes { metadata { name } version } scope { cluster all } }
    health: appInstances(filter: { health: { status: { ne: Current } } }) { nodes { health { status reason } } }
    any: objects(kinds: ["*"]) { totalCount }
    only: objects(kinds: ["*.abstract"]) { totalCount nodes { kind } }
  }`);
  expect(errors).toEqual([]);
  expect(data.east).toEqual({
    totalCount: 2,
    nodes: [
      { member: mysqls, object: { kind: 'MySQL', metadata: { name: 'a' } } },
      { member: redises, object: { kind: 'Redis', metadata: { name: 'a' }, spec: { version: '7' } } },
    ],
  });
  expect(data.unknown.totalCount).toBe(0);
  expect(data.groups.aggregate.groups).toEqual([
    { keys: ['east', 'redis'], aggregate: { count: 2 } },
    { keys: ['east', 'mysql'], aggregate: { count: 1 } },
    { keys: ['west', 'redis'], aggregate: { count: 1 } },
  ]);
  expect(data.member.nodes).toEqual([{ metadata: { name: 'a' }, version: '8' }]);
  expect(data.health.nodes).toEqual([{ health: { status: 'Unknown', reason: 'Odd' } }]);
  expect(data.any.totalCount).toBe(5);
  expect(data.only.totalCount).toBe(4);
});

test('the clusters of a filter select objects of abstract kinds beside others, and must be there', async () => {
  const { query } = await world();
  const { data } = await query(`{
    both: objects(kinds: ["exampleComRedises", "appInstances"], filter: { clusters: ["west"] }) { nodes { kind } totalCount }
    neither: objects(kinds: ["exampleComRedises", "appInstances"], filter: { not: { clusters: ["east", "west"] } }) { totalCount }
  }`);
  expect(data.both).toEqual({ nodes: [{ kind: 'Redis' }, { kind: 'AppInstance' }], totalCount: 2 });
  expect(data.neither.totalCount).toBe(0);
  for (const list of [
    'appInstances(',
    'objects(kinds: ["appInstances"], ',
    'objects(kinds: ["exampleComRedises", "appInstances"], ',
  ]) {
    const { errors } = await query(`{ ${list}filter: { clusters: ["wets"] }) { totalCount } }`);
    expect(errors.map(({ message }) => message)).toEqual(['There is no cluster "wets"; there is east, west.']);
  }
});

test('pages of two go through all objects in one order, both ways', async () => {
  const { query } = await world();
  const page = async (args: string) =>
    (
      await query(
        `{ appInstances(orderBy: [{ path: "version", direction: DESC }], ${args}) { pageInfo { hasNextPage hasPreviousPage startCursor endCursor } nodes { metadata { name } engine } } }`,
      )
    ).data.appInstances;
  const first = await page('first: 2');
  const second = await page(`first: 2, after: ${JSON.stringify(first.pageInfo.endCursor)}`);
  expect(first.pageInfo.hasNextPage).toBe(true);
  expect(second.pageInfo.hasNextPage).toBe(false);
  const all = (await page('first: 10')).nodes;
  expect([...first.nodes, ...second.nodes]).toEqual(all);
  const back = await page(`last: 2, before: ${JSON.stringify(second.pageInfo.startCursor)}`);
  expect(back.nodes).toEqual(first.nodes);
});

test('changes of members are changes of the list', async () => {
  const { subscribe, apply, query } = await world();
  const events = await subscribe(
    `subscription { list: appInstanceChanges(filter: { state: { eq: "down" } }, snapshot: false) { phase changes { type object { cluster member version state metadata { name } object { kind } } } removedIds } }`,
  );
  const next = async () => JSON.parse(JSON.stringify((await events.next()).value)).data.list;
  expect((await next()).phase).toBe('SYNCED');
  apply(redises, 'MODIFIED', made({ name: 'b', spec: { version: '6.1' }, status: { state: 'BAD' } }));
  expect((await next()).changes).toEqual([
    {
      type: 'ADDED',
      object: {
        cluster: 'east',
        member: redises,
        version: '6.1',
        state: 'down',
        metadata: { name: 'b' },
        object: { kind: 'Redis' },
      },
    },
  ]);
  // A change of what the list does not show is none.
  apply(redises, 'MODIFIED', made({ name: 'b', spec: { version: '6.1', memory: 5 }, status: { state: 'BAD' } }));
  apply(mysqls, 'MODIFIED', made({ name: 'h', spec: { size: 1 }, status: { phase: 'Odd' } }));
  expect((await next()).changes.map(({ object }: { object: { member: string } }) => object.member)).toEqual([mysqls]);
  apply(redises, 'DELETED', made({ name: 'b', spec: { version: '6.1' }, status: { state: 'BAD' } }));
  const gone = await next();
  expect(gone.changes[0].type).toBe('REMOVED');
  const { data } = await query('{ appInstances { totalCount nodes { metadata { name } } } }');
  expect(data.appInstances.totalCount).toBe(4);
});

test('a caller sees the rows of the members that they may see, and scope names the others', async () => {
  const some: Scope = {
    rows: 'some',
    clusters: new Map([['east', { namespaces: new Set(['other']), names: new Map() }]]),
  };
  const scopes = { id: 'test', of: (key: string) => (key === redises ? allRows : key === mysqls ? some : noRows) };
  const { query, apply, subscribe } = await world({ engine: { rights: fixedRights(() => scopes) } }, 3);
  const list = '{ appInstances { totalCount nodes { member object { kind } } scope { cluster all namespaces } } }';
  const { data, errors } = await query(list);
  expect(errors).toEqual([]);
  expect(data.appInstances.nodes.map(({ member }: { member: string }) => member)).toEqual([redises, redises, redises]);
  expect(data.appInstances.scope).toEqual([
    { cluster: `east/${mysqls}`, all: false, namespaces: ['other'] },
    { cluster: `east/${redises}`, all: true, namespaces: [] },
    { cluster: `west/${redises}`, all: true, namespaces: [] },
  ]);
  const events = await subscribe(
    'subscription { list: appInstanceChanges(snapshot: false) { phase changes { object { member } } } }',
  );
  const next = async () => JSON.parse(JSON.stringify((await events.next()).value)).data.list;
  expect((await next()).phase).toBe('SYNCED');
  apply(mysqls, 'MODIFIED', made({ name: 'a', spec: { size: 9 } }));
  apply(mysqls, 'ADDED', made({ name: 'o', namespace: 'other', spec: { size: 9 } }));
  expect((await next()).changes).toEqual([{ object: { member: mysqls } }]);
  expect((await query(list)).data.appInstances.totalCount).toBe(4);
});

test('a caller who may see no member is refused', async () => {
  const scopes = { id: 'none', of: () => noRows };
  const { query } = await world({ engine: { rights: fixedRights(() => scopes) } }, null);
  const { errors } = await query('{ appInstances { totalCount } }');
  expect(errors.map((error) => codeOf(error.originalError))).toEqual(['FORBIDDEN']);
});

test('a member that is listed again is derived again', async () => {
  const { query, sync } = await world();
  await sync(redises, [made({ name: 'new', spec: { version: '9' }, status: { state: 'OK' } })]);
  await eventually(async () => {
    const { data } = await query(
      '{ appInstances(filter: { engine: { eq: "redis" } }) { nodes { cluster metadata { name } } } }',
    );
    expect(data?.appInstances.nodes).toEqual([
      { cluster: 'east', metadata: { name: 'new' } },
      { cluster: 'west', metadata: { name: 'w' } },
    ]);
  });
});

test('a changed file changes columns, members and kinds while the gateway runs', async () => {
  const { query, engine, writer } = await world();
  declare(`
abstractKinds:
  - name: appInstances
    type: AppInstance
    columns: { engine: String, major: Int64 }
    members:
      - { resource: redises.example.com, columns: { engine: { value: cache }, major: spec.version } }
  - name: databases
    columns: { size: Quantity }
    members:
      - { resource: mysqls.example.com, columns: { size: spec.size } }
      - { resource: nothing.example.com, columns: { size: spec.size } }
`);
  await eventually(async () => {
    await engine.refreshCatalog();
    const { data, errors } = await query(
      '{ appInstances(orderBy: [{ path: "major" }]) { nodes { engine major } } databases { nodes { size metadata { name } } } }',
    );
    expect(errors).toEqual([]);
    expect(data.appInstances.nodes).toEqual([6, 7, 7].map((major) => ({ engine: 'cache', major })));
    expect(data.databases.nodes.map(({ size }: { size: unknown }) => size)).toEqual(['3', '1']);
  });
  declare('abstractKinds: []');
  await eventually(async () => {
    expect(
      writer()
        .states()
        .filter(({ described }) => described.resource.group === 'abstract'),
    ).toEqual([]);
    await engine.refreshCatalog();
    expect(
      engine.source
        .generation()
        .kinds(['*'])
        .map(({ key }) => key),
    ).toEqual([mysqls, redises]);
  });
});

test('a gateway that starts on the file continues where the earlier one ended', async () => {
  const fixture = await world();
  const { query, apply, writer } = fixture;
  await stopDeriving();
  const revision = writer().revision();
  const { kinds } = readAbstractKinds(parse(declared));
  const idle = deriving(fixture, kinds);
  await new Promise((resolve) => setTimeout(resolve, 100));
  await idle.stop();
  expect(writer().revision()).toBe(revision);
  apply(redises, 'MODIFIED', made({ name: 'a', spec: { version: '8' } }));
  deriving(fixture, kinds);
  await eventually(async () => {
    const { data } = await query('{ appInstances(filter: { version: { eq: "8" } }) { totalCount } }');
    expect(data.appInstances.totalCount).toBe(2);
  });
  // The change of the object, and that of the derived one.
  expect(writer().revision()).toBe(revision + 2);
});

test('an object leads to the objects of abstract kinds that are made from it, and back', async () => {
  const { query } = await world();
  const { data, errors } = await query(
    '{ exampleComRedises(filter: { clusters: ["east"] }) { nodes { metadata { name } abstractObjects { kind ... on AppInstance { engine object { metadata { name } } } } } } }',
  );
  expect(errors).toEqual([]);
  expect(data.exampleComRedises.nodes).toEqual(
    ['a', 'b'].map((name) => ({
      metadata: { name },
      abstractObjects: [{ kind: 'AppInstance', engine: 'redis', object: { metadata: { name } } }],
    })),
  );
  const hidden = await query(
    '{ exampleComMySQLs(filter: { metadata: { name: { eq: "h" } } }) { nodes { abstractObjects { id } } } }',
  );
  expect(hidden.data.exampleComMySQLs.nodes).toEqual([{ abstractObjects: [] }]);
});

test('the rolled-up health is that of the object of the member, as a field, a filter and an order', async () => {
  const fixture = await world({ promotes: true });
  const { query, writer, apply } = fixture;
  const uid = 'uid-of-b';
  apply(redises, 'MODIFIED', made({ name: 'b', uid, spec: { version: '6' }, status: { state: 'OK' } }));
  const ownerReferences = [{ apiVersion: 'example.com/v1', kind: 'Redis', name: 'b', uid }];
  apply(mysqls, 'ADDED', made({ name: 'z', metadata: { ownerReferences }, status: { phase: 'Failed' } }));
  const list = async () =>
    (
      await query(`{ appInstances(
        filter: { health: { rollUp: { status: { eq: Failed } } }, engine: { eq: "redis" } }
        orderBy: [{ path: "health.rollUp.severity", direction: DESC }]
      ) { nodes { metadata { name } health(rollUp: OWNED) { status culprit { kind metadata { name } } } } } }`)
    ).data.appInstances.nodes;
  const broken = [
    { metadata: { name: 'b' }, health: { status: 'Failed', culprit: { kind: 'MySQL', metadata: { name: 'z' } } } },
  ];
  await eventually(async () => expect(await list()).toEqual(broken));
  while (writer().maintain());
  expect(await list()).toEqual(broken);
  expect(fixture.statements.some(({ sql }) => sql.includes('FROM rolled_up'))).toBe(true);
  apply(mysqls, 'MODIFIED', made({ name: 'z', metadata: { ownerReferences }, status: { phase: 'Running' } }));
  expect(await list()).toEqual([]);
});

test('one object is found by its name and by its id, and has a history', async () => {
  const { query, apply } = await world();
  apply(redises, 'MODIFIED', made({ name: 'a', spec: { version: '7.1' } }));
  await eventually(async () => {
    const { data } = await query(
      `{ appInstance(namespace: "default", name: "a", member: "${redises}") { id version history(first: 5) { nodes { type changedPaths } } } }`,
    );
    expect(data.appInstance.version).toBe('7.1');
    expect(data.appInstance.history.nodes[0].type).toBe('MODIFIED');
    expect(data.appInstance.history.nodes[0].changedPaths).toContain('version');
    const found = await query('query ($id: ID!) { object(id: $id) { ... on AppInstance { version } } }', {
      id: data.appInstance.id,
    });
    expect(found.data.object).toEqual({ version: '7.1' });
  });
});

test('an answer says that a member is stale', async () => {
  const { query, engine } = await world();
  engine.source.staleness.set([{ cluster: 'east', key: redises, since: 0, phase: 'BACKOFF', error: 'gone' }]);
  const { operation } = await query('{ appInstances { totalCount } }');
  expect(JSON.stringify(operation.extensions())).toContain(redises);
  const other = await query('{ exampleComMySQLs { totalCount } }');
  expect(JSON.stringify(other.operation.extensions())).not.toContain(redises);
});

test('what a column was made of is removed when it is redacted', async () => {
  const { writer, query, engine } = await world();
  const member = writer()
    .states('east')
    .find(({ handle }) => handle.key === redises)?.described;
  if (member === undefined) throw new Error('the member is declared');
  writer().declare({ ...member, redacted: ['spec.version'] });
  declare(declared);
  await eventually(async () => {
    await engine.refreshCatalog();
    const { errors } = await query('{ appInstances { totalCount } }');
    const state = writer().states(`east/${redises}`)[0];
    expect(state?.described.redacted).toEqual(['spec.version']);
    expect(state?.synced).toBe(false);
    expect(errors).toEqual([]);
  });
});

test('one object is named with its member where two have the name', async () => {
  const { query } = await world();
  const one = (args: string) => query(`{ appInstance(namespace: "default", ${args}) { member } }`);
  expect((await one('name: "b"')).data.appInstance).toEqual({ member: redises });
  expect((await one('name: "a", cluster: "east", member: "mysqls.example.com"')).data.appInstance).toEqual({
    member: mysqls,
  });
  expect((await one('name: "none"')).data.appInstance).toBeNull();
  const { errors } = await one('name: "a"');
  expect(codeOf(errors[0]?.originalError)).toBe('BAD_USER_INPUT');
  expect(errors[0]?.message).toContain(mysqls);
});

test('a changed file that alters no object changes none', async () => {
  const { writer, engine, query } = await world();
  const idsOf = async () =>
    (await query('{ appInstances { nodes { id metadata { name } history(first: 9) { nodes { type } } } } }')).data;
  const before = await idsOf();
  declare(declared.replace('columns:\n      engine: String', 'columns:\n      more: String\n      engine: String'));
  await eventually(async () => {
    await engine.refreshCatalog();
    const { errors } = await query('{ appInstances { nodes { more } } }');
    expect(errors).toEqual([]);
    expect(
      writer()
        .states()
        .every(({ outdated }) => !outdated),
    ).toBe(true);
  });
  expect(await idsOf()).toEqual(before);
});

test('a text that is too long is left out, and costs its own column only', async () => {
  const { query, apply } = await world();
  apply(redises, 'MODIFIED', made({ name: 'a', spec: { version: 'x'.repeat(5000) }, status: { state: 'OK' } }));
  await eventually(async () => {
    const { data } = await query(
      `{ appInstance(namespace: "default", name: "a", member: "${redises}") { version state } }`,
    );
    expect(data.appInstance).toEqual({ version: null, state: 'up' });
  });
});
