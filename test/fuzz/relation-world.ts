/**
 * A random world of the shipped relations: a store with a few objects of each of some kinds, which mention, own and select each other.
 * It changes by events, lists of both forms, other declarations and restarts, and knows what is in it.
 */
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import {
  allRows,
  type ClusterScope,
  isVisible,
  noRows,
  type Scope,
  type Scopes,
  scopeText,
  unrestricted,
} from '../../src/access/scope.ts';
import { describeRelation } from '../../src/catalog/relations/described-relation.ts';
import { readRelations } from '../../src/catalog/relations/read-relations.ts';
import { type NamedKind, type Relation, textOfKind } from '../../src/catalog/relations/relation.ts';
import type { DescribedResource } from '../../src/catalog/resources/catalog.ts';
import type { PathStep } from '../../src/catalog/tree/path.ts';
import type { Hop } from '../../src/query/plan/hop.ts';
import { readView, type View } from '../../src/query/sql/view.ts';
import type { IncomingObject } from '../../src/store/types/incoming-object.ts';
import type { Lease } from '../../src/store/types/lease.ts';
import type { ResourceHandle } from '../../src/store/types/progress.ts';
import { describedResource } from '../kit/store-file.ts';
import type { Dice } from './dice.ts';
import { PlainJoin, type WorldKind, type WorldObject } from './plain-join.ts';
import { openScratchStore, type ScratchStore } from './scratch-store.ts';

export const shippedRelations: readonly Relation[] = readRelations(
  parse(readFileSync(new URL('../../schema/relations.yaml', import.meta.url), 'utf8')),
  'SHIPPED',
).relations;

/** A relation in one direction, between two kinds of the world. */
export interface WorldHop {
  readonly hop: Hop;
  readonly from: WorldKind;
  readonly to: WorldKind;
  related(object: WorldObject): WorldObject[];
}

const clusters = ['east', 'west'];
const namespaces = ['a', 'b'];
const names = ['x', 'y', 'z'];
const labelKeys = ['app', 'example.com/tier'];
const labelValues = ['web', 'db'];

type Mutable = Record<string, unknown>;

export class RelationWorld {
  readonly #store: ScratchStore;
  readonly #dice: Dice;
  readonly #kinds: ReadonlyMap<string, WorldKind>;
  readonly #handles = new Map<string, ResourceHandle>();
  readonly #objects = new Map<string, WorldObject>();
  readonly #join = new PlainJoin(() => this.objects);
  /** The rights of the caller who asks. */
  #scopes: Scopes = unrestricted;
  #relations: readonly Relation[];
  /** Objects made in each cluster. */
  readonly #made = new Map<string, number>();
  #version = 1;

  private constructor(store: ScratchStore, dice: Dice, relations: readonly Relation[]) {
    this.#store = store;
    this.#dice = dice;
    this.#relations = relations;
    const kinds = relations.flatMap(({ source, target, reverseOn }) => [
      source,
      ...(target === null ? [] : [target]),
      ...(reverseOn === 'any' ? [] : reverseOn),
    ]);
    this.#kinds = new Map(kinds.map((kind) => [textOfKind(kind), worldKind(kind, dice)]));
  }

