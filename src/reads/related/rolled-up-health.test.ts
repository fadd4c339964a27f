import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type EngineFixture, type FixtureOptions, made, type Schema } from '../../../test/kit/engine-fixture.ts';
import { gadgets, widgets } from '../../../test/kit/graphql-world.ts';
import { randomRuns } from '../../../test/kit/random-runs.ts';
import {
  clusters,
  kindKeys,
  objectOf,
  owners,
  parts,
  placedIn,
  rolledUp,
  rollUpWorld,
  scopeOf,
  withHealth,
} from '../../../test/kit/rolled-up-world.ts';
import { fixedRights } from '../../access/rights.ts';
import { allRows, isVisible, noRows, type Scope, type Scopes, unrestricted } from '../../access/scope.ts';
import { encodeObjectId } from '../../query/plan/object-id.ts';

const healthOf = (rollUp: string): string =>
  `health(rollUp: ${rollUp}) { status reason message source culprit { kind metadata { name } } chain { metadata { name } } }`;

/** A world with `app`, `web`, `pod` and other objects of the namespace: app owns web, web owns pod. */
async function applications(objects: readonly Schema[] = [], options: FixtureOptions = {}): Promise<EngineFixture> {
  const fixture = await rollUpWorld(options);
  await fixture.sync(widgets, [made({ name: 'app', uid: 'u-app' }), ...objects]);
  await fixture.sync(parts, [
    made({ name: 'web', uid: 'u-web', metadata: owners('u-app') }),
    made({ name: 'pod', uid: 'u-pod', metadata: owners('u-web'), ...withHealth['Failed'] }),
  ]);
  while (fixture.writer().maintain());
  return fixture;
}

const app = async ({ query }: EngineFixture, field: string) => {
  const { data, errors } = await query(
    `{ exampleComWidget(cluster: "east", namespace: "default", name: "app") { ${field} } }`,
  );
  return { health: data?.exampleComWidget?.health, errors };
};

