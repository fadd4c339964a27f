/**
 * A list, as data: what GraphQL arguments become before any SQL is written. Frozen, comparable, cacheable by shape.
 */

import type { FieldTree, LeafType } from '../../catalog/tree/field-tree.ts';
import type { Path } from '../../catalog/tree/path.ts';
import type { OrderKey } from '../../catalog/values/values.ts';
import type { Filter, Identity } from './filter.ts';

export interface OrderTerm {
  /** A path to a leaf. Through `each` steps it means the least of the values for ASC, the greatest for DESC. */
  readonly path: Path;
  readonly type: LeafType;
  readonly direction: 'ASC' | 'DESC';
  readonly nulls: 'FIRST' | 'LAST';
  /** Runs of digits count by their value (src/catalog/values/natural.ts); for the type String. */
  readonly natural?: true;
  /** Instead of what stands at the path: how well the name answers these terms (src/catalog/paths/search-text.ts); with the type Int. */
  readonly rank?: readonly string[];
}

/** Relay's arguments after validation: exactly one direction. Cursors are opaque texts of src/query/plan/cursor.ts. */
export type Page =
  | { readonly direction: 'forward'; readonly limit: number; readonly after: string | null }
  | { readonly direction: 'backward'; readonly limit: number; readonly before: string | null };

/**
 * What of the body is read: 'whole', or a tree of fields. A node that is `true` is taken with everything below it.
 * The answer has the shape of the object itself, only thinner, so whatever reads a whole body reads a projected one too.
 */
export type Projection = 'whole' | ProjectionTree;
export interface ProjectionTree {
  readonly [field: string]: true | ProjectionTree;
}

export interface PlannedKind {
  /** resourceKey. */
  readonly key: string;
  readonly tree: FieldTree;
}

export interface ListPlan {
  /** One kind, or several for `objects(kinds:)`: one list, one order. */
  readonly kinds: readonly PlannedKind[];
  readonly filter: Filter;
  /** Ties are always broken by identity: cluster, group, plural, namespace, name, in the direction of the last term. */
  readonly orderBy: readonly OrderTerm[];
  readonly page: Page;
  readonly projection: Projection;
}

/** One object as an answer: its identity and as much of its body as was asked. */
export interface ObjectRow extends Identity {
  readonly objectId: number;
  readonly uid: string | null;
  readonly resourceVersion: string;
  /** Sequence number of the object's newest change. */
  readonly seq: number;
  /** Parsed by `parseExact` of src/catalog/values/values.ts. */
  readonly body: unknown;
}

export interface ListRow extends ObjectRow {
  readonly cursor: string;
}

/**
 * What a page of which `found` rows were read says of its neighbours. One row beyond the page is looked for, so the direction of travel
 * is exact. On the other side there is a page exactly when a cursor was given.
 */
export function neighboursOf(page: Page, found: number): Pick<ListResult, 'hasNextPage' | 'hasPreviousPage'> {
  const more = found > page.limit;
  return page.direction === 'backward'
    ? { hasPreviousPage: more, hasNextPage: page.before !== null }
    : { hasNextPage: more, hasPreviousPage: page.after !== null };
}

export interface ListResult {
  readonly rows: readonly ListRow[];
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
}

/** What an object is ordered by, beside its identity: one key for each term, null where the leaf has none. */
export type OrderKeys = readonly (OrderKey | null)[];

/** A place in a list. */
export interface Position {
  readonly keys: OrderKeys;
  readonly identity: Identity;
}
