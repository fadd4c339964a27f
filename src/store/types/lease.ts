/** Read access to the store: one snapshot for one operation. */
import type { Row, Statement } from './statement.ts';

/** Exclusive use of a read connection by one operation, with one snapshot. */
export interface Lease {
  /** Sequence number of the newest change that this snapshot contains. */
  readonly revision: number;
  /** Random id of this store file. A cursor with another epoch cannot be resumed. */
  readonly epoch: string;
  /** Increases when the tables or the indexes of a kind change. Unique within an epoch. */
  readonly layoutVersion: number;
  all(statement: Statement): Promise<readonly Row[]>;
  /**
   * Runs the statements in turn until they have returned `limit` rows. Reads the range segments of a keyset page.
   * Each statement has its own LIMIT.
   */
  fill(statements: readonly Statement[], limit: number): Promise<readonly Row[]>;
}

export interface LeaseOptions {
  /** Aborting cancels a running statement too (within 50 ms) and rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** For whom the lease is. Clients that wait for a reader are served in turn, however many leases each of them wants. */
  readonly client?: string;
  /** Milliseconds; default from the reader's options. After that the lease is cancelled and the caller gets TIMEOUT. */
  readonly timeoutMs?: number;
}

/** A lease that its holder ends; `end` is idempotent. */
export type OpenLease = Lease & { end(): void };

/** The asynchronous reader interface. It does not depend on SQLite, so that another engine can implement it. */
export interface Reader {
  lease<T>(work: (lease: Lease) => Promise<T>, options?: LeaseOptions): Promise<T>;
  /** Takes a lease that the caller ends: for operations whose steps are not one function. */
  open(options?: LeaseOptions): Promise<OpenLease>;
  close(): Promise<void>;
}
