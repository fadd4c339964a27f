/**
 * The relation of each namespaced object to its Namespace: filters, orders with cursors, groups and the object itself, for random objects
 * and rights, against a computation on the plain objects.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { unrestricted } from '../../src/access/scope.ts';
import { Dice } from '../fuzz/dice.ts';
import { widgets } from '../kit/graphql-world.ts';
import { randomRuns } from '../kit/random-runs.ts';
import {
  describeScopes,
  isSeen,
  namespacesKey,
  type PlacedObject,
  randomObjects,
  randomScopes,
  scopedStore,
} from '../kit/scoped-world.ts';

const runs = Number(process.env['PORTOLAN_RELATION_RUNS'] ?? randomRuns(10, 40));
const teamPath = 'namespace.metadata.labels[\\"team\\"]';

function withTeams(objects: readonly PlacedObject[], dice: Dice): readonly PlacedObject[] {
  return objects.map((each): PlacedObject => {
    if (each.key !== namespacesKey) return each;
    const team = dice.pick([{}, { team: 'red' }, { team: 'blue' }]);
    return { ...each, object: { ...each.object, metadata: { ...(each.object['metadata'] as object), labels: team } } };
  });
}

interface Facts {
  readonly id: string;
  readonly namespace: string | null;
  readonly team: string | null;
}

const compareTexts = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

function factsOf(objects: readonly PlacedObject[], sees: (object: PlacedObject, access: 'list' | 'get') => boolean) {
  const homes = new Map(
    objects
      .filter((each) => each.key === namespacesKey && sees(each, 'get'))
      .map((each) => [`${each.cluster} ${each.name}`, each.object['metadata'] as { labels?: { team?: string } }]),
  );
  return objects
    .filter((each) => each.key === widgets && sees(each, 'list'))
    .toSorted(
      (a, b) =>
        compareTexts(a.cluster, b.cluster) ||
        compareTexts(a.namespace ?? '', b.namespace ?? '') ||
        compareTexts(a.name, b.name),
    )
    .map((each): Facts => {
      const home = homes.get(`${each.cluster} ${each.namespace}`);
      return {
        id: `${each.cluster} ${each.namespace} ${each.name}`,
        namespace: home === undefined ? null : each.namespace,
        team: home?.labels?.team ?? null,
      };
    });
}

const node = 'cluster metadata { namespace name }';
interface Node {
  readonly cluster: string;
  readonly metadata: { readonly namespace: string; readonly name: string };
}
const idOf = ({ cluster, metadata: { namespace, name } }: Node): string => `${cluster} ${namespace} ${name}`;

test('it answers as the plain objects do', async () => {
  const store = await scopedStore();
  const ask = async (query: string) => {
    const [first, second] = (await store.pair.ask(JSON.stringify({ query }))).map(({ text }) => JSON.parse(text));
    expect(first.errors).toBeUndefined();
    expect(first.data).toEqual(second.data);
    return first.data;
  };
  await fc.assert(
    fc.asyncProperty(fc.integer(), fc.boolean(), async (seed, seesAll) => {
      const dice = new Dice(seed);
      const objects = withTeams(randomObjects(dice), dice);
      store.scopes = unrestricted;
      await store.fill(objects);
      const scopes = seesAll ? unrestricted : randomScopes(dice, { same: false });
      store.scopes = scopes;
      const facts = factsOf(objects, (each, access) => isSeen(scopes, each, access));
      if (scopes.of(widgets).rows === 'none') return;
      const list = async (filter: string): Promise<string[]> => {
        const { exampleComWidgets } = await ask(
          `{ exampleComWidgets(first: 100, filter: ${filter}) { totalCount nodes { ${node} } } }`,
        );
        expect(exampleComWidgets.totalCount).toBe(exampleComWidgets.nodes.length);
        return exampleComWidgets.nodes.map(idOf);
      };
      const ids = (holds: (each: Facts) => boolean): string[] => facts.filter(holds).map(({ id }) => id);
      const hint = describeScopes(scopes);
      const isRed = '{ metadata: { labels: [{ key: "team", eq: "red" }] } }';
      expect(await list(`{ namespace: { is: ${isRed} } }`), hint).toEqual(ids(({ team }) => team === 'red'));
      expect(await list(`{ not: { namespace: { is: ${isRed} } } }`)).toEqual(ids(({ team }) => team !== 'red'));
      expect(await list('{ namespace: { exists: true } }')).toEqual(ids(({ namespace }) => namespace !== null));
      expect(await list('{ namespace: { exists: false } }')).toEqual(ids(({ namespace }) => namespace === null));
      expect(await list('{ namespace: { is: { labelSelector: "team in (red,blue)" } } }')).toEqual(
        ids(({ team }) => team !== null),
      );

      const { exampleComWidgets: shown } = await ask(
        `{ exampleComWidgets(first: 100) { nodes { ${node} namespace { metadata { name } } } aggregate { groups(by: ["${teamPath}"]) { keys aggregate { count } } } } }`,
      );
      expect(
        shown.nodes.map(
          (each: Node & { namespace: { metadata: { name: string } } | null }) => each.namespace?.metadata.name ?? null,
        ),
      ).toEqual(facts.map(({ namespace }) => namespace));
      const groups = Map.groupBy(facts, ({ team }) => team);
      expect(
        new Map(
          shown.aggregate.groups.map((each: { keys: unknown[]; aggregate: { count: number } }) => [
            each.keys[0],
            each.aggregate.count,
          ]),
        ),
      ).toEqual(new Map([...groups].map(([team, some]) => [team, some.length])));

      for (const direction of ['ASC', 'DESC'] as const) {
        const sign = direction === 'ASC' ? 1 : -1;
        const sorted = facts
          .map((each, at) => ({ ...each, at }))
          .toSorted((a, b) => {
            if (a.team === null || b.team === null)
              return Number(a.team === null) - Number(b.team === null) || sign * (a.at - b.at);
            return sign * compareTexts(a.team, b.team) || sign * (a.at - b.at);
          });
        const walked: string[] = [];
        let after = 'null';
        for (;;) {
          const { exampleComWidgets: page } = await ask(
            `{ exampleComWidgets(first: 3, after: ${after}, orderBy: [{ path: "${teamPath}", direction: ${direction} }]) { nodes { ${node} } pageInfo { hasNextPage endCursor } } }`,
          );
          walked.push(...page.nodes.map(idOf));
          if (!page.pageInfo.hasNextPage) break;
          after = JSON.stringify(page.pageInfo.endCursor);
        }
        expect(walked).toEqual(sorted.map(({ id }) => id));
      }
    }),
    { numRuns: runs },
  );
});

test('the graph of a Namespace has none of its objects, and a graph of an object has no Namespace', async () => {
  const store = await scopedStore();
  const objects = randomObjects(new Dice(3));
  await store.fill(objects);
  const [{ text }] = await store.pair.ask(
    JSON.stringify({
      query: `{ namespaces { nodes { usedBy { totalCount } graph(depth: 4) { nodes { kind } edges { relation } } } }
        exampleComWidgets { nodes { graph(depth: 2) { nodes { kind } } } } }`,
    }),
  );
  const { data, errors } = JSON.parse(text);
  expect(errors).toBeUndefined();
  expect(data.namespaces.nodes.length).toBeGreaterThan(0);
  for (const each of data.namespaces.nodes)
    expect(each).toEqual({ usedBy: { totalCount: 0 }, graph: { nodes: [{ kind: 'Namespace' }], edges: [] } });
  for (const { graph } of data.exampleComWidgets.nodes)
    expect(graph.nodes.map(({ kind }: { kind: string }) => kind)).not.toContain('Namespace');
});
