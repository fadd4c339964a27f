/**
 * Two stores for one caller: one with all objects of a random world, and one without those that the caller may not see. Both have a
 * server with prepared answers and one without. A test asks all four, and finds what tells the caller of a hidden object.
 */
import { expect } from 'vitest';
import { fixedRights } from '../../src/access/rights.ts';
import {
  type Access,
  allRows,
  type ClusterScope,
  isVisible,
  noRows,
  type PartScope,
  type Scope,
  type Scopes,
  scopeText,
  unrestricted,
} from '../../src/access/scope.ts';
import { describeRelation } from '../../src/catalog/relations/described-relation.ts';
import { readRelations } from '../../src/catalog/relations/read-relations.ts';
import type { DescribedResource } from '../../src/catalog/resources/catalog.ts';
import { encodeObjectId } from '../../src/query/plan/object-id.ts';
import type { Dice } from '../fuzz/dice.ts';
import { type AnswerPair, answerPair, type PairOptions, type Reply } from './answer-pair.ts';
import { type CrdGiven, describedCrd, made, type Schema } from './engine-fixture.ts';
import { gadget, gadgets, widget, widgetProperties, widgets } from './graphql-world.ts';

export const worldClusters = ['east', 'west'];
export const worldNamespaces = ['n0', 'n1', 'n2'];
export const worldNames = ['a', 'b', 'c', 'd', 'web-1'];
export const gadgetNames = ['g1', 'g2', 'g3'];
export const namespacesKey = 'namespaces';
export const eventsKey = 'events';
export const worldKinds = [widgets, gadgets, namespacesKey, eventsKey];

const reference = { at: 'spec.ref', kind: 'kind', group: 'group', namespace: 'namespace' };
const { relations, problems } = readRelations(
  {
    relations: [
      { from: 'Widget.example.com', name: 'gadget', to: 'Gadget.example.com', reverse: 'widgets', at: ['spec.name'] },
      {
        from: 'Widget.example.com',
        name: 'next',
        to: 'Widget.example.com',
        reverse: 'previous',
        at: ['spec.template.image'],
      },
      { from: 'Widget.example.com', name: 'tagged', to: 'Widget.example.com', reverse: 'taggers', at: ['spec.tags[]'] },
      {
        from: 'Widget.example.com',
        name: 'selected',
        to: 'Widget.example.com',
        reverse: 'selectors',
        selector: 'spec.settings',
        form: 'map',
        empty: 'none',
      },
      { from: 'Widget.example.com', name: 'parent', to: 'Widget.example.com', reverse: 'parts', owner: true },
      { from: 'Widget.example.com', name: 'source', to: 'any', one: true, at: [reference] },
      { from: 'Widget.example.com', name: 'sources', to: 'any', at: [{ ...reference, at: 'spec.refs[]' }] },
      {
        from: 'Event',
        name: 'involved',
        to: 'any',
        reverse: 'events',
        reverseOn: 'any',
        weak: true,
        at: [{ at: 'involvedObject', kind: 'kind', apiVersion: 'apiVersion', namespace: 'namespace' }],
      },
    ],
  },
  'CONFIGURED',
);

const text = { type: 'string' };
const refProperties = { type: 'object', properties: { kind: text, group: text, name: text, namespace: text } };
const properties = {
  ...widgetProperties,
  spec: {
    ...widgetProperties.spec,
    properties: {
      ...widgetProperties.spec.properties,
      ref: refProperties,
      refs: { type: 'array', items: refProperties },
    },
  },
};

/** A kind of the core group. */
function core(given: CrdGiven): DescribedResource {
  const described = describedCrd(given);
  return { ...described, resource: { ...described.resource, group: '' } };
}

function related(resource: DescribedResource): DescribedResource {
  const { group, kind } = resource.resource;
  const own = relations.filter(({ source }) => source.kind === kind && source.group === group);
  return { ...resource, relations: own.map((relation) => describeRelation(relation)) };
}

/** The described resources of the world, in both clusters. */
export function worldResources(): readonly DescribedResource[] {
  expect(problems).toEqual([]);
  return worldClusters.flatMap((cluster) =>
    [
      widget(cluster, properties),
      gadget(cluster),
      core({ cluster, kind: 'Namespace', plural: 'namespaces', namespaced: false, properties: {} }),
      core({
        cluster,
        kind: 'Event',
        plural: 'events',
        properties: {
          message: text,
          involvedObject: { type: 'object', properties: { kind: text, apiVersion: text, name: text, namespace: text } },
        },
      }),
    ].map(related),
  );
}

export interface PlacedObject {
  readonly cluster: string;
  readonly key: string;
  /** Null for cluster-scoped kinds. */
  readonly namespace: string | null;
  readonly name: string;
  readonly object: Schema;
}

