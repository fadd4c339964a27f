/** Columns of abstract kinds that go through a relation: their values, what changes them, and who may see them. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fixedRights } from '../../src/access/rights.ts';
import { allRows, type ClusterScope, noRows, type Scope, type Scopes } from '../../src/access/scope.ts';
import { readAbstractKinds } from '../../src/catalog/abstract/read-abstract-kinds.ts';
import { describeRelation } from '../../src/catalog/relations/described-relation.ts';
import { readRelations } from '../../src/catalog/relations/read-relations.ts';
import type { DescribedResource } from '../../src/catalog/resources/catalog.ts';
import { deriving } from '../kit/deriving.ts';
import { describedCrd, type EngineFixture, engineFixture, type FixtureOptions, made } from '../kit/engine-fixture.ts';
import { eventually } from '../kit/eventually.ts';
import { randomRuns } from '../kit/random-runs.ts';

const object = (properties: object) => ({ type: 'object', properties });
const text = { type: 'string' };
const redises = 'redises.example.com';
const configs = 'configs.example.com';
const zones = 'zones.example.com';
const apps = 'apps.example.com';

const { relations, problems: wrongRelations } = readRelations(
  {
    relations: [
      { from: 'Redis.example.com', name: 'config', to: 'Config.example.com', at: ['spec.config'] },
      { from: 'Redis.example.com', name: 'zone', to: 'Zone.example.com', at: ['spec.zone'] },
      {
        from: 'Redis.example.com',
        name: 'far',
        to: 'Config.example.com',
        at: [{ at: 'spec.far', namespace: 'namespace' }],
      },
      { from: 'Redis.example.com', name: 'app', to: 'App.example.com', owner: true },
      { from: 'Redis.example.com', name: 'gone', to: 'Gone.example.com', at: ['spec.config'] },
      { from: 'Redis.example.com', name: 'spec', to: 'Config.example.com', at: ['spec.config'] },
    ],
  },
  'CONFIGURED',
);

function resources(cluster = 'east'): readonly DescribedResource[] {
  expect(wrongRelations).toEqual([]);
  const crd = (kind: string, plural: string, properties: object, namespaced = true) =>
    describedCrd({ cluster, kind, plural, namespaced, properties: properties as never, columns: [] });
  const spec = object({ config: text, zone: text, far: object({ name: text, namespace: text }) });
  return [
    { ...crd('Redis', 'redises', { spec }), relations: relations.map((relation) => describeRelation(relation)) },
    crd('Config', 'configs', {
      data: object({ size: text, list: { type: 'array', items: object({ n: { type: 'integer' } }) } }),
      status: object({ beats: { type: 'integer' } }),
    }),
    crd('Zone', 'zones', { spec: object({ label: text }) }, false),
    crd('App', 'apps', { spec: object({ tier: text }) }),
  ];
}

const columns = {
  size: 'config.data.size',
  total: 'sum(config.data.list[].n)',
  zone: { of: 'zone.spec.label', map: { a: 'first' }, otherwise: 'other' },
  far: { firstOf: ['far.data.size', { value: 'none' }] },
  tier: { concat: ['app.spec.tier', { value: '!' }] },
  own: 'spec.config',
  gone: 'gone.spec.x',
};
const types = {
  size: 'Int64',
  total: 'Int64',
  zone: 'String',
  far: 'String',
  tier: 'String',
  own: 'String',
  gone: 'String',
};
const { kinds: all, problems } = readAbstractKinds({
  abstractKinds: [{ name: 'apps2', type: 'Thing', columns: types, members: [{ resource: redises, columns }] }],
});

interface World extends EngineFixture {
  /** Resolves when the list has these rows. */
  shows(rows: readonly object[], fields?: string): Promise<void>;
  restart(): Promise<void>;
}

