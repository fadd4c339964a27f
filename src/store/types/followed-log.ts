/**
 * The change log of a store as other stores follow it.
 *
 *   the log of a feeder -> readFollowedChanges -> [a transport] -> FollowedLog.apply -> the same rows, log and revision in a follower
 *
 * A follower has the sequence numbers and the object ids of the log. The ids of kinds and rowsets are its own: each file has its own.
 */
import type { LoggedEntry } from './change.ts';

/** A body as it is stored: JSONB, or the JSON text that SQLite refused. */
export type StoredBody = Uint8Array | string;

/** An entry that changes one object. */
export interface FollowedChange extends Omit<LoggedEntry, 'type' | 'kindId' | 'namespace' | 'uid'> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  /** resourceKey */
  readonly key: string;
  /** The empty string for cluster-scoped objects. */
  readonly namespace: string;
  readonly uid: string;
  /** JSON of the managers that made the change; null if they are unknown. */
  readonly managers: string | null;
  /** The body after the change; null for a deletion. */
  readonly body: StoredBody | null;
}

/** The write side of a store that follows the log of another one. No reflector writes to the same store. */
export interface FollowedLog {
  /**
   * Applies the changes that the store does not have yet, in bounded transactions. Returns the revision that it has reached. Throws
   * CONFLICT, and applies nothing more, when an entry is missing between two, or when the store lacks what an entry changes.
   */
  apply(changes: readonly FollowedChange[]): number;
}
