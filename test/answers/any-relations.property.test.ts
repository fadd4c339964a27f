/**
 * Filters, orders, counts and pages through relations whose references state their kind, for random objects and rights, against a
 * computation on the plain objects.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { unrestricted } from '../../src/access/scope.ts';
import { Dice } from '../fuzz/dice.ts';
import { gadgets, widgets } from '../kit/graphql-world.ts';
import { randomRuns } from '../kit/random-runs.ts';
import {
  describeScopes,
  isSeen,
  type PlacedObject,
  randomObjects,
  randomScopes,
  scopedStore,
} from '../kit/scoped-world.ts';

const runs = Number(process.env['PORTOLAN_RELATION_RUNS'] ?? randomRuns(10, 40));

interface Ref {
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
}
interface Body {
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
  readonly spec?: { readonly ref?: Ref; readonly refs?: readonly Ref[]; readonly free?: { readonly a: number } };
}
const bodyOf = ({ object }: PlacedObject): Body => object as unknown as Body;
const compareTexts = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
const idOf = ({ cluster, key, namespace, name }: PlacedObject): string => `${cluster} ${key} ${namespace} ${name}`;

class World {
  readonly #objects: readonly PlacedObject[];
  readonly #sees: (object: PlacedObject, access: 'list' | 'get') => boolean;

  constructor(objects: readonly PlacedObject[], sees: (object: PlacedObject, access: 'list' | 'get') => boolean) {
    this.#objects = objects;
    this.#sees = sees;
  }

  get widgets(): readonly PlacedObject[] {
    return this.#objects
      .filter((each) => each.key === widgets && this.#sees(each, 'list'))
      .toSorted(
        (a, b) =>
          compareTexts(a.cluster, b.cluster) ||
          compareTexts(a.namespace ?? '', b.namespace ?? '') ||
          compareTexts(a.name, b.name),
      );
  }

  #named(from: PlacedObject, { kind, name, namespace }: Ref, access: 'list' | 'get'): readonly PlacedObject[] {
    if (kind !== 'Gadget' && kind !== 'Widget') return [];
    const [key, home] = kind === 'Gadget' ? [gadgets, null] : [widgets, namespace ?? from.namespace];
    return this.#objects.filter(
      (each) =>
        each.cluster === from.cluster &&
        each.key === key &&
        each.namespace === home &&
        each.name === name &&
        this.#sees(each, access),
    );
  }

  source(from: PlacedObject): PlacedObject | undefined {
    const ref = bodyOf(from).spec?.ref;
    return ref === undefined ? undefined : this.#named(from, ref, 'get')[0];
  }

  /** Each once, by kind and identity. */
  sources(from: PlacedObject): readonly PlacedObject[] {
    const found = (bodyOf(from).spec?.refs ?? []).flatMap((ref) => this.#named(from, ref, 'list'));
    return [...new Set(found)].toSorted(
      (a, b) =>
        compareTexts(a.key, b.key) ||
        compareTexts(a.namespace ?? '', b.namespace ?? '') ||
        compareTexts(a.name, b.name),
    );
  }
}

const isX = (object: PlacedObject): boolean => bodyOf(object).metadata.labels?.['app'] === 'x';
const isGadget = ({ key }: PlacedObject): boolean => key === gadgets;
const freeOf = (object: PlacedObject): number | undefined => bodyOf(object).spec?.free?.a;
const conditions: readonly (readonly [string, (object: PlacedObject) => boolean])[] = [
  ['{ metadata: { labels: [{ key: "app", eq: "x" }] } }', isX],
  ['{ labelSelector: "app=x" }', isX],
  ['{ path: [{ path: "kind", eq: "Gadget" }] }', isGadget],
  ['{ path: [{ path: "spec.free.a", eq: 1 }] }', (each) => freeOf(each) === 1],
  ['{ not: { path: [{ path: "spec.free.a", exists: true }] } }', (each) => freeOf(each) === undefined],
  [
    '{ or: [{ namespaces: ["n0"] }, { metadata: { name: { startsWith: "g" } } }] }',
    (each) => each.namespace === 'n0' || each.name.startsWith('g'),
  ],
];

const node = '__typename cluster metadata { namespace name }';
interface Node {
  readonly __typename: string;
  readonly cluster: string;
  readonly metadata: { readonly namespace: string | null; readonly name: string };
}
const idOfNode = ({ __typename: type, cluster, metadata: { namespace, name } }: Node): string =>
  `${cluster} ${type.endsWith('Gadget') ? gadgets : widgets} ${namespace} ${name}`;

