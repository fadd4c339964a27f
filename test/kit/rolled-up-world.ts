/**
 * Objects that own and name each other, and their rolled-up health by a plain computation.
 *
 *   Widgets name Parts of their namespace and a Gadget. Any object may own any other. Both clusters have the same uids.
 */
import fc from 'fast-check';
import { expect } from 'vitest';
import { allRows, isVisible, noRows, type Scope, type Scopes } from '../../src/access/scope.ts';
import { describeRelation } from '../../src/catalog/relations/described-relation.ts';
import { readRelations } from '../../src/catalog/relations/read-relations.ts';
import type { DescribedResource } from '../../src/catalog/resources/catalog.ts';
import type { Identity } from '../../src/query/plan/filter.ts';
import { compareIdentity } from '../../src/query/plan/identity-order.ts';
import { encodeObjectId } from '../../src/query/plan/object-id.ts';
import {
  describedCrd,
  type EngineFixture,
  engineFixture,
  type FixtureOptions,
  made,
  type Schema,
} from './engine-fixture.ts';
import { gadget, gadgets, widget, widgetProperties, widgets } from './graphql-world.ts';

export const clusters = ['east', 'west'];
export const parts = 'parts.example.com';
export const kindKeys = [widgets, gadgets, parts];

const { relations, problems } = readRelations(
  {
    relations: [
      { from: 'Widget.example.com', name: 'gadget', to: 'Gadget.example.com', at: ['spec.name'] },
      { from: 'Widget.example.com', name: 'parts', to: 'Part.example.com', at: ['spec.ports[].id'] },
    ],
  },
  'CONFIGURED',
);

function resources(cluster: string): readonly DescribedResource[] {
  expect(problems).toEqual([]);
  const related = { ...widget(cluster), relations: relations.map((relation) => describeRelation(relation)) };
  const part = describedCrd({ cluster, kind: 'Part', plural: 'parts', properties: widgetProperties });
  return [related, gadget(cluster), part];
}

export async function rollUpWorld(options: FixtureOptions = {}): Promise<EngineFixture> {
  const fixture = engineFixture(options);
  await fixture.declare(...resources('east'), ...resources('west'));
  for (const cluster of clusters) for (const key of kindKeys) await fixture.sync(key, [], cluster);
  return fixture;
}

/** The members of an object with this health. */
export const withHealth: Readonly<Record<string, Schema>> = {
  Failed: { status: { conditions: [{ type: 'Stalled', status: 'True', reason: 'Broken', message: 'no disk' }] } },
  Unknown: { status: { phase: 'Odd' } },
  InProgress: { status: { conditions: [{ type: 'Ready', status: 'False', reason: 'Waiting' }] } },
  Terminating: { metadata: { deletionTimestamp: '2026-02-01T00:00:00Z' } },
  Suspended: { status: { phase: 'Paused' } },
  Current: {},
};
export const worstFirst = Object.keys(withHealth);

export function owners(...uids: readonly string[]): Schema {
  return {
    ownerReferences: uids.map((uid) => ({ apiVersion: 'example.com/v1', kind: 'Widget', name: 'o', uid })),
  };
}

export interface Placed extends Identity {
  readonly uid: string;
  readonly owners: readonly string[];
  readonly status: string;
  /** Names of Parts, and of a Gadget. */
  readonly parts: readonly string[];
  readonly gadget: string | null;
}

export const names = ['a', 'b', 'c'];
const uids = kindKeys.flatMap((key) =>
  (key === gadgets ? [''] : ['n0', 'n1']).flatMap((namespace) => names.map((name) => `${key} ${namespace} ${name}`)),
);

/** Both clusters have the same uids. */
const uidOf = ({
  key,
  namespace,
  name,
}: {
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
}): string => `${key} ${key === gadgets ? '' : namespace} ${name}`;

export const placedIn = (cluster: string): fc.Arbitrary<readonly Placed[]> =>
  fc
    .uniqueArray(
      fc.record({
        cluster: fc.constant(cluster),
        key: fc.constantFrom(...kindKeys),
        namespace: fc.constantFrom('n0', 'n0', 'n0', 'n1'),
        name: fc.constantFrom(...names),
        owners: fc.uniqueArray(fc.constantFrom(...uids), { maxLength: 4 }),
        status: fc.constantFrom(...worstFirst, ...Array<string>(8).fill('Current')),
        parts: fc.uniqueArray(fc.constantFrom(...names, 'gone'), { maxLength: 2 }),
        gadget: fc.constantFrom(null, null, ...names),
      }),
      {
        minLength: 8,
        maxLength: uids.length,
        selector: uidOf,
      },
    )
    .map((objects) =>
      objects.map((object) => ({
        ...object,
        uid: uidOf(object),
        namespace: object.key === gadgets ? null : object.namespace,
        ...(object.key === widgets ? {} : { parts: [], gadget: null }),
      })),
    );

