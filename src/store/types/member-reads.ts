/** Reads of stored objects in the writer's thread. */
import type { Health } from '../../catalog/health/health-status.ts';
import type { NamedKind } from '../../catalog/relations/relation.ts';
import type { ResourceHandle } from './progress.ts';

/** A stored object. */
export interface MemberObject {
  /** The empty string for cluster-scoped objects. */
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** JSON without redacted paths. */
  readonly text: string;
  readonly health: Health;
}

/** An object of one kind in one cluster. */
export interface ObjectName {
  /** The empty string for cluster-scoped objects. */
  readonly namespace: string;
  readonly name: string;
}

export interface DatedObject extends ObjectName {
  /** Microseconds since the epoch; null if the object does not tell. */
  readonly created: number | null;
}

/** The objects that changed. */
export interface MemberChanges {
  /** Each object once. */
  readonly names: readonly ChangedName[];
  /** These are all changes up to this sequence number. */
  readonly upTo: number;
}

/** A changed object, with the uids that its changes name. */
interface ChangedName extends ObjectName {
  readonly uids: readonly string[];
}

/** What others name. */
export interface NamedTarget extends NamedKind, ObjectName {
  readonly namespaced: boolean;
}

export interface MemberReads {
  /** All collections. Their descriptions are not read. */
  collections(): readonly ResourceHandle[];
  /** Null for a kind that the store does not have. */
  kindId(key: string): number | null;
  /** Are all collections of the resource in the cluster synced? False without one. */
  isSynced(cluster: string, key: string): boolean;
  /** Objects in the order of namespace and name, after one of them. */
  page(
    cluster: string,
    key: string,
    after: { readonly namespace: string; readonly name: string } | null,
    limit: number,
  ): readonly MemberObject[];
  /** The objects that were created first, those of one time by name. */
  oldest(cluster: string, key: string, limit: number): readonly DatedObject[];
  one(cluster: string, key: string, namespace: string, name: string): MemberObject | null;
  /** Null if the log does not tell: all objects must be read. @param limit of the log's entries */
  changes(cluster: string, key: string, after: number, limit: number): MemberChanges | null;
  /** Are the references of all objects of the kind stored, so that `referrers` finds them? */
  knowsReferences(key: string): boolean;
  /**
   * The objects of a kind that name the target, in batches. Each batch is a statement of its own, so others may write meanwhile. An object may
   * come twice.
   */
  referrers(cluster: string, key: string, target: NamedTarget): Iterable<readonly ObjectName[]>;
  /** The objects of a kind with an owner reference to this uid, likewise. */
  owned(key: string, uid: string): Iterable<readonly ObjectName[]>;
}
