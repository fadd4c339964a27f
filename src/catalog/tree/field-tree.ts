/**
 * The field tree: the shape of a kind, typed to the leaves. Plain frozen data, safe to store as JSON.
 *
 * Invariants: every `object` names a shape of the same tree; a recursive shape names itself, so a tree is always finite;
 * fields keep the names that Kubernetes writes.
 */
import { must } from '../../base/must.ts';

/**
 * The comparison and display of a leaf's values (docs/values.md). JSON is free-form: maps of objects and unknown fields, for
 * example.
 */
export type LeafType =
  | 'String'
  | 'Boolean'
  | 'Int'
  | 'Int64'
  | 'Float'
  | 'DateTime'
  | 'Duration'
  | 'Quantity'
  | 'IntOrString'
  | 'IP'
  /** The resource version of an object, by its path (resolve-path.ts). Trees have String there. */
  | 'ResourceVersion'
  /** Only by a cast (src/catalog/tree/cast.ts): a number, or a text that denotes one. */
  | 'Number'
  /** Only by a cast: a time, or a day, which is its first moment in UTC. */
  | 'Time'
  | 'JSON';

export type FieldType =
  /** `values`: the only texts of a String that are shown, as an enum. They are names of GraphQL, and ordered as texts. */
  | { readonly kind: 'leaf'; readonly type: LeafType; readonly values?: readonly string[] }
  /** A map of strings, such as labels. */
  | { readonly kind: 'stringMap' }
  /** A map with typed values, such as resource limits. Displayed as JSON; paths address its values by key. */
  | { readonly kind: 'map'; readonly of: FieldType }
  | { readonly kind: 'list'; readonly of: FieldType }
  | { readonly kind: 'object'; readonly shape: string };

export interface Field {
  readonly name: string;
  readonly type: FieldType;
  readonly description?: string;
  /** The schema requires a value that is not null, in every cluster and every place of the shape. No part of the structure. */
  readonly required?: true;
}

export interface Shape {
  /** Unique in its tree: a definition's full name, or `$` and the path of the shape's first location. */
  readonly key: string;
  /** Short name of the core/v1 or meta/v1 style definition (`PodSpec`) that the shape comes from, if any. */
  readonly definition?: string;
  /** The path from the kind's root to the shape's first location (breadth first, fields sorted). */
  readonly path: readonly string[];
  readonly description?: string;
  /** Sorted by name. */
  readonly fields: readonly Field[];
  /**
   * Undeclared fields are kept by the API server (x-kubernetes-preserve-unknown-fields beside properties) and allowed in paths as
   * JSON. They have no typed field; an object shows them in `raw`.
   */
  readonly open?: true;
}

export interface FieldTree {
  /** Key of the kind's own shape in `shapes`. */
  readonly root: string;
  readonly shapes: Readonly<Record<string, Shape>>;
}

/** The shape that an object in the tree names. */
export function shapeOf(tree: FieldTree, key: string): Shape {
  return must(tree.shapes[key], `shape ${key} is in its tree`);
}

/** Equal texts for leaves that have the same type and values. */
export function leafText({ type, values }: Extract<FieldType, { kind: 'leaf' }>): string {
  return values === undefined ? type : `${type}(${values.join('|')})`;
}

/** The scalar that shows a map whose keys the schema does not know. */
export function scalarOfMap({ of }: Extract<FieldType, { kind: 'map' }>): 'QuantityMap' | 'JSON' {
  return of.kind === 'leaf' && of.type === 'Quantity' ? 'QuantityMap' : 'JSON';
}
