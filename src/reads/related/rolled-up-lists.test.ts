import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { describedCrd, type EngineFixture, made } from '../../../test/kit/engine-fixture.ts';
import { widgetProperties, widgets } from '../../../test/kit/graphql-world.ts';
import { randomRuns } from '../../../test/kit/random-runs.ts';
import {
  clusters,
  kindKeys,
  objectOf,
  owners,
  type Placed,
  parts,
  placedIn,
  rolledUp,
  rollUpWorld,
  scopeOf,
  withHealth,
} from '../../../test/kit/rolled-up-world.ts';
import { fixedRights } from '../../access/rights.ts';
import { isVisible, noRows, type Scopes, unrestricted } from '../../access/scope.ts';
import { bySeverity, type HealthStatus } from '../../catalog/health/health-status.ts';
import { encodeObjectId } from '../../query/plan/object-id.ts';
import { sql } from '../../store/types/sql.ts';

const settle = ({ writer }: EngineFixture): void => {
  while (writer().maintain());
};

/** The stored severities, in ascending order. */
function storedSeverities({ reader }: EngineFixture): Promise<readonly unknown[]> {
  return reader.lease(async (lease) =>
    (await lease.all(sql`SELECT severity FROM rolled_up ORDER BY severity`)).map(([severity]) => severity),
  );
}

describe('lists by the rolled-up health', () => {
  test('are filtered, ordered and grouped by it', async () => {
    const fixture = await rollUpWorld({ promotes: true });
    await fixture.sync(widgets, [
      made({ name: 'calm', uid: 'u-calm' }),
      made({ name: 'broken', uid: 'u-broken' }),
      made({ name: 'slow', uid: 'u-slow' }),
    ]);
    await fixture.sync(parts, [
      made({ name: 'a', uid: 'u-a', metadata: owners('u-broken') }),
      made({ name: 'b', metadata: owners('u-a'), ...withHealth['Failed'] }),
      made({ name: 'c', metadata: owners('u-slow'), ...withHealth['InProgress'] }),
    ]);
    for (const state of ['computed', 'stored']) {
      const { data, errors } = await fixture.query(`{
        worst: exampleComWidgets(
          filter: { health: { rollUp: { status: { ne: Current } } } }
          orderBy: [{ path: "health.rollUp.severity", direction: DESC }]
        ) { totalCount nodes { metadata { name } } }
        severe: exampleComWidgets(filter: { health: { rollUp: { severity: { gte: 5 } } } }) { nodes { metadata { name } } }
        all: exampleComWidgets { aggregate { groups(by: ["health.rollUp.status"], orderBy: [{ by: KEY }]) { keys aggregate { count } } } }
      }`);
      expect([state, errors]).toEqual([state, []]);
      expect(data.worst).toEqual({
        totalCount: 2,
        nodes: [{ metadata: { name: 'broken' } }, { metadata: { name: 'slow' } }],
      });
      expect(data.severe.nodes).toEqual([{ metadata: { name: 'broken' } }]);
      expect(data.all.aggregate.groups).toEqual(
        ['InProgress', 'Failed', 'Current'].map((status) => ({ keys: [status], aggregate: { count: 1 } })),
      );
      settle(fixture);
    }
    expect(await storedSeverities(fixture)).toEqual([0, 3, 5]);
  });

  test('of an object alone and of subscriptions say what to ask instead', async () => {
    const fixture = await rollUpWorld();
    await fixture.sync(widgets, [made({ name: 'app' })]);
    const { errors } = await fixture.query('{ exampleComWidgets { nodes { value(path: "health.rollUp.status") } } }');
    expect(errors[0]?.message).toMatch(/health\(rollUp: OWNED\)/);
    await expect(
      fixture.subscribe(
        'subscription { exampleComWidgetChanges(filter: { health: { rollUp: { status: { eq: Failed } } } }) { __typename } }',
      ),
    ).rejects.toThrow(/health\.rollUp.*@live/);
  });

  test('keep what is stored right when a filter of one caller hides owned objects', async () => {
    let scopes: Scopes = unrestricted;
    const fixture = await rollUpWorld({ promotes: true, engine: { rights: fixedRights(() => scopes) } });
    await fixture.sync(widgets, [made({ name: 'app', uid: 'u-app' })]);
    await fixture.sync(parts, [made({ name: 'b', metadata: owners('u-app'), ...withHealth['Failed'] })]);
    const failed = '{ exampleComWidgets(filter: { health: { rollUp: { status: { eq: Failed } } } }) { totalCount } }';
    const count = async () => (await fixture.query(failed)).data.exampleComWidgets.totalCount;
    expect(await count()).toBe(1);
    settle(fixture);
    expect(await count()).toBe(1);
    scopes = { id: 'no parts', of: (key) => (key === parts ? noRows : unrestricted.of(key)) };
    expect(await count()).toBe(0);
  });
});