  /** A world of some relations. Close it. */
  static async open(dice: Dice): Promise<RelationWorld> {
    const world = new RelationWorld(openScratchStore(), dice, dice.sample(shippedRelations, 6));
    world.#declare();
    for (const cluster of clusters) for (const kind of world.#kinds.values()) await world.#list(kind, cluster);
    world.#settle();
    return world;
  }

  close(): void {
    this.#store.close();
  }

  /** The objects that the caller may see. For the caller there are no others. */
  get objects(): readonly WorldObject[] {
    return [...this.#objects.values()].filter((object) => isVisible(this.#scopes.of(object.key), object));
  }

  /** Every relation of the world, in each of its directions and with each kind that it may lead to. */
  hops(): readonly WorldHop[] {
    return this.#relations.flatMap((relation) => {
      const source = this.#kind(relation.source);
      const targets = relation.target === null ? [...this.#kinds.values()] : [this.#kind(relation.target)];
      return targets.flatMap((target): WorldHop[] => {
        const { way } = describeRelation(relation);
        const { name } = relation;
        // The catalog turns these into owners.
        if (way.by === 'owns') return [];
        return [
          {
            hop: { name, from: source, to: target, direction: 'forward', way, many: true },
            from: source,
            to: target,
            related: (object) => this.#join.forward(relation, target, object),
          },
          {
            hop: {
              name: relation.reverse ?? `of ${name}`,
              from: target,
              to: source,
              direction: 'reverse',
              way,
              many: true,
            },
            from: target,
            to: source,
            related: (object) => this.#join.reverse(relation, source, target, object),
          },
        ];
      });
    });
  }

  /** Changes something, and lets housekeeping finish. */
  async change(): Promise<void> {
    const dice = this.#dice;
    const kind = dice.pick([...this.#kinds.values()]);
    const cluster = dice.pick(clusters);
    await dice.choose<Promise<void>>([
      [8, async () => this.#event(kind, cluster)],
      [2, () => this.#list(kind, cluster)],
      [1, async () => this.#redeclare()],
      [1, async () => this.#reopen()],
    ]);
    this.#settle();
    if (dice.chance(0.3)) this.#scopes = randomScopes(dice, [...this.#kinds.values()]);
  }

  read<T>(work: (lease: Lease, view: View) => Promise<T>): Promise<T> {
    const lease = this.#store.lease();
    return readView(lease, this.#scopes).then((view) => work(lease, view));
  }

  /** The object ids of the store. */
  async idsOf(objects: readonly WorldObject[]): Promise<number[]> {
    const ids: number[] = [];
    for (const { cluster, key, namespace, name } of objects) {
      const [row] = await this.#store.lease().all({
        sql: `SELECT o.id FROM object AS o JOIN kind AS k ON k.id = o.kind JOIN resource AS r ON r.rowset = o.rowset AND r.synced = 1
              WHERE o.cluster = ? AND k.key = ? AND o.namespace = ? AND o.name = ?`,
        params: [cluster, key, namespace ?? '', name],
      });
      ids.push(Number(row?.[0]));
    }
    return ids;
  }

  #kind(named: NamedKind): WorldKind {
    const kind = this.#kinds.get(textOfKind(named));
    if (kind === undefined) throw new Error(`no kind ${textOfKind(named)} in this world`);
    return kind;
  }

  #declare(): void {
    for (const cluster of clusters) {
      this.#store.writer.openCluster(cluster, `uid-of-${cluster}`);
      for (const kind of this.#kinds.values()) {
        const relations = this.#relations
          .filter(({ source }) => this.#kind(source) === kind)
          .map((relation) => describeRelation(relation));
        const { group, kind: named, key } = kind;
        const described: DescribedResource = {
          ...describedResource({ cluster, group, kind: named, plural: key.split('.')[0] ?? '', promoted: [] }),
          relations,
        };
        this.#handles.set(`${cluster} ${key}`, this.#store.writer.declare(described));
      }
    }
  }

  /** Housekeeping reads all references, unless the world is to be asked before: then relations are not ready. */
  #settle(): void {
    while (this.#store.writer.maintain());
  }

  #event(kind: WorldKind, cluster: string): void {
    const object = this.#randomObject(kind, cluster);
    const known = this.#objects.get(idOf(object));
    const handle = this.#handle(cluster, kind);
    this.#version += 1;
    if (known !== undefined && this.#dice.chance(0.4)) {
      this.#objects.delete(idOf(object));
      this.#store.writer.apply(
        handle,
        [{ type: 'DELETED', object: textOf(known, this.#version) }],
        String(this.#version),
      );
      return;
    }
    // Half of the changes replace the object by another one of the same name.
    const changed = known !== undefined && this.#dice.chance(0.5) ? withUid(object, known.uid) : object;
    this.#objects.set(idOf(changed), changed);
    const type = known?.uid === changed.uid ? 'MODIFIED' : 'ADDED';
    this.#store.writer.apply(handle, [{ type, object: textOf(changed, this.#version) }], String(this.#version));
  }

  async #list(kind: WorldKind, cluster: string): Promise<void> {
    for (const each of this.#objects.values()) {
      if (each.key === kind.key && each.cluster === cluster && this.#dice.chance(0.5)) this.#objects.delete(idOf(each));
    }
    for (const object of this.#dice.times(this.#dice.between(2, 6), () => this.#randomObject(kind, cluster))) {
      this.#objects.set(idOf(object), object);
    }
    this.#version += 1;
    const replace = this.#store.writer.replace(this.#handle(cluster, kind));
    const listed = [...this.#objects.values()].filter((each) => each.key === kind.key && each.cluster === cluster);
    replace.put(listed.map((each) => textOf(each, this.#version)));
    await replace.commit(String(this.#version));
  }

  /** Some relations go, and others of the same kinds come. */
  #redeclare(): void {
    const known = shippedRelations.filter(({ source, target }) =>
      [source, ...(target === null ? [] : [target])].every((kind) => this.#kinds.has(textOfKind(kind))),
    );
    this.#relations = this.#dice.sample(known, Math.max(1, Math.ceil(known.length * 0.7)));
    this.#declare();
  }

  #reopen(): void {
    this.#store.reopen();
    this.#declare();
  }

  #handle(cluster: string, { key }: WorldKind): ResourceHandle {
    const handle = this.#handles.get(`${cluster} ${key}`);
    if (handle === undefined) throw new Error(`no resource ${key} in ${cluster}`);
    return handle;
  }

  #randomObject(kind: WorldKind, cluster: string): WorldObject {
    const dice = this.#dice;
    const name = dice.pick(names);
    const namespace = kind.namespaced ? dice.pick(namespaces) : null;
    const body: Mutable = {};
    for (const { source, means } of this.#relations) {
      if (this.#kind(source) !== kind) continue;
      if (means.by === 'reference') {
        for (const { at, name: nameAt, namespace: namespaceAt, target } of means.places) {
          if (!dice.chance(0.6)) continue;
          const mention: Mutable = {};
          if (nameAt !== null) put(mention, nameAt.steps, dice.pick(names), dice);
          if (namespaceAt !== null && !('constant' in namespaceAt) && dice.chance(0.7))
            put(mention, namespaceAt.steps, dice.pick(namespaces), dice);
          if ('kindAt' in target && dice.chance(0.9)) {
            const stated = dice.pick([...this.#kinds.values()]);
            put(mention, target.kindAt.steps, stated.kind, dice);
            const group =
              target.groupAt?.form === 'apiVersion' ? `${stated.group}/v1`.replace(/^\//, '') : stated.group;
            if (target.groupAt !== null && dice.chance(0.9)) put(mention, target.groupAt.path.steps, group, dice);
          }
          put(body, at.steps, nameAt === null ? dice.pick(names) : mention, dice);
        }
      } else if (means.by === 'selector' && dice.chance(0.8)) {
        put(body, means.place.path.steps, this.#selector(means.place.form), dice);
      }
    }
    for (const { target, means } of this.#relations) {
      if (target === null || means.by !== 'selector' || means.labels === null || this.#kind(target) !== kind) continue;
      if (dice.chance(0.8)) put(body, means.labels.steps, this.#labels(), dice);
    }
    this.#version += 1;
    // Two clusters may use one uid.
    const uid = `uid-${this.#made.get(cluster) ?? 0}`;
    this.#made.set(cluster, (this.#made.get(cluster) ?? 0) + 1);
    const owners = dice.sample(
      [...this.#objects.values()].filter((each) => each.cluster === cluster),
      dice.below(3),
    );
    const known = (body['metadata'] ?? {}) as Mutable;
    body['metadata'] = {
      ...known,
      name,
      ...(namespace === null ? {} : { namespace }),
      uid,
      creationTimestamp: '2026-01-31T12:00:00Z',
      labels: this.#labels(),
      ownerReferences: owners.map((owner) => ({ apiVersion: 'v1', kind: 'X', name: owner.name, uid: owner.uid })),
    };
    return { cluster, key: kind.key, namespace, name, uid, body };
  }

  #labels(): Record<string, string> {
    const dice = this.#dice;
    return Object.fromEntries(dice.sample(labelKeys, dice.below(3)).map((key) => [key, dice.pick(labelValues)]));
  }

  #selector(form: 'map' | 'labelSelector'): Mutable {
    if (form === 'map') return this.#labels();
    const dice = this.#dice;
    const expressions = dice.times(dice.below(2), () => {
      const operator = dice.pick(['In', 'NotIn', 'Exists', 'DoesNotExist']);
      const values = operator.endsWith('In') ? dice.sample(labelValues, dice.between(1, 2)) : [];
      return { key: dice.pick(labelKeys), operator, ...(values.length === 0 ? {} : { values }) };
    });
    return { matchLabels: this.#labels(), ...(expressions.length === 0 ? {} : { matchExpressions: expressions }) };
  }
}

/** All rights, or for each kind all, none, or some clusters, namespaces and names. */
function randomScopes(dice: Dice, kinds: readonly WorldKind[]): Scopes {
  if (dice.chance(0.3)) return unrestricted;
  const part = (): ClusterScope =>
    dice.chance(0.3)
      ? 'all'
      : {
          namespaces: new Set(dice.sample(namespaces, dice.below(3))),
          names: new Map(
            dice.sample(['', ...namespaces], dice.below(3)).map((at) => [at, new Set(dice.sample(names, 2))]),
          ),
        };
  const scope = (): Scope =>
    dice.choose<Scope>([
      [3, () => allRows],
      [1, () => noRows],
      [4, () => ({ rows: 'some', clusters: new Map(dice.sample(clusters, 2).map((cluster) => [cluster, part()])) })],
    ]);
  const scopes = new Map(kinds.map(({ key }) => [key, scope()]));
  return {
    id: JSON.stringify([...scopes].map(([key, of]) => [key, scopeText(of)])),
    of: (key) => scopes.get(key) ?? noRows,
  };
}

function worldKind({ group, kind }: NamedKind, dice: Dice): WorldKind {
  const plural = `${kind.toLowerCase()}s`;
  return { group, kind, key: group === '' ? plural : `${plural}.${group}`, namespaced: dice.chance(0.7) };
}

function idOf({ cluster, key, namespace, name }: WorldObject): string {
  return `${cluster} ${key} ${namespace ?? ''} ${name}`;
}

function withUid(object: WorldObject, uid: string): WorldObject {
  const metadata = { ...(object.body['metadata'] as Mutable), uid };
  return { ...object, uid, body: { ...object.body, metadata } };
}

function textOf({ body }: WorldObject, version: number): IncomingObject {
  const metadata = { ...(body['metadata'] as Mutable), resourceVersion: String(version) };
  return { text: JSON.stringify({ apiVersion: 'v1', kind: 'X', ...body, metadata }) };
}

/** Sets the value at a path. A list on the way gets another element, or its last one is used again. */
function put(target: Mutable, steps: readonly PathStep[], value: unknown, dice: Dice): void {
  let node: unknown = target;
  for (const [index, step] of steps.entries()) {
    const next = steps[index + 1];
    const empty = (): unknown => (next === undefined ? value : next.kind === 'each' ? [] : {});
    if (step.kind === 'each') {
      const items = node as unknown[];
      const again = items.length > 0 && next !== undefined && dice.chance(0.4);
      if (!again) items.push(empty());
      node = items.at(-1);
    } else {
      const name = step.kind === 'field' ? step.name : step.kind === 'key' ? step.key : '';
      const object = node as Mutable;
      if (next === undefined || object[name] === undefined) object[name] = empty();
      node = object[name];
    }
  }
}
