/** A listed object that is ready to be stored, and the recipe that prepared it. */
import type { HealthRules } from '../../catalog/health/declared-health.ts';
import type { Health } from '../../catalog/health/health-status.ts';
import type { LeafType } from '../../catalog/tree/field-tree.ts';
import type { SqlValue } from './statement.ts';

export interface Owner {
  readonly uid: string;
  readonly controller: boolean;
}

/** The indexed metadata of an object. Promoted paths are not part of it. */
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

/** The values of an object that have a column of their own, whatever its kind. */
export interface IndexedObject extends IndexedMetadata {
  readonly health: Health;
}

export interface KindNamesOnWire {
  readonly apiVersion: string;
  readonly kind: string;
}

/** The inputs of an object's rows besides the object itself. Plain data: recipes with equal JSON are the same recipe. */
export interface Recipe {
  readonly names: KindNamesOnWire;
  readonly redacted: readonly string[];
  /** The declared rules of the health; absent: none. */
  readonly health?: HealthRules;
  /** In the order of the promoted table's slots. */
  readonly slots: readonly { readonly path: string; readonly type: LeafType }[];
}

export interface PreparedObject extends IndexedObject {
  /** Order keys of the promoted slots, in the order of `Recipe.slots`. */
  readonly keys: readonly SqlValue[];
  /** JSONB without dropped fields and redacted paths. */
  readonly body: Uint8Array;
}
