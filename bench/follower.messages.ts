/** The messages between the processes of bench/follower.ts. */

/** From the benchmark to the feeder, and from the feeder to the follower. */
export type PairOrder = 'begin' | 'end';

/** The follower has committed a batch. */
export interface Applied {
  readonly revision: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** Identity, and version with body, of every row of a store. */
export const rowsSql = `SELECT o.id || ' ' || o.namespace || '/' || o.name, o.seq || ' ' || o.rv || ' ' || hex(b.body)
  FROM object o JOIN body b USING (id)`;

/** What a follower has done since the last order. Seconds of processor time; bytes of the write-ahead log. */
export interface FollowerFigures {
  readonly cpu: number;
  readonly writerCpu: number;
  readonly walBytes: number;
  /** Those of `rowsSql`. */
  readonly rows: readonly (readonly [string, string])[];
}

export interface PairFigures {
  readonly changes: number;
  /** Seconds of processor time; bytes of the write-ahead log. */
  readonly feeder: {
    readonly cpu: number;
    readonly ingestCpu: number;
    readonly publisherCpu: number;
    readonly walBytes: number;
  };
  readonly follower: Omit<FollowerFigures, 'rows'>;
  readonly batchBytes: number;
  /** From the commit in the feeder to the commit in the follower. */
  readonly lagP50Ms: number;
  readonly lagP99Ms: number;
  /** Rows that are not the same. */
  readonly lost: number;
}
