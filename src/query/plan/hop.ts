/**
 * A hop: one step from an object to related objects of one kind, as data. src/query/sql/hop-sql.ts compiles it.
 *
 *   pods.node     { from: pods, to: nodes, direction: forward, way: reference at spec.nodeName }
 *   nodes.pods    { from: nodes, to: pods, direction: reverse, way: reference at spec.nodeName }
 */

import type { RelationWay } from '../../catalog/relations/described-relation.ts';
import { isManyfold } from '../../catalog/relations/place-text.ts';
import type { CatalogKind, KindRelation } from '../../catalog/resources/catalog.ts';
import type { ValueCast } from '../../catalog/tree/cast.ts';
import type { Path } from '../../catalog/tree/path.ts';

/** A kind at one end of a hop. */
export interface HopEnd {
  /** resourceKey. */
  readonly key: string;
  readonly group: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

/** The dependency of a read that may find rows of any kind, and the key of `anyEnd`. No resourceKey is equal. */
export const anyKind = '*';

/** The end of a hop along references that state their kind: objects of each kind that is served. */
export const anyEnd: HopEnd = Object.freeze({ key: anyKind, group: '', kind: '', namespaced: true });

/** A kind in the clusters where it is synced. */
export interface SyncedKind extends HopEnd {
  readonly clusters: readonly string[];
}

export interface Hop {
  /** The name of the relation. */
  readonly name: string;
  readonly from: HopEnd;
  readonly to: HopEnd;
  /** `forward`: the reference, the owner reference or the selector is in the objects of `from`; `reverse`: in those of `to`. */
  readonly direction: 'forward' | 'reverse';
  readonly way: RelationWay;
  /**
   * Is the relation to-many? A to-one relation shows the objects that the caller may get; a to-many relation shows the objects that the
   * caller may list.
   */
  readonly many: boolean;
}

/** The hop along a relation of the kind `from` to the kind `to`; null for objects of any kind. */
export function hopOf(
  from: Pick<CatalogKind, 'key' | 'resource'>,
  { name, direction, way, many }: Pick<KindRelation, 'name' | 'direction' | 'way' | 'many'>,
  to: Pick<CatalogKind, 'key' | 'resource'> | null,
): Hop {
  return { name, from: hopEnd(from), to: to === null ? anyEnd : hopEnd(to), direction, way, many };
}

/** The hop in the other direction. */
export function reversed(hop: Hop): Hop {
  const direction = hop.direction === 'forward' ? 'reverse' : 'forward';
  return { ...hop, from: hop.to, to: hop.from, direction, many: true };
}

/** Is it the namespace, or a reference at one place that is in no list? It leads to at most one object. */
export function leadsToOne({ direction, way }: Hop): boolean {
  if (way.by === 'namespace') return direction === 'forward';
  return direction === 'forward' && way.by === 'reference' && way.places.length === 1 && !way.places.some(isManyfold);
}

/** The kind as an end of a hop. */
export function hopEnd({ key, resource: { group, kind, namespaced } }: Pick<CatalogKind, 'key' | 'resource'>): HopEnd {
  return { key, group, kind, namespaced };
}

/**
 * A value of related objects, for orders and groups. Each hop leads to one object; if it leads to several, the first by identity counts.
 * Without an object there is no value.
 *
 *   node.status.nodeInfo.kubeletVersion    hops [node], a leaf of the Node
 *   count(pods)                            no hops, counted pods
 *   replicaSet.deployment.metadata.name    hops [replicaSet, deployment]
 */
export interface Through {
  readonly hops: readonly Hop[];
  /** The value is the number of objects that this hop leads to. Null: it is a leaf of the object at the end of `hops`. */
  readonly counted: Hop | null;
}

/** A leaf of an object, or of one that is related to it. */
interface ThroughLeaf {
  /** Relative to the object at the end of `through`. */
  readonly path: Path;
  readonly cast?: ValueCast;
  readonly through?: Through;
}

/** The path as callers write it, with its cast; equal texts name equal values of one kind. */
export function textOfLeaf({ cast, ...leaf }: ThroughLeaf): string {
  return cast === undefined ? pathText(leaf) : `${pathText(leaf)} as ${cast}`;
}

function pathText({ path, through }: Pick<ThroughLeaf, 'path' | 'through'>): string {
  if (through === undefined) return path.text;
  const names = through.hops.map(({ name }) => name).join('.');
  if (through.counted !== null) return `count(${[...(names === '' ? [] : [names]), through.counted.name].join('.')})`;
  const below = path.text.startsWith('[') ? path.text : `.${path.text}`;
  if (path.fold === undefined) return `${names}${below}`;
  const inner = path.text.slice(path.fold.length + 1, -1);
  return `${path.fold}(${names}${inner.startsWith('[') ? inner : `.${inner}`})`;
}

/** All hops of the value. */
export function hopsOf({ through }: ThroughLeaf): readonly Hop[] {
  if (through === undefined) return [];
  return through.counted === null ? through.hops : [...through.hops, through.counted];
}