async function world(options: FixtureOptions = {}, isRestricted = false, kinds = all): Promise<World> {
  expect(problems).toEqual([]);
  const fixture = engineFixture(options);
  await fixture.declare(...resources());
  for (const key of [redises, configs, zones, apps]) await fixture.sync(key, []);
  while (fixture.writer().maintain());
  let { stop } = deriving(fixture, kinds, isRestricted);
  await eventually(async () => {
    await fixture.engine.refreshCatalog();
    const states = fixture.writer().states();
    const synced = states.filter(({ handle, synced }) => handle.key === 'apps2.abstract' && synced);
    expect(synced.length).toBe(isRestricted ? 2 : 1);
  });
  return {
    ...fixture,
    shows: (rows, fields = 'metadata { name } size total zone far tier own gone') =>
      eventually(async () => {
        const { data, errors } = await fixture.query(`{ apps2 { nodes { ${fields} } } }`);
        expect(errors).toEqual([]);
        expect(data.apps2.nodes).toEqual(rows.map(asAnswered));
      }),
    restart: async () => {
      await stop();
      fixture.reopen();
      ({ stop } = deriving(fixture, kinds, isRestricted));
    },
  };
}

/** Numbers of 64 bits come as numbers, if they are small. */
function asAnswered(given: object): object {
  const number = ([name, value]: [string, unknown]) =>
    (name === 'size' || name === 'total') && typeof value === 'string' ? [name, Number(value)] : [name, value];
  return Object.fromEntries(Object.entries(given).map(number));
}

const nothing = { size: null, total: null, zone: null, far: 'none', tier: null, own: null, gone: null };
const row = (name: string, rest: object) => ({ metadata: { name }, ...nothing, ...rest });

test('values come through references, owners and folds, whatever comes first', async () => {
  const { shows, apply } = await world();
  apply(configs, 'ADDED', made({ name: 'c', data: { size: '5', list: [{ n: 2 }, { n: 3 }] } }));
  const spec = { config: 'c', zone: 'z', far: { name: 'c', namespace: 'other' } };
  const metadata = {
    ownerReferences: [{ apiVersion: 'example.com/v1', kind: 'App', name: 'app', uid: 'uid-default-app' }],
  };
  apply(redises, 'ADDED', made({ name: 'r', spec, metadata }));
  await shows([row('r', { size: '5', total: '5', own: 'c' })]);
  apply(zones, 'ADDED', made({ name: 'z', namespace: null, spec: { label: 'A' } }));
  await shows([row('r', { size: '5', total: '5', own: 'c', zone: 'first' })]);
  apply(configs, 'ADDED', made({ name: 'c', namespace: 'other', data: { size: 'big' } }));
  apply(apps, 'ADDED', made({ name: 'app', spec: { tier: 'gold' } }));
  await shows([row('r', { size: '5', total: '5', own: 'c', zone: 'first', far: 'big', tier: 'gold!' })]);
});

test('a changed, deleted and returned object changes what leads to it', async () => {
  const { shows, apply, restart } = await world();
  const config = (size: string) => made({ name: 'c', data: { size } });
  apply(configs, 'ADDED', config('1'));
  apply(redises, 'ADDED', made({ name: 'r', spec: { config: 'c' } }));
  apply(redises, 'ADDED', made({ name: 's', spec: { config: 'd' } }));
  const own = (size: string | null) => [
    row('r', { size, own: 'c', total: size === null ? null : '0' }),
    row('s', { own: 'd' }),
  ];
  await shows(own('1'));
  apply(configs, 'MODIFIED', config('2'));
  await shows(own('2'));
  apply(configs, 'DELETED', config('2'));
  await shows(own(null));
  apply(configs, 'ADDED', config('3'));
  await shows(own('3'));
  await restart();
  apply(configs, 'MODIFIED', config('4'));
  await shows(own('4'));
  apply(redises, 'MODIFIED', made({ name: 's', spec: { config: 'c' } }));
  apply(configs, 'MODIFIED', config('5'));
  await shows([row('r', { size: '5', own: 'c', total: '0' }), row('s', { size: '5', own: 'c', total: '0' })]);
});

test('an owner that is deleted is no owner, and neither is another object of its name', async () => {
  const { shows, apply } = await world();
  const app = (uid: string) => made({ name: 'app', uid, spec: { tier: 'gold' } });
  apply(apps, 'ADDED', app('one'));
  const metadata = { ownerReferences: [{ apiVersion: 'example.com/v1', kind: 'App', name: 'app', uid: 'one' }] };
  apply(redises, 'ADDED', made({ name: 'r', metadata }));
  await shows([row('r', { tier: 'gold!' })]);
  apply(apps, 'DELETED', app('one'));
  apply(apps, 'ADDED', app('two'));
  await shows([row('r', {})]);
});

