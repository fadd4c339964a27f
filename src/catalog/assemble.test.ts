import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { alikeNames } from '../../test/kit/alike-names.ts';
import { changingDescriptions } from '../../test/kit/changing-catalog.ts';
import { runSteps } from '../base/steps.ts';
import { buildGeneration } from '../graphql/schema/build-generation.ts';
import { assembleCatalog, CatalogAssembler } from './assemble.ts';
import { describeResource } from './describe/describe.ts';
import { nameShapes } from './names/shape-names.ts';
import { resolvePath } from './paths/resolve-path.ts';
import type { Catalog, CatalogKind, DescribedResource } from './resources/catalog.ts';
import type { Resource } from './resources/resource.ts';
import type { FieldType } from './tree/field-tree.ts';
import { parsePath } from './tree/path.ts';

const text = { type: 'string' };
const int = { type: 'integer', format: 'int32' };
const object = (properties: object): object => ({ type: 'object', properties });
const core = 'io.k8s.api.core.v1.';
const ref = (name: string): object => ({ $ref: `#/definitions/${name}` });

interface Wanted {
  readonly cluster?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly plural?: string;
  readonly namespaced?: boolean;
  readonly definitions?: Record<string, unknown>;
  readonly description?: string;
}

function described(properties: object, wanted: Wanted = {}): DescribedResource {
  const {
    cluster = 'one',
    group = 'a.io',
    kind = 'Foo',
    plural = `${kind.toLowerCase()}s`,
    namespaced = true,
    definitions = {},
    description,
  } = wanted;
  const resource: Resource = {
    group,
    version: 'v1',
    plural,
    singular: kind.toLowerCase(),
    kind,
    namespaced,
    verbs: ['list', 'watch'],
    shortNames: [],
    categories: [],
  };
  const root = {
    ...object({ metadata: {}, ...properties }),
    description,
    'x-kubernetes-group-version-kind': [{ group, version: 'v1', kind }],
  };
  return describeResource({ cluster, resource, schemas: { root, ...definitions } });
}

function kindOf(catalog: Catalog, key: string): CatalogKind {
  const found = catalog.kinds.find((kind) => kind.key === key);
  if (found === undefined) throw new Error(`no kind ${key} among ${catalog.kinds.map((kind) => kind.key).join(' ')}`);
  return found;
}

const typeAt = (kind: CatalogKind, path: string): FieldType => resolvePath(kind.tree, parsePath(path)).type;
const messages = (catalog: Catalog): string[] =>
  catalog.diagnostics.map(({ cluster, resource, message }) => `${cluster} ${resource}: ${message}`);

describe('assembleCatalog', () => {
  test('sorts kinds by group and plural, whatever order they come in', () => {
    const all = [
      described({}, { group: 'b.io', kind: 'A' }),
      described({}, { group: '', kind: 'Pod' }),
      described({}, { group: 'a.io', kind: 'Z' }),
      described({ x: int }, { group: 'a.io', kind: 'B', cluster: 'two' }),
      described({ x: text }, { group: 'a.io', kind: 'B' }),
    ];
    const catalog = assembleCatalog(all);
    expect(catalog.kinds.map(({ key }) => key)).toEqual(['pods', 'bs.a.io', 'zs.a.io', 'as.b.io']);
    fc.assert(
      fc.property(fc.shuffledSubarray(all, { minLength: all.length }), (shuffled) => {
        expect(assembleCatalog(shuffled)).toEqual(catalog);
      }),
      { numRuns: 20 },
    );
  });

  test('is frozen, and takes the later of two descriptions from one cluster', () => {
    const catalog = assembleCatalog([described({ x: text }), described({ x: int })]);
    expect(typeAt(kindOf(catalog, 'foos.a.io'), 'x')).toEqual({ kind: 'leaf', type: 'Int' });
    for (const frozen of [catalog, catalog.kinds, catalog.kinds[0]]) expect(Object.isFrozen(frozen)).toBe(true);
    expect(assembleCatalog([]).kinds).toEqual([]);
  });

  test('changes the hash of a kind with its description, not with other kinds', () => {
    const one = assembleCatalog([described({ x: text })]);
    const more = assembleCatalog([described({ x: text }), described({}, { kind: 'Bar' })]);
    const changed = assembleCatalog([described({ x: text }, { description: 'New.' })]);
    expect(kindOf(more, 'foos.a.io').hash).toBe(kindOf(one, 'foos.a.io').hash);
    expect(kindOf(changed, 'foos.a.io').hash).not.toBe(kindOf(one, 'foos.a.io').hash);
    expect(more.hash).not.toBe(one.hash);
  });
});

