/**
 * Descriptions of a few resources in two clusters that come, change and go at random: CRDs, kinds of kube-apiserver that share
 * definitions, a copy of such a definition that fits and one that does not, and kinds whose names meet.
 */
import fc from 'fast-check';
import { describeResource } from '../../src/catalog/describe/describe.ts';
import type { DescribedResource } from '../../src/catalog/resources/catalog.ts';

const text = { type: 'string' };
const int = { type: 'integer', format: 'int32' };
const object = (properties: object): object => ({ type: 'object', properties });
const list = (items: object): object => ({ type: 'array', items });
const podSpec = 'io.k8s.api.core.v1.PodSpec';
const volume = 'io.k8s.api.core.v1.Volume';
const reference = (name: string): object => ({ $ref: `#/definitions/${name}` });

/** A schema of a resource: the properties of its root, and the definitions that they name. */
interface Look {
  readonly properties: object;
  readonly definitions?: Readonly<Record<string, unknown>>;
  readonly description?: string;
}

const pods = (leaf: object, description?: string): Look => ({
  properties: { spec: object({ template: reference(podSpec), replicas: int }) },
  definitions: {
    [podSpec]: { ...object({ host: leaf, volumes: list(reference(volume)) }), description },
    [volume]: object({ name: text, size: int }),
  },
});

const custom: readonly Look[] = [
  { properties: { spec: object({ a: text, deep: object({ x: int }) }) } },
  { properties: { spec: object({ a: text, deep: object({ x: int }) }) }, description: 'Described.' },
  { properties: { spec: object({ a: int, items: list(object({ x: int, y: text })) }), status: object({ b: text }) } },
  { properties: {} },
];

const resources: readonly { readonly group: string; readonly kind: string; readonly looks: readonly Look[] }[] = [
  { group: 'apps', kind: 'Deployment', looks: [pods(text), pods(text, 'A Pod.'), pods(int)] },
  { group: 'batch', kind: 'Job', looks: [pods(text), { properties: { spec: reference(volume) }, definitions: {} }] },
  { group: 'a.io', kind: 'Foo', looks: custom },
  { group: 'a.io', kind: 'Bar', looks: custom },
  { group: 'b.io', kind: 'Foo', looks: custom },
  { group: 'agg.io', kind: 'Copy', looks: [pods(text), pods(int)] },
  // These two have the same type name, so the later one is left out.
  { group: 'a-b.io', kind: 'Foo', looks: custom },
  { group: 'a.b.io', kind: 'Foo', looks: custom },
];

const clusters = ['one', 'two'];

function described(resource: number, look: number, cluster: string): DescribedResource {
  const { group, kind, looks } = resources[resource] ?? fail();
  const { properties, definitions = {}, description } = looks[look % looks.length] ?? fail();
  const root = {
    ...object({ metadata: {}, ...properties }),
    description,
    'x-kubernetes-group-version-kind': [{ group, version: 'v1', kind }],
  };
  const lower = kind.toLowerCase();
  return describeResource({
    cluster,
    resource: {
      group,
      version: 'v1',
      plural: `${lower}s`,
      singular: lower,
      kind,
      namespaced: true,
      verbs: ['list', 'watch'],
      shortNames: [],
      categories: [],
    },
    schemas: { root, ...definitions },
  });
}

function fail(): never {
  throw new Error('the resource is in the list');
}

/** A resource of one cluster gets another look, or the same one as a new object. Null: it goes. */
interface CatalogChange {
  readonly resource: number;
  readonly cluster: number;
  readonly look: number | null;
}

/** The descriptions after each change of a history. Descriptions that did not change stay the same objects. */
export const changingDescriptions: fc.Arbitrary<readonly (readonly DescribedResource[])[]> = fc
  .array(
    fc.array(
      fc.record<CatalogChange>({
        resource: fc.nat(resources.length - 1),
        cluster: fc.nat(clusters.length - 1),
        look: fc.option(fc.nat(3), { freq: 4 }),
      }),
      { minLength: 1, maxLength: 6 },
    ),
    { minLength: 1, maxLength: 6 },
  )
  .map((history) => {
    const state = new Map<string, DescribedResource>();
    return history.map((changes) => {
      for (const { resource, cluster, look } of changes) {
        const slot = `${resource} ${cluster}`;
        if (look === null) state.delete(slot);
        else state.set(slot, described(resource, look, clusters[cluster] ?? fail()));
      }
      return [...state.values()];
    });
  });