test('a subscriber hears of a change of a related object, and of nothing that no column shows', async () => {
  const { apply, shows, subscribe, writer } = await world();
  const config = (size: string, beats: number) => made({ name: 'c', data: { size }, status: { beats } });
  apply(configs, 'ADDED', config('1', 0));
  for (const name of ['r', 's']) apply(redises, 'ADDED', made({ name, spec: { config: 'c' } }));
  const shown = (size: string) => ['r', 's'].map((name) => row(name, { size, own: 'c', total: '0' }));
  await shows(shown('1'));
  const events = await subscribe(
    'subscription { list: thingChanges(snapshot: false) { changes { object { size } changedPaths } } }',
  );
  const next = async () => JSON.parse(JSON.stringify((await events.next()).value)).data.list.changes;
  expect(await next()).toEqual([]);
  const before = writer().revision();
  for (let beats = 1; beats <= 20; beats += 1) apply(configs, 'MODIFIED', config('1', beats));
  apply(configs, 'MODIFIED', config('2', 20));
  const change = { object: { size: 2 }, changedPaths: ['size'] };
  const heard = [...(await next())];
  while (heard.length < 2) heard.push(...(await next()));
  expect(heard).toEqual([change, change]);
  await shows(shown('2'));
  expect(writer().revision()).toBe(before + 21 + 2);
});

test('an object to which very many lead is followed in batches, and the last change counts', async () => {
  const { apply, query, sync, writer } = await world();
  const names = Array.from({ length: 1500 }, (_, at) => `r${at}`);
  await sync(
    redises,
    names.map((name) => made({ name, spec: { zone: 'z' }, namespace: `n${Number(name.slice(1)) % 450}` })),
  );
  while (writer().maintain());
  const zone = (label: string) => made({ name: 'z', namespace: null, spec: { label } });
  apply(zones, 'ADDED', zone('b'));
  for (let at = 0; at < 50; at += 1) {
    apply(zones, 'MODIFIED', zone(at % 2 === 0 ? 'A' : 'b'));
    await new Promise(setImmediate);
  }
  apply(zones, 'MODIFIED', zone('A'));
  await eventually(async () => {
    const { data } = await query('{ apps2(filter: { zone: { eq: "first" } }) { totalCount } }');
    expect(data.apps2.totalCount).toBe(1500);
  });
});

describe('random objects', () => {
  const name = fc.constantFrom('a', 'b');
  const namespace = fc.constantFrom('default', 'other');
  const write = fc.oneof(
    fc.record({
      of: fc.constant('redis' as const),
      name,
      namespace,
      given: fc.option(
        fc.record(
          { config: name, zone: name, far: fc.record({ name, namespace }, { requiredKeys: ['name'] }) },
          { requiredKeys: [] },
        ),
      ),
    }),
    fc.record({
      of: fc.constant('config' as const),
      name,
      namespace,
      given: fc.option(fc.record({ size: fc.constantFrom('1', '2', 'x') }, { requiredKeys: [] })),
    }),
    fc.record({
      of: fc.constant('zone' as const),
      name,
      namespace: fc.constant(null),
      given: fc.option(fc.record({ label: fc.constantFrom('a', 'b') })),
    }),
  );
  test('have what a plain computation gives', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(write, { minLength: 1, maxLength: 10 }), { maxLength: 4 }),
        async (batches) => {
          const { apply, shows, restart } = await world();
          const stored = new Map<
            string,
            { readonly of: string; readonly name: string; readonly namespace: string | null; readonly given: object }
          >();
          const key = { redis: redises, config: configs, zone: zones };
          for (const [at, batch] of batches.entries()) {
            for (const { of, name, namespace, given } of batch) {
              const id = `${of} ${namespace} ${name}`;
              const known = stored.get(id);
              const body = (value: object) => made({ name, namespace, [of === 'config' ? 'data' : 'spec']: value });
              if (given === null) {
                if (known !== undefined) apply(key[of], 'DELETED', body(known.given));
                stored.delete(id);
              } else {
                apply(key[of], known === undefined ? 'ADDED' : 'MODIFIED', body(given));
                stored.set(id, { of, name, namespace, given });
              }
            }
            if (at === 1) await restart();
            const at0 = (of: string, namespace: string | null, name: string | undefined) =>
              stored.get(`${of} ${namespace} ${name}`)?.given as Record<string, string> | undefined;
            const rows = [...stored.values()]
              .filter(({ of }) => of === 'redis')
              .sort((a, b) => (`${a.namespace} ${a.name}` < `${b.namespace} ${b.name}` ? -1 : 1))
              .map(({ name, namespace, given }) => {
                const { config, zone, far } = given as {
                  config?: string;
                  zone?: string;
                  far?: { name: string; namespace?: string };
                };
                const size = at0('config', namespace, config)?.['size'];
                const label = at0('zone', null, zone)?.['label'];
                return {
                  metadata: { name, namespace },
                  size: size === undefined || size === 'x' ? null : size,
                  zone: label === undefined ? null : label === 'a' ? 'first' : 'other',
                  far:
                    (far === undefined ? undefined : at0('config', far.namespace ?? namespace, far.name)?.['size']) ??
                    'none',
                };
              });
            await shows(rows, 'metadata { name namespace } size zone far');
          }
        },
      ),
      { numRuns: randomRuns(5, 15) },
    );
  });
});