/** Random objects that mention, own and select each other. */
export function randomObjects(dice: Dice): readonly PlacedObject[] {
  const found = new Map<string, PlacedObject>();
  const put = (key: string, cluster: string, namespace: string | null, name: string, rest: Schema): void => {
    const { metadata, ...body } = rest as { readonly metadata?: Schema };
    const given = { uid: `u-${cluster}-${key}-${namespace ?? ''}-${name}`, ...metadata };
    const object = made({ name, namespace, ...body, metadata: given });
    found.set(`${key} ${cluster} ${namespace} ${name}`, { cluster, key, namespace, name, object });
  };
  for (const cluster of worldClusters) {
    for (const name of worldNamespaces) if (dice.chance(0.8)) put(namespacesKey, cluster, null, name, {});
    for (const name of gadgetNames) {
      if (dice.chance(0.8))
        put(gadgets, cluster, null, name, { spec: { name: dice.pick(['x', 'y']), total: dice.below(3) } });
    }
    for (let index = dice.between(4, 14); index > 0; index -= 1) {
      put(widgets, cluster, dice.pick(worldNamespaces), dice.pick(worldNames), randomWidget(dice, cluster));
    }
    for (let index = dice.below(6); index > 0; index -= 1) {
      const namespace = dice.pick(worldNamespaces);
      put(eventsKey, cluster, namespace, `e${index}`, {
        message: dice.pick(['pulled', 'failed']),
        involvedObject: { kind: 'Widget', apiVersion: 'example.com/v1', name: dice.pick(worldNames), namespace },
      });
    }
  }
  return [...found.values()];
}

function randomRef(dice: Dice): Schema {
  const toGadget = dice.chance(0.3);
  return {
    // Objects name kinds by any text.
    kind: dice.chance(0.1) ? dice.pick(['$x', '$.Widget', 'a"b', '\\']) : toGadget ? 'Gadget' : 'Widget',
    group: 'example.com',
    name: dice.pick([...(toGadget ? gadgetNames : worldNames), 'gone']),
    ...(dice.chance(0.5) ? { namespace: dice.pick(worldNamespaces) } : {}),
  };
}

function randomWidget(dice: Dice, cluster: string): Schema {
  const maybe = (make: () => Schema): Schema => (dice.chance(0.7) ? make() : {});
  const owner = (): string => `u-${cluster}-${widgets}-${dice.pick(worldNamespaces)}-${dice.pick(worldNames)}`;
  return {
    spec: {
      ...maybe(() => ({ name: dice.pick([...gadgetNames, 'gone']) })),
      ...maybe(() => ({ tags: dice.sample([...worldNames, 'gone'], 3) })),
      ...maybe(() => ({ settings: dice.pick([{}, { app: 'x' }, { app: 'y' }, { app: 'x', tier: '1' }]) })),
      ...maybe(() => ({ total: dice.below(4), replicas: dice.below(3), ratio: dice.pick([0.5, 1.5]) })),
      ...maybe(() => ({ template: { image: dice.pick([...worldNames, 'gone']) } })),
      ...maybe(() => ({ ref: randomRef(dice), refs: dice.times(dice.below(4), () => randomRef(dice)) })),
      ...maybe(() => ({
        ports: dice.times(dice.below(3), () => ({ name: dice.pick(['http', 'dns']), number: dice.below(3) })),
      })),
      ...maybe(() => ({
        free: { a: dice.below(2) },
        paused: dice.chance(0.5),
        port: dice.pick<unknown>([80, 'http']),
      })),
    },
    status: maybe(() => ({
      phase: dice.pick(['Running', 'Pending', 'secret']),
      conditions: [{ type: 'Ready', status: dice.pick(['True', 'False']) }],
    })),
    metadata: {
      labels: dice.pick([{}, { app: 'x' }, { app: 'y' }, { app: 'x', tier: '1' }]),
      creationTimestamp: dice.pick(['2026-01-31T12:00:00Z', '2026-01-31T12:00:01Z', '2025-01-01T00:00:00Z']),
      ...maybe(() => ({
        ownerReferences: [{ apiVersion: 'example.com/v1', kind: 'Widget', name: 'o', uid: owner(), controller: true }],
      })),
    },
  };
}

export function idOf({ cluster, key, namespace, name }: PlacedObject): string {
  return encodeObjectId({ cluster, key, namespace, name });
}

/** The scopes of one caller for each access. */
export type AccessScopes = Readonly<Record<Access, Scope>>;

let numbered = 0;

/** Scopes by kind. Kinds without an entry are hidden. */
export function scopesOf(byKind: ReadonlyMap<string, AccessScopes>): Scopes {
  numbered += 1;
  return { id: `scopes ${numbered}`, of: (key, access = 'list') => byKind.get(key)?.[access] ?? noRows };
}

export interface ScopeOptions {
  /** `get` shows exactly what `list` shows. */
  readonly same: boolean;
}

/** Random scopes, as roles give them: what is listed may be got, and what is watched is listed. */
export function randomScopes(dice: Dice, { same }: ScopeOptions): Scopes {
  const byKind = new Map<string, AccessScopes>();
  for (const key of worldKinds) {
    const list = randomScope(dice);
    const get = same || dice.chance(0.3) ? list : union(list, randomScope(dice));
    byKind.set(key, { list, get, watch: dice.chance(0.6) ? list : narrower(list, dice) });
  }
  return scopesOf(byKind);
}

