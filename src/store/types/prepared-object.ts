/** A listed object, ready to be stored, and the recipe it was made by. */
import type { LeafType } from '../../catalog/tree/field-tree.ts';
import type { SqlValue } from './statement.ts';

export interface Owner {
  readonly uid: string;
  readonly controller: boolean;
}

/** What is indexed of an object beside its promoted paths. */
export interface IndexedMetadata {
  /** The empty string for cluster-scoped objects. */
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** Microseconds since 1970, or null. */
  readonly created: bigint | null;
  readonly deleting: bigint | null;
  readonly labels: readonly (readonly [string, string])[];
  readonly owners: readonly Owner[];
  /** Labels and owners as JSON (schema.ts). */
  readonly marks: string;
}

export interface KindNamesOnWire {
  readonly apiVersion: string;
  readonly kind: string;
}

/** What an object's rows depend on besides the object. Plain data; two that are equal as JSON are the same. */
export interface Recipe {
  readonly names: KindNamesOnWire;
  readonly withheld: readonly string[];
  /** In the order of the promoted table's slots. */
  readonly slots: readonly { readonly path: string; readonly type: LeafType }[];
}

export interface PreparedObject extends IndexedMetadata {
  /** Of the promoted slots. */
  readonly keys: readonly SqlValue[];
  /** JSONB, without what is dropped and withheld. */
  readonly body: Uint8Array;
}
