/**
 * List plans: the arguments of a list as data, before SQL is compiled. Plans are frozen, comparable, and cacheable by shape.
 */

import type { HealthRules } from '../../catalog/health/declared-health.ts';
import type { Health } from '../../catalog/health/health-status.ts';
import type { ValueCast } from '../../catalog/tree/cast.ts';
import type { FieldTree, LeafType } from '../../catalog/tree/field-tree.ts';
import type { Path } from '../../catalog/tree/path.ts';
import type { OrderKey } from '../../catalog/values/values.ts';
import type { Filter, Identity } from './filter.ts';
import type { Through } from './hop.ts';

export interface OrderTerm {
  /** A path to a leaf. Through `each` steps, ASC orders by the least of the values and DESC by the greatest. */
  readonly path: Path;
  readonly type: LeafType;
  /** The leaf is one of a related object. Only for lists of one kind. */
  readonly through?: Through;
  readonly direction: 'ASC' | 'DESC';
  readonly nulls: 'FIRST' | 'LAST';
  /** Compare runs of digits as numbers (src/catalog/values/values.ts). Only for types with text keys (hasTextKey). */
  readonly natural?: true;
  /** Fold the letters A to Z. Only for types whose keys are texts as written (foldable). */
  readonly ignoreCase?: true;
  /** `type` is that of a cast. */
  readonly cast?: ValueCast;
  /** Order by how well the name matches these search terms (src/query/sql/search.ts), and ignore `path`. Only with the type Int. */
  readonly rank?: readonly string[];
}

/** Is the term ordered by the key that an index of the leaf holds? */
export function isOfStoredKey({ natural, ignoreCase, rank, through }: OrderTerm): boolean {
  return natural !== true && ignoreCase !== true && rank === undefined && through === undefined;
}

/**
 * Relay's arguments after validation: exactly one direction. Cursors are opaque texts (cursor.ts). The page begins behind the cursor of its
 * direction, and ends in front of the other one.
 */
export type Page =
  | {
      readonly direction: 'forward';
      readonly limit: number;
      readonly after: string | null;
      readonly before?: string;
      /** Did the caller give `first`? Only with `before`. */
      readonly isSized?: boolean;
      /** Rows of the list that the page skips; only without `after` and `before`. */
      readonly offset?: number;
    }
  | {
      readonly direction: 'backward';
      readonly limit: number;
      readonly before: string | null;
      readonly after?: string;
    };

/**
 * The part of the body that is read: 'whole', or a tree of fields. The node `true` takes a field with everything below it.
 * A projected body has the shape of the whole body with fewer fields. So code that reads a whole body also reads a projected one.
 *
 *   { metadata: { name: true } } of { metadata: { name: "a", uid: "u" }, spec: … }   ->   { metadata: { name: "a" } }
 */
export type Projection = 'whole' | ProjectionTree;
export interface ProjectionTree {
  readonly [field: string]: true | ProjectionTree;
}

export interface PlannedKind {
  /** resourceKey. */
  readonly key: string;
  readonly tree: FieldTree;
  /** The declared rules of its health; absent: none. */
  readonly health?: HealthRules;
}

export interface ListPlan {
  /** One kind, or several for `objects(kinds:)`: one list, one order. */
  readonly kinds: readonly PlannedKind[];
  readonly filter: Filter;
  /** The identity order (identity-order.ts) breaks ties, in the direction of the last term. */
  readonly orderBy: readonly OrderTerm[];
  readonly page: Page;
  readonly projection: Projection;
}

/** One object of an answer: its identity and the projected body. */
export interface ObjectRow extends Identity {
  readonly objectId: number;
  readonly uid: string | null;
  readonly resourceVersion: string;
  /** The sequence number of the object's newest change. */
  readonly seq: number;
  readonly health: Health;
  /** Parsed by `parseExact` of src/catalog/values/values.ts. */
  readonly body: unknown;
}

export interface ListRow extends ObjectRow {
  readonly cursor: string;
}

/**
 * Whether there are pages before and after this one, as Relay's PageInfo says. `found` counts the rows read, at most one more than the page
 * holds, so the answer is exact in the reading direction. In the other direction, there is a page exactly when a cursor was given.
 */
export function neighboursOf(page: Page, found: number): Pick<ListResult, 'hasNextPage' | 'hasPreviousPage'> {
  const more = found > page.limit;
  return page.direction === 'backward'
    ? { hasPreviousPage: more, hasNextPage: page.before !== null }
    : {
        // With `first`, the rows between the cursors count alone.
        hasNextPage: more || page.isSized === false,
        hasPreviousPage: page.after !== null || (page.offset ?? 0) > 0,
      };
}

export interface ListResult {
  readonly rows: readonly ListRow[];
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
}

/** `found` counts the rows read: a page of 0 objects finds 1 when its list has a match. */
export interface FoundPage extends ListResult {
  readonly found: number;
}

/** The order keys of an object: one for each term, null for an absent leaf. The identity breaks ties. */
export type OrderKeys = readonly (OrderKey | null)[];

/** A position in a list. */
export interface Position {
  readonly keys: OrderKeys;
  readonly identity: Identity;
}