function randomScope(dice: Dice): Scope {
  return dice.choose<Scope>([
    [2, () => allRows],
    [1, () => noRows],
    [
      6,
      () => ({
        rows: 'some',
        clusters: new Map(dice.sample(worldClusters, 2).map((each) => [each, randomPart(dice)])),
      }),
    ],
  ]);
}

function randomPart(dice: Dice): ClusterScope {
  if (dice.chance(0.15)) return 'all';
  const named = dice.sample(['', ...worldNamespaces], dice.below(3));
  const anyName = [...worldNames, ...gadgetNames, ...worldNamespaces, 'e1'];
  return {
    namespaces: new Set(dice.sample(worldNamespaces, dice.below(3))),
    names: new Map(named.map((at) => [at, new Set(dice.sample(anyName, 3))])),
  };
}

function union(a: Scope, b: Scope): Scope {
  if (a.rows === 'all' || b.rows === 'none') return a;
  if (b.rows === 'all' || a.rows === 'none') return b;
  const clusters = new Map<string, ClusterScope>(a.clusters);
  for (const [cluster, part] of b.clusters) {
    const known = clusters.get(cluster);
    if (known === 'all') continue;
    clusters.set(cluster, known === undefined || part === 'all' ? part : unionOfParts(known, part));
  }
  return { rows: 'some', clusters };
}

function unionOfParts(a: PartScope, b: PartScope): PartScope {
  const names = new Map([...a.names].map(([namespace, some]) => [namespace, new Set(some)]));
  for (const [namespace, some] of b.names) names.set(namespace, new Set([...(names.get(namespace) ?? []), ...some]));
  return { namespaces: a.namespaces.union(b.namespaces), names };
}

/** Some of the namespaces and names. */
function narrower(scope: Scope, dice: Dice): Scope {
  if (scope.rows !== 'some') return dice.chance(0.5) ? scope : noRows;
  const parts = [...scope.clusters].map(([cluster, part]): readonly [string, ClusterScope] => [
    cluster,
    part === 'all' ? part : { ...part, namespaces: new Set(dice.sample([...part.namespaces], 1)) },
  ]);
  return { rows: 'some', clusters: new Map(parts) };
}

export function isSeen(scopes: Scopes, object: PlacedObject, access: Access): boolean {
  return isVisible(scopes.of(object.key, access), object);
}

/** The scopes in words, for a failure. */
export function describeScopes(scopes: Scopes): string {
  const accesses = ['list', 'get', 'watch'] as const;
  return worldKinds
    .map((key) => `${key}: ${accesses.map((access) => `${access} ${scopeText(scopes.of(key, access))}`).join(', ')}`)
    .join('\n');
}

export interface ScopedStore {
  readonly pair: AnswerPair;
  /** The rights of whoever asks next. */
  scopes: Scopes;
  /** Replaces all objects. */
  fill(objects: readonly PlacedObject[]): Promise<void>;
  settle(): void;
}

/** Replaces all objects of the world in these stores. */
export async function syncWorld(
  stores: readonly { sync(key: string, objects: readonly unknown[], cluster: string): Promise<void> }[],
  objects: readonly PlacedObject[],
): Promise<void> {
  for (const cluster of worldClusters) {
    for (const key of worldKinds) {
      const own = objects.filter((each) => each.key === key && each.cluster === cluster).map(({ object }) => object);
      for (const store of stores) await store.sync(key, own, cluster);
    }
  }
}

/** A store of the kinds of the world, with its servers. */
export async function scopedStore(options: PairOptions = {}): Promise<ScopedStore> {
  let current: Scopes = unrestricted;
  const rights = fixedRights(() => current);
  const pair = await answerPair({ ...options, engine: { rights, ...options.engine } });
  const { fixture } = pair;
  await fixture.declare(...worldResources());
  const settle = (): void => {
    while (fixture.writer().maintain());
  };
  return {
    pair,
    settle,
    get scopes() {
      return current;
    },
    set scopes(given) {
      current = given;
    },
    async fill(objects) {
      await syncWorld([fixture], objects);
      settle();
    },
  };
}

const beginOfLiveCursor = Buffer.from('["live1"').toString('base64url').slice(0, 10);
const liveCursor = new RegExp(`"${beginOfLiveCursor}[\\w-]*"`, 'g');

/** The text of an answer without what may differ between the stores: revisions, times, and the places of live cursors in the log. */
export function comparableText({ text: answer }: Pick<Reply, 'text'>): string {
  const timeless = answer
    .replaceAll(/"revision":\d+/g, '"revision":0')
    .replaceAll(/"milliseconds":[\d.e-]+/g, '"milliseconds":0');
  return timeless.replaceAll(liveCursor, (found) => {
    const parts = JSON.parse(Buffer.from(found.slice(1, -1), 'base64url').toString()) as unknown[];
    return JSON.stringify(`live cursor of the scope ${String(parts[3] ?? 'all')}`);
  });
}
