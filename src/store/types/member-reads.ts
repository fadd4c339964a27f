/** Reads of stored objects in the writer's thread. */
import type { Health } from '../../catalog/health/health-status.ts';
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

/** The objects that changed. */
export interface MemberChanges {
  /** Each object once. */
  readonly names: readonly { readonly namespace: string; readonly name: string }[];
  /** These are all changes up to this sequence number. */
  readonly upTo: number;
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
  one(cluster: string, key: string, namespace: string, name: string): MemberObject | null;
  /** Null if the log does not tell: all objects must be read. @param limit of the log's entries */
  changes(cluster: string, key: string, after: number, limit: number): MemberChanges | null;
}
