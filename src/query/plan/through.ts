/**
 * A value of related objects, for orders and groups.
 *
 *   node.status.nodeInfo.kubeletVersion    hops [node], a leaf of the Node
 *   count(pods)                            no hops, counted pods
 *   replicaSet.deployment.metadata.name    hops [replicaSet, deployment]
 *
 * Each hop leads to one object. If it leads to several, the first by identity counts. Without an object there is no value.
 */
import type { Path } from '../../catalog/tree/path.ts';
import type { Hop } from './hop.ts';

export interface Through {
  readonly hops: readonly Hop[];
  /** The value is the number of objects that this hop leads to. Null: it is a leaf of the object at the end of `hops`. */
  readonly counted: Hop | null;
}

/** A leaf of an object, or of one that is related to it. */
export interface ThroughLeaf {
  /** Relative to the object at the end of `through`. */
  readonly path: Path;
  readonly through?: Through;
}

/** The path as callers write it; equal texts name equal values of one kind. */
export function textOfLeaf({ path, through }: ThroughLeaf): string {
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