describe('stored roll-ups', () => {
  const failedWidgets =
    '{ exampleComWidgets(first: 500, filter: { health: { rollUp: { status: { eq: Failed } } } }) { nodes { metadata { name } } } }';
  const namesOf = async ({ query }: EngineFixture): Promise<readonly string[]> => {
    const { data, errors } = await query(failedWidgets);
    expect(errors).toEqual([]);
    return data.exampleComWidgets.nodes.map((node: { metadata: { name: string } }) => node.metadata.name);
  };

  test('are forgotten when a list replaces the owned objects', async () => {
    const fixture = await rollUpWorld({ promotes: true, writer: { maxDifferences: 0 } });
    await fixture.sync(widgets, [made({ name: 'app', uid: 'u-app' })]);
    await fixture.sync(parts, [made({ name: 'b', metadata: owners('u-app'), ...withHealth['Failed'] })]);
    expect(await namesOf(fixture)).toEqual(['app']);
    settle(fixture);
    expect(await storedSeverities(fixture)).toEqual([5]);
    await fixture.sync(parts, []);
    expect(await namesOf(fixture)).toEqual([]);
  });

  test('are forgotten when the owned objects are no longer published', async () => {
    const fixture = await rollUpWorld({ promotes: true });
    await fixture.sync(widgets, [made({ name: 'app', uid: 'u-app' })]);
    await fixture.sync(parts, [made({ name: 'b', metadata: owners('u-app'), ...withHealth['Failed'] })]);
    expect(await namesOf(fixture)).toEqual(['app']);
    settle(fixture);
    // The stored bodies have the path. So they are not published any more, and housekeeping removes their rows later.
    const part = describedCrd({ cluster: 'east', kind: 'Part', plural: 'parts', properties: widgetProperties });
    await fixture.declare({ ...part, redacted: ['spec.name'] });
    expect(await namesOf(fixture)).toEqual([]);
  });

  test('follow an object with more owners than are told one by one', async () => {
    const fixture = await rollUpWorld({ promotes: true });
    const apps = Array.from({ length: 400 }, (_, index) => made({ name: `app${index}`, uid: `u-${index}` }));
    await fixture.sync(widgets, [...apps, made({ name: 'other', namespace: 'other', uid: 'u-other' })]);
    const shared = { name: 'shared', metadata: owners(...apps.map((_, index) => `u-${index}`)) };
    await fixture.sync(parts, [made({ ...shared, ...withHealth['Failed'] })]);
    expect(await namesOf(fixture)).toHaveLength(400);
    settle(fixture);
    fixture.apply(parts, 'MODIFIED', made(shared));
    // The object of another namespace keeps its own.
    expect((await storedSeverities(fixture)).filter((severity) => severity !== null)).toEqual([0]);
    expect(await namesOf(fixture)).toEqual([]);
    settle(fixture);
    expect(await namesOf(fixture)).toEqual([]);
  });

  test('leave out an object that owns very many, which is computed', async () => {
    const fixture = await rollUpWorld({ promotes: true });
    await fixture.sync(widgets, [made({ name: 'app', uid: 'u-app' })]);
    const many = Array.from({ length: 2100 }, (_, index) => made({ name: `p${index}`, metadata: owners('u-app') }));
    await fixture.sync(parts, [...many, made({ name: 'z', metadata: owners('u-app'), ...withHealth['Failed'] })]);
    expect(await namesOf(fixture)).toEqual(['app']);
    settle(fixture);
    expect(await storedSeverities(fixture)).toEqual([-1]);
    expect(await namesOf(fixture)).toEqual(['app']);
  });
});

interface Step {
  readonly object: Placed;
  readonly type: 'MODIFIED' | 'DELETED';
  /** How the store gets to know: by a watch event, by a list with few differences, or by one that replaces all rows. */
  readonly by: 'event' | 'list';
  /** The action before the step. */
  readonly before: 'settle' | 'reopen' | null;
}