describe('rights', () => {
  const scoped = (of: (key: string) => ClusterScope | 'none'): Scopes => ({
    id: JSON.stringify([redises, configs, zones, apps].map((key) => of(key))),
    of: (key): Scope => {
      const part = of(key);
      return part === 'none'
        ? noRows
        : part === 'all'
          ? allRows
          : { rows: 'some', clusters: new Map([['east', part]]) };
    },
  });
  const inNamespaces = (...namespaces: string[]): ClusterScope => ({
    namespaces: new Set(namespaces),
    names: new Map(),
  });
  let scopes = scoped(() => 'all');

  async function filled(): Promise<World> {
    scopes = scoped(() => 'all');
    const made0 = await world({ engine: { rights: fixedRights(() => scopes) } }, true);
    const { apply } = made0;
    for (const namespace of ['a', 'b']) {
      apply(configs, 'ADDED', made({ name: 'c', namespace, data: { size: '7' } }));
      apply(redises, 'ADDED', made({ name: 'r', namespace, spec: { config: 'c', zone: 'z' } }));
    }
    apply(zones, 'ADDED', made({ name: 'z', namespace: null, spec: { label: 'a' } }));
    const values = { size: '7', zone: 'first' };
    await made0.shows([values, values], 'size zone');
    // The copy without related values is written after the other one.
    scopes = scoped((key) => (key === redises ? 'all' : 'none'));
    const none = { size: null, zone: null };
    await made0.shows([none, none], 'size zone');
    scopes = scoped(() => 'all');
    return made0;
  }

  const everything = `{
    apps2 { totalCount nodes { id size zone } scope { cluster all namespaces } aggregate { count sum(path: "size") { text } } facets(paths: ["zone"]) { values { value count } } }
    found: apps2(filter: { size: { eq: 7 } }) { totalCount }
    groups: apps2 { aggregate { groups(by: ["zone"]) { keys } } }
    redises: objects(kinds: ["redises.example.com"]) { nodes { abstractObjects { id ... on Thing { size } } } }
    thing(namespace: "a", name: "r") { size }
  }`;

  test('who may see all related objects sees each object once', async () => {
    const { query } = await filled();
    const { data, errors } = await query(everything);
    expect(errors).toEqual([]);
    expect(data).toMatchObject({
      apps2: {
        totalCount: 2,
        scope: [{ cluster: `east/${redises}`, all: true, namespaces: [] }],
        aggregate: { count: 2, sum: { text: '14' } },
        facets: [{ values: [{ value: 'first', count: 2 }] }],
      },
      found: { totalCount: 2 },
      thing: { size: 7 },
    });
    expect(
      data.redises.nodes.map(({ abstractObjects }: { abstractObjects: unknown[] }) => abstractObjects.length),
    ).toEqual([1, 1]);
  });

  test.each([
    ['no related kind', (key: string) => (key === redises ? 'all' : 'none') as ClusterScope, 2],
    ['one related kind', (key: string) => (key === zones ? 'none' : 'all') as ClusterScope, 2],
    [
      'related objects of one namespace',
      (key: string) => (key === configs ? inNamespaces('a') : 'all') as ClusterScope,
      2,
    ],
    [
      'related objects of more namespaces than are needed, which references may leave',
      (key: string) => (key === zones || key === apps ? 'all' : inNamespaces('a', 'b')) as ClusterScope,
      2,
    ],
  ])('who may see %s sees no related value, and no trace of one', async (_what, of, count) => {
    const { query } = await filled();
    scopes = scoped(of as (key: string) => ClusterScope);
    const { data, errors } = await query(everything);
    expect(errors).toEqual([]);
    expect(data.apps2.totalCount).toBe(count);
    expect(data.apps2.nodes.map(({ size, zone }: { size: unknown; zone: unknown }) => [size, zone])).toEqual(
      Array.from({ length: count }, () => [null, null]),
    );
    expect(data.apps2.scope.map(({ cluster }: { cluster: string }) => cluster)).toEqual([`east/${redises}`]);
    expect(data).toMatchObject({ found: { totalCount: 0 }, thing: { size: null } });
    expect(data.apps2.aggregate).toEqual({ count, sum: null });
    expect(JSON.stringify(data)).not.toContain('first');
    expect(
      data.redises.nodes.map(({ abstractObjects }: { abstractObjects: unknown[] }) => abstractObjects.length),
    ).toEqual([1, 1]);
  });

  test('who may see a namespace sees the related values of its objects, if no reference leaves it', async () => {
    const near = all.map((kind) => ({
      ...kind,
      members: kind.members.map((member) => ({ ...member, columns: { size: { path: 'config.data.size' } } })),
    }));
    scopes = scoped(() => 'all');
    const { apply, query, shows } = await world({ engine: { rights: fixedRights(() => scopes) } }, true, near);
    for (const namespace of ['a', 'b']) {
      apply(configs, 'ADDED', made({ name: 'c', namespace, data: { size: '7' } }));
      apply(redises, 'ADDED', made({ name: 'r', namespace, spec: { config: 'c' } }));
    }
    await shows([{ size: 7 }, { size: 7 }], 'size');
    const list = '{ apps2 { nodes { metadata { namespace } size } scope { namespaces } } }';
    const sees = async (of: (key: string) => ClusterScope | 'none') => {
      scopes = scoped(of);
      return (await query(list)).data.apps2;
    };
    expect(await sees(() => inNamespaces('a'))).toEqual({
      nodes: [{ metadata: { namespace: 'a' }, size: 7 }],
      scope: [{ namespaces: ['a'] }],
    });
    expect((await sees((key) => (key === redises ? inNamespaces('a') : inNamespaces('b')))).nodes).toEqual([
      { metadata: { namespace: 'a' }, size: null },
    ]);
    expect((await sees((key) => (key === redises ? inNamespaces('a', 'b') : inNamespaces('b')))).nodes).toEqual([
      { metadata: { namespace: 'a' }, size: null },
      { metadata: { namespace: 'b' }, size: null },
    ]);
  });

  test('the rolled-up health of an object is that of its member, with related values and without', async () => {
    const { apply, query } = await filled();
    const owner = [{ apiVersion: 'example.com/v1', kind: 'Redis', name: 'r', uid: 'uid-a-r' }];
    apply(
      configs,
      'ADDED',
      made({
        name: 'broken',
        namespace: 'a',
        metadata: { ownerReferences: owner },
        status: { conditions: [{ type: 'Stalled', status: 'True', reason: 'Broken' }] },
      }),
    );
    const list = `{ apps2(filter: { health: { rollUp: { status: { eq: Failed } } } }) { nodes { metadata { namespace } health(rollUp: OWNED) { status reason } } } }`;
    const failed = [{ metadata: { namespace: 'a' }, health: { status: 'Failed', reason: 'Broken' } }];
    expect((await query(list)).data.apps2.nodes).toEqual(failed);
    scopes = scoped((key) => (key === zones ? 'none' : 'all'));
    expect((await query(list)).data.apps2.nodes).toEqual(failed);
  });
});