describe('one catalog after another', () => {
  test('is what assembling from nothing gives, and a kind with the same hash stays the same object', () => {
    fc.assert(
      fc.property(changingDescriptions, (history) => {
        const assembler = new CatalogAssembler();
        let before: Catalog = assembleCatalog([]);
        for (const described of history) {
          const catalog = runSteps(assembler.assemble(described));
          expect(catalog).toEqual(assembleCatalog(described));
          for (const kind of catalog.kinds) {
            const old = before.kinds.find(({ key }) => key === kind.key);
            if (old?.hash === kind.hash) expect(kind).toBe(old);
          }
          before = catalog;
        }
      }),
      { numRuns: 200 },
    );
  });

  test('an assembly that was given up in the middle leaves nothing wrong', () => {
    fc.assert(
      fc.property(changingDescriptions, fc.nat(30), (history, steps) => {
        const assembler = new CatalogAssembler();
        for (const described of history) {
          const givenUp = assembler.assemble(described);
          for (let step = 0; step < steps; step += 1) givenUp.next();
        }
        const last = history.at(-1) ?? [];
        expect(runSteps(assembler.assemble(last))).toEqual(assembleCatalog(last));
      }),
      { numRuns: 100 },
    );
  });
});

describe('several clusters', () => {
  test('unite their trees', () => {
    const catalog = assembleCatalog([
      described({ spec: object({ a: text, deep: object({ x: text }) }) }, { cluster: 'two' }),
      described({ spec: object({ b: int, deep: object({ y: int }) }), status: object({ c: text }) }),
    ]);
    const kind = kindOf(catalog, 'foos.a.io');
    expect(kind.clusters).toEqual(['one', 'two']);
    for (const path of ['spec.a', 'spec.b', 'spec.deep.x', 'spec.deep.y', 'status.c'])
      expect(typeAt(kind, path).kind).toBe('leaf');
    expect(catalog.diagnostics).toEqual([]);
  });

  test.each<[string, object, object]>([
    ['leaves', text, int],
    ['a leaf and an object', text, object({ a: text })],
    ['a list and an object', { type: 'array', items: object({ a: text }) }, object({ a: text })],
    ['a map of strings and a typed map', { additionalProperties: text }, { additionalProperties: int }],
    ['something and free JSON', text, {}],
  ])('make JSON of what is %s', (_what, a, b) => {
    const catalog = assembleCatalog([
      described({ spec: object({ x: a, y: text }) }),
      described({ spec: object({ x: b, y: text }) }, { cluster: 'two' }),
    ]);
    const kind = kindOf(catalog, 'foos.a.io');
    expect(typeAt(kind, 'spec.x')).toEqual({ kind: 'leaf', type: 'JSON' });
    expect(typeAt(kind, 'spec.y')).toEqual({ kind: 'leaf', type: 'String' });
    expect(messages(catalog)).toEqual([
      'two foos.a.io: spec.x has another type than in the clusters before; it is free JSON',
    ]);
  });

  test('make JSON of a conflict inside lists and maps only', () => {
    const of = (leaf: object): object =>
      object({
        list: { type: 'array', items: object({ x: leaf, y: text }) },
        map: { additionalProperties: object({ x: leaf }) },
      });
    const kind = kindOf(
      assembleCatalog([described({ spec: of(text) }), described({ spec: of(int) }, { cluster: 'two' })]),
      'foos.a.io',
    );
    expect(typeAt(kind, 'spec.list[0].x')).toEqual({ kind: 'leaf', type: 'JSON' });
    expect(typeAt(kind, 'spec.list[0].y')).toEqual({ kind: 'leaf', type: 'String' });
    expect(typeAt(kind, 'spec.map["k"].x')).toEqual({ kind: 'leaf', type: 'JSON' });
  });

  test.each<[string, Wanted]>([
    ['kind', { kind: 'Fu', plural: 'foos' }],
    ['scope', { namespaced: false }],
  ])('that differ in %s: the later one is left out', (_what, other) => {
    const catalog = assembleCatalog([
      described({ a: text }, { cluster: 'b', ...other }),
      described({ b: text }, { cluster: 'a' }),
    ]);
    const kind = kindOf(catalog, 'foos.a.io');
    expect(kind.clusters).toEqual(['a']);
    expect(() => typeAt(kind, 'a')).toThrow('unknown');
    expect(messages(catalog)).toEqual([
      expect.stringContaining('b foos.a.io: it is another kind or has another scope than in cluster a'),
    ]);
  });

  test('unite recursive shapes', () => {
    const definitions = (more: object): Record<string, unknown> => ({
      'x.Props': object({ not: ref('x.Props'), ...more }),
    });
    const catalog = assembleCatalog([
      described({ schema: ref('x.Props') }, { definitions: definitions({ a: text }) }),
      described({ schema: ref('x.Props') }, { definitions: definitions({ b: int }), cluster: 'two' }),
    ]);
    const kind = kindOf(catalog, 'foos.a.io');
    expect(typeAt(kind, 'schema.not.not.a').kind).toBe('leaf');
    expect(typeAt(kind, 'schema.not.not.b').kind).toBe('leaf');
  });
});