const stepsOf = (objects: readonly Placed[]): fc.Arbitrary<readonly Step[]> =>
  fc.array(
    fc
      .record({
        object: fc.constantFrom(...objects),
        status: fc.constantFrom(...bySeverity, 'Current'),
        owners: fc.oneof(
          fc.constant(null),
          fc.subarray(
            objects.map(({ uid }) => uid),
            { maxLength: 3 },
          ),
        ),
        type: fc.constantFrom('MODIFIED' as const, 'MODIFIED' as const, 'DELETED' as const),
        by: fc.constantFrom('event' as const, 'event' as const, 'list' as const),
        before: fc.constantFrom('settle' as const, 'settle' as const, 'settle' as const, 'reopen' as const, null),
      })
      .map(
        ({ object, status, owners: given, ...how }): Step => ({
          object: { ...object, status, owners: given ?? object.owners },
          ...how,
        }),
      ),
    { minLength: 4, maxLength: 12 },
  );

test('lists are those of a plain computation, under churn and with random rights', { timeout: 300_000 }, async () => {
  let scopes: Scopes = unrestricted;
  const fixture = await rollUpWorld({
    ...{ promotes: true, engine: { rights: fixedRights(() => scopes) } },
    writer: { maxDifferences: 0 },
  });
  let number = 0;
  const listsOf = (visible: Scopes): string => `{
    __typename
    ${[...kindKeys.entries()]
      .filter(([, key]) => visible.of(key).rows !== 'none')
      .map(
        ([index, key]) => `
          k${index}: objects(kinds: ["${key}"], orderBy: [{ path: "health.rollUp.severity", direction: DESC }]) { nodes { id } }
          c${index}: objects(kinds: ["${key}"], filter: { health: { rollUp: { status: { notIn: [Current, Suspended] } } } }) { totalCount nodes { id } }`,
      )
      .join('\n')}
  }`;
  let stored = 0;
  const runs = randomRuns(15, 60);
  await fc.assert(
    fc.asyncProperty(
      fc
        .tuple(placedIn('east'), placedIn('west'))
        .chain(([east, west]) =>
          fc.record({ objects: fc.constant([...east, ...west]), steps: stepsOf([...east, ...west]) }),
        ),
      fc.array(scopeOf, { minLength: 3, maxLength: 3 }),
      async ({ objects, steps }, given) => {
        const state = new Map(objects.map((each) => [encodeObjectId(each), each]));
        const put = async (cluster: string, key: string): Promise<void> => {
          const own = [...state.values()].filter((each) => each.cluster === cluster && each.key === key);
          await fixture.sync(key, own.map(objectOf), cluster);
        };
        for (const cluster of clusters) for (const key of kindKeys) await put(cluster, key);
        const byKind = new Map(kindKeys.map((key, index) => [key, given[index] ?? noRows]));
        for (const { object, type, by, before } of steps) {
          if (before === 'settle') settle(fixture);
          else if (before === 'reopen') fixture.reopen();
          const { cluster, key } = object;
          if (type === 'DELETED') state.delete(encodeObjectId(object));
          else state.set(encodeObjectId(object), object);
          if (by === 'list') await put(cluster, key);
          else fixture.apply(key, type, objectOf(object), cluster);
          number += 1;
          const all = [...state.values()];
          for (const seen of [unrestricted, { id: `s${number}`, of: (kind: string) => byKind.get(kind) ?? noRows }]) {
            scopes = seen;
            const { data, errors } = await fixture.query(listsOf(scopes));
            expect(errors.map(({ message }) => message)).toEqual([]);
            for (const [index, kind] of kindKeys.entries()) {
              if (scopes.of(kind).rows === 'none') continue;
              const severities = new Map(
                all
                  .filter((each) => each.key === kind && isVisible(scopes.of(kind), each))
                  .map((each) => [encodeObjectId(each), severityOf(rolledUp(each, all, scopes, false).status)]),
              );
              const ordered = data[`k${index}`].nodes.map(({ id }: { id: string }) => severities.get(id));
              expect(ordered).toEqual([...severities.values()].sort((a, b) => b - a));
              const bad = [...severities].filter(([, severity]) => severity > 1).map(([id]) => id);
              const { totalCount, nodes } = data[`c${index}`];
              expect(nodes.map(({ id }: { id: string }) => id).toSorted()).toEqual(bad.toSorted());
              expect(totalCount).toBe(bad.length);
            }
          }
          stored += (await storedSeverities(fixture)).filter((severity) => severity !== null).length;
        }
      },
    ),
    { numRuns: runs },
  );
  expect(stored).toBeGreaterThan(8 * runs);
});

function severityOf(status: string): number {
  return bySeverity.indexOf(status as HealthStatus);
}
