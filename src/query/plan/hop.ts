/**
 * A hop: one step from an object to related objects of one kind, as data. src/query/sql/hop-sql.ts compiles it.
 *
 *   pods.node     { from: pods, to: nodes, direction: forward, way: reference at spec.nodeName }
 *   nodes.pods    { from: nodes, to: pods, direction: reverse, way: reference at spec.nodeName }
 */
import type { RelationWay } from '../../catalog/relations/described-relation.ts';
import type { CatalogKind, KindRelation } from '../../catalog/resources/catalog.ts';

/** A kind at one end of a hop. */
export interface HopEnd {
  /** resourceKey. */
  readonly key: string;
  readonly group: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

export interface Hop {
  /** The name of the relation. */
  readonly name: string;
  readonly from: HopEnd;
  readonly to: HopEnd;
  /** `forward`: the reference, the owner reference or the selector is in the objects of `from`; `reverse`: in those of `to`. */
  readonly direction: 'forward' | 'reverse';
  readonly way: RelationWay;
}

export function hopOf(
  from: Pick<CatalogKind, 'key' | 'resource'>,
  { name, direction, way }: Pick<KindRelation, 'name' | 'direction' | 'way'>,
  to: Pick<CatalogKind, 'key' | 'resource'>,
): Hop {
  return { name, from: hopEnd(from), to: hopEnd(to), direction, way };
}

/** The hop in the other direction. */
export function reversed(hop: Hop): Hop {
  return { ...hop, from: hop.to, to: hop.from, direction: hop.direction === 'forward' ? 'reverse' : 'forward' };
}

export function hopEnd({ key, resource: { group, kind, namespaced } }: Pick<CatalogKind, 'key' | 'resource'>): HopEnd {
  return { key, group, kind, namespaced };
}