describe('health(rollUp: OWNED)', () => {
  test('is that of the worst object below, with the way to it', async () => {
    const { health } = await app(await applications(), healthOf('OWNED'));
    expect(health).toEqual({
      ...{ status: 'Failed', reason: 'Broken', message: 'no disk', source: 'RECONCILING' },
      culprit: { kind: 'Part', metadata: { name: 'pod' } },
      chain: [{ metadata: { name: 'web' } }, { metadata: { name: 'pod' } }],
    });
  });

  test('is that of the object itself where nothing is worse, and without the argument', async () => {
    const fixture = await applications();
    const own = { status: 'Current', reason: null, message: null, source: 'DEFAULT', culprit: null, chain: null };
    expect((await app(fixture, healthOf('null'))).health).toEqual(own);
    fixture.apply(parts, 'MODIFIED', made({ name: 'pod', uid: 'u-pod', metadata: owners('u-web') }));
    expect((await app(fixture, healthOf('OWNED'))).health).toEqual(own);
  });

  test('of equal objects takes the one with the most steps, and then the first by identity', async () => {
    const failed = withHealth['Failed'];
    const fixture = await applications([
      made({ name: 'z', uid: 'u-z', metadata: owners('u-app'), ...failed }),
      made({ name: 'y', uid: 'u-y', metadata: owners('u-app'), ...failed }),
      made({ name: 'b', uid: 'u-b', metadata: owners('u-z'), ...failed }),
    ]);
    expect((await app(fixture, healthOf('OWNED'))).health.culprit.metadata.name).toBe('pod');
    const again = await applications(
      ['z', 'y'].map((name) => made({ name, uid: `u-${name}`, metadata: owners('u-app'), ...failed })),
    );
    again.apply(parts, 'DELETED', made({ name: 'pod', uid: 'u-pod' }));
    expect((await app(again, healthOf('OWNED'))).health.culprit.metadata.name).toBe('y');
  });

  test('goes eight steps, and ends where owners are in a circle', async () => {
    const fixture = await rollUpWorld();
    const link = (index: number, ...uids: string[]) =>
      made({
        name: `w${index}`,
        uid: `u${index}`,
        metadata: owners(`u${index - 1}`, ...uids),
        ...(index > 7 ? withHealth['Failed'] : {}),
      });
    await fixture.sync(widgets, [
      made({ name: 'app', uid: 'u0', metadata: owners('u0', 'u3') }),
      ...[1, 2, 3, 4, 5, 6, 7, 8, 9].map((index) => link(index, `u${index}`)),
    ]);
    const { data } = await fixture.query(`{ exampleComWidgets { nodes { metadata { name } ${healthOf('OWNED')} } } }`);
    const chains = data.exampleComWidgets.nodes.map(
      (node: { health: { chain: unknown[] | null } }) => node.health.chain?.length ?? 0,
    );
    expect(chains).toEqual([8, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
  });

  test('stays in the cluster, and in the namespace of a namespaced owner', async () => {
    const fixture = await rollUpWorld();
    const below = (uid: string) => ({ metadata: owners(uid), ...withHealth['Failed'] });
    await fixture.sync(gadgets, [made({ name: 'g', namespace: null, uid: 'u-g' })]);
    await fixture.sync(widgets, [made({ name: 'app', uid: 'u-app' })]);
    await fixture.sync(parts, [made({ name: 'p', namespace: 'other', uid: 'u-p', ...below('u-app') })]);
    await fixture.sync(parts, [made({ name: 'p', uid: 'u-q', ...below('u-app') })], 'west');
    expect((await app(fixture, healthOf('OWNED'))).health.status).toBe('Current');
    const ofCluster = `{ exampleComGadget(cluster: "east", name: "g") { ${healthOf('OWNED')} } }`;
    expect((await fixture.query(ofCluster)).data.exampleComGadget.health.status).toBe('Current');
    fixture.apply(parts, 'MODIFIED', made({ name: 'p', namespace: 'other', uid: 'u-p', ...below('u-g') }));
    expect((await fixture.query(ofCluster)).data.exampleComGadget.health.status).toBe('Failed');
  });

  test('reads all objects of a page in one statement', async () => {
    const fixture = await applications();
    fixture.statements.length = 0;
    const { errors } = await fixture.query(`{ exampleComParts { nodes { ${healthOf('OWNED')} } } }`);
    expect(errors).toEqual([]);
    expect(fixture.statements.filter(({ sql }) => sql.includes('RECURSIVE'))).toHaveLength(1);
  });

  test('charges each object, and refuses too many with words on what to do', async () => {
    const fixture = await applications([], { maxCost: 50 });
    const { errors: none, health } = await app(fixture, 'health(rollUp: OWNED) { status }');
    expect([none, health]).toEqual([[], { status: 'Failed' }]);
    const many = Array.from({ length: 60 }, (_, index) =>
      made({ name: `p${index}`, uid: `u${index}`, metadata: owners('u-app') }),
    );
    await fixture.sync(parts, many);
    const { errors } = await app(fixture, 'health(rollUp: OWNED) { status }');
    expect(errors[0]?.originalError).toMatchObject({ code: 'QUERY_TOO_COSTLY' });
  });

  test('refuses a page that owns more rows than the bound', { timeout: 60_000 }, async () => {
    const fixture = await applications();
    const many = Array.from({ length: 20_001 }, (_, index) =>
      made({ name: `p${index}`, uid: `u${index}`, metadata: owners('u-app') }),
    );
    await fixture.sync(parts, many);
    const { errors } = await app(fixture, 'health(rollUp: OWNED) { status }');
    expect(errors[0]?.originalError).toMatchObject({
      code: 'QUERY_TOO_COSTLY',
      message: expect.stringMatching(/smaller pages/),
    });
  });
});

describe('health(rollUp: RELATED)', () => {
  const named = (...names: string[]) => ({ spec: { ports: names.map((id) => ({ id })) } });

  test('includes what the object names, and what the owned objects name', async () => {
    const fixture = await applications([
      made({ name: 'child', uid: 'u-child', metadata: owners('u-app'), spec: { name: 'g' } }),
    ]);
    await fixture.sync(parts, []);
    await fixture.sync(gadgets, [made({ name: 'g', namespace: null, ...withHealth['InProgress'] })]);
    expect((await app(fixture, healthOf('OWNED'))).health.status).toBe('Current');
    expect((await app(fixture, healthOf('RELATED'))).health).toMatchObject({
      ...{ status: 'InProgress', reason: 'Waiting', culprit: { kind: 'Gadget', metadata: { name: 'g' } } },
      chain: [{ metadata: { name: 'child' } }, { metadata: { name: 'g' } }],
    });
  });

  test('counts a named object that does not exist as Failed', async () => {
    const fixture = await applications([
      made({ name: 'child', uid: 'u-child', metadata: owners('u-app'), ...named('web', 'gone') }),
    ]);
    await fixture.sync(parts, [made({ name: 'web' })]);
    expect((await app(fixture, healthOf('RELATED'))).health).toEqual({
      ...{ status: 'Failed', reason: 'Missing', source: 'REFERENCE', culprit: null },
      message: 'The Part default/gone, named at spec.ports[].id, does not exist.',
      chain: [{ metadata: { name: 'child' } }],
    });
    expect((await app(fixture, healthOf('OWNED'))).health.status).toBe('Current');
  });

  test('leaves out a missing object that the reference calls optional', async () => {
    const port = { id: 'gone', optional: true };
    const fixture = await applications([made({ name: 'child', metadata: owners('u-app'), spec: { ports: [port] } })]);
    await fixture.sync(parts, []);
    expect((await app(fixture, healthOf('RELATED'))).health.status).toBe('Current');
    const ports = [port, { id: 'gone' }];
    fixture.apply(widgets, 'MODIFIED', made({ name: 'child', metadata: owners('u-app'), spec: { ports } }));
    expect((await app(fixture, healthOf('RELATED'))).health.reason).toBe('Missing');
  });

  test('leaves out what the caller may not see, and missing objects that the caller could not see', async () => {
    const scope: Scope = {
      rows: 'some',
      clusters: new Map([['east', { namespaces: new Set(['other']), names: new Map() }]]),
    };
    const scopes: Scopes = { id: 'some', of: (key) => (key === parts ? scope : allRows) };
    const fixture = await applications([made({ name: 'child', metadata: owners('u-app'), ...named('pod', 'gone') })], {
      engine: { rights: fixedRights(() => scopes) },
    });
    expect((await app(fixture, healthOf('RELATED'))).health.status).toBe('Current');
  });
});

test('is what a plain computation over the visible objects gives', { timeout: 300_000 }, async () => {
  let scopes: Scopes = unrestricted;
  const fixture = await rollUpWorld({ engine: { rights: fixedRights(() => scopes) } });
  const seen = new Map<string, number>();
  let number = 0;
  await fc.assert(
    fc.asyncProperty(
      placedIn('east'),
      placedIn('west'),
      fc.array(scopeOf, { minLength: 3, maxLength: 3 }).filter((some) => some.some(({ rows }) => rows !== 'none')),
      async (east, west, given) => {
        const objects = [...east, ...west];
        for (const cluster of clusters) {
          for (const key of kindKeys) {
            const own = objects.filter((each) => each.cluster === cluster && each.key === key);
            await fixture.sync(key, own.map(objectOf), cluster);
          }
        }
        while (fixture.writer().maintain());
        number += 1;
        const byKind = new Map(kindKeys.map((key, index) => [key, given[index] ?? noRows]));
        scopes = { id: `scopes ${number}`, of: (key) => byKind.get(key) ?? noRows };
        const health = '{ status culprit { id } chain { id } }';
        const { data, errors } = await fixture.query(
          `{ objects(kinds: ["*"]) { nodes { id owned: health(rollUp: OWNED) ${health} related: health(rollUp: RELATED) ${health} } } }`,
        );
        expect(errors).toEqual([]);
        const byId = new Map(objects.map((each) => [encodeObjectId(each), each]));
        const visible = objects.filter((each) => isVisible(scopes.of(each.key), each));
        expect(data.objects.nodes).toHaveLength(visible.length);
        for (const { id, owned, related } of data.objects.nodes) {
          const root = byId.get(id);
          if (root === undefined) throw new Error('an object of this store');
          for (const [found, isRelated] of [
            [owned, false],
            [related, true],
          ] as const) {
            const { status, culprit, chain } = rolledUp(root, objects, scopes, isRelated);
            const ids = chain?.map((each) => ({ id: each })) ?? null;
            expect(found).toEqual({ status, culprit: culprit === null ? null : { id: culprit }, chain: ids });
            const steps = `${isRelated} ${chain?.length ?? 0}`;
            seen.set(steps, (seen.get(steps) ?? 0) + 1);
          }
        }
      },
    ),
    { numRuns: randomRuns(60, 200) },
  );
  expect(seen.get('false 2')).toBeGreaterThan(10);
  expect(seen.get('true 2')).toBeGreaterThan(10);
});