describe('definitions', () => {
  const pod = (more: object): Record<string, unknown> => ({ [`${core}PodSpec`]: object({ nodeName: text, ...more }) });
  const own = { group: 'apps', kind: 'Deployment' };
  const other = { group: 'batch', kind: 'Job' };

  test('are one structure in all kinds, whichever cluster serves them', () => {
    const extra = { [`${core}Extra`]: object({ z: text }) };
    const catalog = assembleCatalog([
      described(
        { spec: ref(`${core}PodSpec`) },
        { ...own, definitions: { ...pod({ extra: ref(`${core}Extra`) }), ...extra } },
      ),
      described({ template: ref(`${core}PodSpec`) }, { ...other, cluster: 'two', definitions: pod({ old: int }) }),
    ]);
    const [deployment, job] = [kindOf(catalog, 'deployments.apps'), kindOf(catalog, 'jobs.batch')];
    for (const path of ['nodeName', 'old', 'extra.z']) {
      expect(typeAt(deployment, `spec.${path}`)).toEqual(typeAt(job, `template.${path}`));
    }
    expect(deployment.tree.shapes[`${core}PodSpec`]?.fields).toEqual(job.tree.shapes[`${core}PodSpec`]?.fields);
    expect(nameShapes('Job', job.tree).get(`${core}Extra`)).toBe('Extra');
    expect(alikeNames(catalog)).toEqual([]);
  });

  test('are united over clusters wherever they stand', () => {
    const at = (place: string, cluster: string, more: object): DescribedResource =>
      described(
        {
          spec: object({
            [place]: ref(`${core}PodSpec`),
            [`${place}s`]: { type: 'array', items: ref(`${core}PodSpec`) },
          }),
        },
        { ...own, cluster, definitions: pod(more) },
      );
    for (const [first, second] of [
      ['a', 'b'],
      ['b', 'a'],
    ] as const) {
      const kind = kindOf(
        assembleCatalog([at(first, 'one', { x: text }), at(second, 'two', { y: int })]),
        'deployments.apps',
      );
      for (const path of ['spec.a.x', 'spec.a.y', 'spec.b.x', 'spec.as[0].y', 'spec.bs[0].x'])
        expect(typeAt(kind, path).kind).toBe('leaf');
    }
  });

  test('are united where only the second cluster has them at the place that is met first', () => {
    const spec = ref(`${core}PodSpec`);
    const one = described(
      { aaa: object({ k: text }), zzz: object({ p: spec }) },
      { ...own, definitions: pod({ x: text }) },
    );
    const two = described(
      { aaa: object({ k: text, p: spec }) },
      { ...own, cluster: 'two', definitions: pod({ y: int }) },
    );
    const kind = kindOf(assembleCatalog([one, two]), 'deployments.apps');
    for (const path of ['aaa.p.x', 'aaa.p.y', 'zzz.p.x', 'zzz.p.y']) expect(typeAt(kind, path).kind).toBe('leaf');
  });

  test('become JSON where they contradict each other', () => {
    const catalog = assembleCatalog([
      described({ spec: ref(`${core}PodSpec`) }, { ...own, definitions: pod({ x: text }) }),
      described({ spec: ref(`${core}PodSpec`) }, { ...other, definitions: pod({ x: int }) }),
    ]);
    for (const key of ['deployments.apps', 'jobs.batch'])
      expect(typeAt(kindOf(catalog, key), 'spec.x')).toEqual({ kind: 'leaf', type: 'JSON' });
    expect(messages(catalog)).toEqual([expect.stringContaining('PodSpec.x has another type')]);
  });

  test('of other groups are used where they fit and never change those of kube-apiserver', () => {
    const first = described({ spec: ref(`${core}PodSpec`) }, { ...own, definitions: pod({ x: text }) });
    const alone = assembleCatalog([first]);
    const fits = described({ spec: ref(`${core}PodSpec`) }, { definitions: pod({}) });
    const differs = described({ spec: ref(`${core}PodSpec`) }, { kind: 'Bar', definitions: pod({ x: int }) });
    const catalog = assembleCatalog([first, fits, differs]);
    expect(kindOf(catalog, 'deployments.apps')).toEqual(kindOf(alone, 'deployments.apps'));
    const foo = kindOf(catalog, 'foos.a.io');
    expect([...nameShapes(foo.names.type, foo.tree).values()]).toContain('PodSpec');
    expect(typeAt(foo, 'spec.x')).toEqual({ kind: 'leaf', type: 'String' });
    const bar = kindOf(catalog, 'bars.a.io');
    expect([...nameShapes(bar.names.type, bar.tree).values()]).toContain('AIoBar_spec');
    expect(typeAt(bar, 'spec.x')).toEqual({ kind: 'leaf', type: 'Int' });
    expect([...nameShapes(bar.names.type, bar.tree).values()]).toContain('ObjectMeta');
    expect(messages(catalog)).toEqual([expect.stringContaining('bars.a.io: its definitions differ')]);
  });
});

