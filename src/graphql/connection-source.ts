/**
 * A connection before anybody has looked at it: rows, counts and cursors are read when their field is resolved, once.
 */

import type { CatalogKind } from '../catalog/catalog.ts';
import { encodeLiveCursor } from '../live/live-cursor.ts';
import { countMatches } from '../query/count.ts';
import { listPage } from '../query/list.ts';
import type { ListPlan, ListResult, ListRow } from '../query/plan.ts';
import { requireReady } from '../query/readiness.ts';
import type { Lease } from '../store/types.ts';
import { ObjectSource } from './object-source.ts';
import type { Layouts, Operation } from './operation.ts';

export interface EdgeSource {
  readonly cursor: string;
  readonly node: ObjectSource;
}

export interface PageInfoSource {
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
  readonly startCursor: string | null;
  readonly endCursor: string | null;
}

export interface ConnectionSource {
  edges(): Promise<readonly EdgeSource[]>;
  pageInfo(): Promise<PageInfoSource>;
  /** At most `limit` when one is given: equal to the limit means "at least". */
  totalCount(limit: number | null): Promise<number>;
  /** Where a subscription goes on from exactly what this connection shows. */
  changesCursor(): Promise<string>;
}

/** Edges and pageInfo of rows that are there already. */
export function pageOf(
  result: Pick<ListResult, 'hasNextPage' | 'hasPreviousPage'>,
  rows: readonly ListRow[],
): PageInfoSource {
  return {
    hasNextPage: result.hasNextPage,
    hasPreviousPage: result.hasPreviousPage,
    startCursor: rows[0]?.cursor ?? null,
    endCursor: rows.at(-1)?.cursor ?? null,
  };
}

/** A list plan as a connection. `clusters` are those the caller asked for, null for all. */
export class ListConnection implements ConnectionSource {
  readonly #operation: Operation;
  readonly #plan: ListPlan;
  readonly #kinds: ReadonlyMap<string, CatalogKind>;
  readonly #clusters: readonly string[] | null;
  #result: Promise<ListResult> | null = null;

  constructor(
    operation: Operation,
    plan: ListPlan,
    kinds: ReadonlyMap<string, CatalogKind>,
    clusters: readonly string[] | null,
  ) {
    this.#operation = operation;
    this.#plan = plan;
    this.#kinds = kinds;
    this.#clusters = clusters;
  }

  /** Refuses with CACHE_NOT_READY when nothing that was asked for has been synced; called before the field is answered. */
  async ready(): Promise<this> {
    await this.#read(async () => {});
    return this;
  }

  async edges(): Promise<readonly EdgeSource[]> {
    const { rows } = await this.#page();
    return rows.flatMap((row) => {
      const kind = this.#kinds.get(row.key);
      return kind === undefined ? [] : [{ cursor: row.cursor, node: new ObjectSource(this.#operation, kind, row) }];
    });
  }

  async pageInfo(): Promise<PageInfoSource> {
    const result = await this.#page();
    return pageOf(result, result.rows);
  }

  totalCount(limit: number | null): Promise<number> {
    return this.#read((lease, layouts) => countMatches(lease, layouts, this.#plan, limit));
  }

  changesCursor(): Promise<string> {
    return this.#read(async (lease) => encodeLiveCursor({ epoch: lease.epoch, sequence: lease.revision }));
  }

  #page(): Promise<ListResult> {
    this.#result ??= this.#read((lease, layouts) => listPage(lease, layouts, this.#plan));
    return this.#result;
  }

  #read<T>(work: (lease: Lease, layouts: Layouts) => Promise<T>): Promise<T> {
    return this.#operation.read(async (lease, layouts) => {
      const keys = this.#plan.kinds.map((kind) => kind.key);
      this.#operation.noteMissing(await requireReady(lease, keys, this.#clusters ?? undefined));
      return work(lease, layouts);
    });
  }
}