test('they answer as the plain objects do', async () => {
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
      const objects = randomObjects(dice);
      store.scopes = unrestricted;
      await store.fill(objects);
      const scopes = seesAll ? unrestricted : randomScopes(dice, { same: false });
      store.scopes = scopes;
      if (scopes.of(widgets).rows === 'none') return;
      const hint = describeScopes(scopes);
      const world = new World(objects, (each, access) => isSeen(scopes, each, access));
      const list = async (filter: string): Promise<string[]> => {
        const { exampleComWidgets: found } = await ask(
          `{ exampleComWidgets(first: 100, filter: ${filter}) { totalCount nodes { ${node} } } }`,
        );
        expect(found.totalCount).toBe(found.nodes.length);
        return found.nodes.map(idOfNode);
      };
      const ids = (holds: (each: PlacedObject) => boolean): string[] => world.widgets.filter(holds).map(idOf);

      const [condition, holds] = dice.pick(conditions);
      const source = (each: PlacedObject): boolean => {
        const found = world.source(each);
        return found !== undefined && holds(found);
      };
      expect(await list(`{ source: { is: ${condition} } }`), hint).toEqual(ids(source));
      expect(await list(`{ not: { source: { is: ${condition} } } }`), hint).toEqual(ids((each) => !source(each)));
      expect(await list('{ source: { exists: false } }')).toEqual(ids((each) => world.source(each) === undefined));
      expect(await list(`{ sources: { some: ${condition} } }`)).toEqual(ids((each) => world.sources(each).some(holds)));
      expect(await list(`{ sources: { none: ${condition} } }`)).toEqual(
        ids((each) => !world.sources(each).some(holds)),
      );
      expect(await list(`{ sources: { every: ${condition} } }`)).toEqual(
        ids((each) => world.sources(each).every(holds)),
      );
      expect(await list('{ sources: { count: { gte: 2 } } }')).toEqual(ids((each) => world.sources(each).length >= 2));

      const { exampleComWidgets: shown } = await ask(
        `{ exampleComWidgets(first: 100) { nodes { all: sources(first: 9) { nodes { ${node} } }
          some: sources(filter: ${condition}) { totalCount aggregate { count } nodes { ${node} } }
          last: sources(orderBy: [{ path: "metadata.name", direction: DESC }]) { nodes { ${node} } } } } }`,
      );
      for (const [at, each] of world.widgets.entries()) {
        const found = shown.nodes[at];
        const sources = world.sources(each);
        const matching = sources.filter(holds).map(idOf);
        expect(found.all.nodes.map(idOfNode), hint).toEqual(sources.map(idOf));
        expect(found.some.nodes.map(idOfNode)).toEqual(matching);
        expect([found.some.totalCount, found.some.aggregate.count]).toEqual([matching.length, matching.length]);
        const reversed = sources
          .map((source, index) => ({ source, index }))
          .toSorted((a, b) => compareTexts(b.source.name, a.source.name) || b.index - a.index);
        expect(found.last.nodes.map(idOfNode)).toEqual(reversed.map(({ source: of }) => idOf(of)));
      }

      const nameOf = (each: PlacedObject): string | null => world.source(each)?.name ?? null;
      const ordered = world.widgets
        .map((each, at) => ({ each, at, name: nameOf(each) }))
        .toSorted((a, b) =>
          a.name === null || b.name === null
            ? Number(a.name === null) - Number(b.name === null) || a.at - b.at
            : compareTexts(a.name, b.name) || a.at - b.at,
        );
      const walked: string[] = [];
      let after = 'null';
      for (;;) {
        const { exampleComWidgets: page } = await ask(
          `{ exampleComWidgets(first: 3, after: ${after}, orderBy: [{ path: "source.metadata.name" }]) { nodes { ${node} } pageInfo { hasNextPage endCursor } } }`,
        );
        walked.push(...page.nodes.map(idOfNode));
        if (!page.pageInfo.hasNextPage) break;
        after = JSON.stringify(page.pageInfo.endCursor);
      }
      expect(walked).toEqual(ordered.map(({ each }) => idOf(each)));

      const { exampleComWidgets: counted } = await ask(
        '{ exampleComWidgets { aggregate { groups(by: ["source.kind", "count(sources)"]) { keys aggregate { count } } } } }',
      );
      const keyOf = (each: PlacedObject): string => {
        const found = world.source(each);
        return JSON.stringify([
          found === undefined ? null : isGadget(found) ? 'Gadget' : 'Widget',
          world.sources(each).length,
        ]);
      };
      const groups = Map.groupBy(world.widgets, keyOf);
      expect(
        new Map(
          counted.aggregate.groups.map((each: { keys: unknown[]; aggregate: { count: number } }) => [
            JSON.stringify(each.keys),
            each.aggregate.count,
          ]),
        ),
      ).toEqual(new Map([...groups].map(([key, some]) => [key, some.length])));
    }),
    { numRuns: runs },
  );
});