describe('ties', () => {
  test.each<[string, Wanted, Wanted, string]>([
    [
      'the same type from two groups',
      { group: 'a.b.io', kind: 'Foo' },
      { group: 'a-b.io', kind: 'Foo', plural: 'foos' },
      'foos___a__b___io',
    ],
    [
      'types that differ in letter case',
      { group: 'ab.io', kind: 'Foo' },
      { group: 'a.b.io', kind: 'Foo' },
      'foos___a___b___io',
    ],
    [
      'a group that ends where the other kind begins',
      { group: 'a.io', kind: 'XFoo' },
      { group: 'a.io.x', kind: 'Foo' },
      'foos___a___io___x',
    ],
    [
      'the list of one and the one of another',
      { kind: 'Foo', plural: 'foos' },
      { kind: 'Foos', plural: 'fooses' },
      'fooses___a___io',
    ],
    ['Kinds that differ in letter case', { kind: 'FooBar' }, { kind: 'Foobar', plural: 'foobarz' }, 'foobarz___a___io'],
    [
      'the one object of a kind without a plural, and another kind',
      { kind: 'Sheep', plural: 'sheep' },
      { kind: 'SheepByName' },
      'sheepbynames___a___io',
    ],
  ])('%s: the later kind is named after its key, whatever order they are described in', (_what, one, other, list) => {
    const both = [described({}, one), described({}, other)];
    const came = both.map(({ resource }) => resource);
    const catalog = assembleCatalog(both, came);
    expect(assembleCatalog(both.toReversed(), came)).toEqual(catalog);
    const lists = came.map(({ group, plural }) => kindOf(catalog, `${plural}.${group}`).names.list);
    expect(lists).toEqual([assembleCatalog(both.slice(0, 1)).kinds[0]?.names.list, list]);
    expect(messages(catalog)).toEqual([expect.stringMatching(/belongs to .*, which came before; .* the list .*___/)]);
  });

  test('a kind that is gone keeps its names, and has them when it comes again', () => {
    const [one, other] = [described({}, { group: 'a.b.io' }), described({}, { group: 'a-b.io' })];
    const came = [one.resource, other.resource];
    const alone = kindOf(assembleCatalog([other], came), 'foos.a-b.io');
    const both = assembleCatalog([one, other], came);
    expect(kindOf(both, 'foos.a-b.io').names).toEqual(alone.names);
    expect(kindOf(both, 'foos.a.b.io').names.list).toBe('abIoFoos');
  });

  test('another Kind of the same resource may have its names', () => {
    const [one, other] = [described({}, { kind: 'Foo' }), described({}, { kind: 'FOO' })];
    expect(assembleCatalog([other], [one.resource, other.resource]).kinds[0]?.names).toMatchObject({ type: 'AIoFOO' });
  });

  test('the cluster whose Kind came first decides', () => {
    const [one, other] = [
      described({}, { cluster: 'west' }),
      described({}, { cluster: 'east', kind: 'Other', plural: 'foos' }),
    ];
    const { kinds } = assembleCatalog([one, other], [one.resource, other.resource]);
    expect(kinds.map(({ names, clusters }) => [names.type, clusters])).toEqual([['AIoFoo', ['west']]]);
  });

  test('a nested type never has the name of another kind', () => {
    const nested = { Connection: object({ a: text }), filter: object({ a: text }), _bar: object({ a: text }) };
    const catalog = assembleCatalog([
      described(nested, { kind: 'Foo' }),
      ...['FooConnection', 'FooFilter', 'Foo-bar'].map((kind) => described({}, { kind })),
    ]);
    expect(messages(catalog)).toEqual([]);
    expect(alikeNames(catalog)).toEqual([]);
    expect(buildGeneration(catalog).diagnostics).toEqual([]);
  });
});