export const scopeOf: fc.Arbitrary<Scope> = fc.oneof(
  { weight: 3, arbitrary: fc.constant(allRows) },
  { weight: 1, arbitrary: fc.constant(noRows) },
  {
    weight: 4,
    arbitrary: fc
      .record({
        cluster: fc.constantFrom(...clusters),
        namespaces: fc.subarray(['n0', 'n1']),
        here: fc.subarray(names),
        place: fc.constantFrom('', 'n0', 'n1'),
      })
      .map(({ cluster, namespaces, here, place }): Scope => {
        const part = { namespaces: new Set(namespaces), names: new Map([[place, new Set(here)]]) };
        return { rows: 'some', clusters: new Map([[cluster, part]]) };
      }),
  },
);

interface Expected {
  readonly status: string;
  readonly culprit: string | null;
  readonly chain: readonly string[] | null;
}

/** The roll-up, computed from all objects step by step. */
export function rolledUp(root: Placed, objects: readonly Placed[], scopes: Scopes, isRelated: boolean): Expected {
  const here = objects.filter((each) => each.cluster === root.cluster && isVisible(scopes.of(each.key), each));
  interface Step {
    readonly object: Placed;
    readonly chain: readonly string[];
  }
  const tree: Step[] = [{ object: root, chain: [] }];
  let level: readonly Step[] = tree.slice();
  for (let depth = 1; depth <= 8; depth += 1) {
    const next: Step[] = [];
    for (const { object, chain } of level) {
      for (const each of here) {
        const isOwned = each.owners.includes(object.uid) && (object.namespace ?? each.namespace) === each.namespace;
        if (!isOwned || [...tree, ...next].some((step) => step.object === each)) continue;
        next.push({ object: each, chain: [...chain, encodeObjectId(each)] });
      }
    }
    level = next.toSorted((a, b) => compareIdentity(a.object, b.object));
    tree.push(...level);
  }
  const owned = tree.slice(1).map(({ object, chain }) => ({
    ...{ identity: object as Identity, status: object.status, culprit: encodeObjectId(object), chain },
    depth: chain.length,
  }));
  const named = tree.flatMap(({ object, chain }) => {
    const { cluster, namespace } = object;
    const mentions = [
      ...object.parts.map((name): Identity => ({ cluster, key: parts, namespace, name })),
      ...(object.gadget === null ? [] : [{ cluster, key: gadgets, namespace: null, name: object.gadget }]),
    ];
    return mentions.flatMap((identity) => {
      const found = here.find((each) => compareIdentity(each, identity) === 0);
      if (tree.some((step) => step.object === found)) return [];
      if (found === undefined && !isVisible(scopes.of(identity.key), identity)) return [];
      const culprit = found === undefined ? null : encodeObjectId(found);
      const way = culprit === null ? chain : [...chain, culprit];
      return [{ identity, status: found?.status ?? 'Failed', culprit, chain: way, depth: chain.length + 1 }];
    });
  });
  const rank = (status: string): number => worstFirst.indexOf(status);
  const [worst] = [...owned, ...(isRelated ? named : [])].sort(
    (a, b) => rank(a.status) - rank(b.status) || b.depth - a.depth || compareIdentity(a.identity, b.identity),
  );
  if (worst === undefined || worst.status === 'Current' || rank(worst.status) > rank(root.status))
    return { status: root.status, culprit: null, chain: null };
  const { status, culprit, chain } = worst;
  return { status, culprit, chain };
}

export function objectOf({
  key,
  namespace,
  name,
  uid,
  owners: given,
  status,
  parts: ports,
  gadget: named,
}: Placed): Schema {
  const { metadata, ...rest } = (withHealth[status] ?? {}) as { readonly metadata?: Schema };
  return made({
    ...{ name, namespace, uid, ...rest },
    metadata: { ...metadata, ...owners(...given) },
    ...(key === widgets
      ? { spec: { ports: ports.map((id) => ({ id })), ...(named === null ? {} : { name: named }) } }
      : {}),
  });
}
