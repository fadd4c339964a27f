/** The write side of the store: inputs and results of the writer. */
import type { DescribedResource } from '../../catalog/resources/catalog.ts';
import type { FollowedLog } from './followed-log.ts';
import type { IncomingEvent, IncomingObject, ListedObject } from './incoming-object.ts';
import type { PathUse, PromotionOutcome } from './kind-layout.ts';
import type { MemberReads } from './member-reads.ts';
import type { PreparedObject, Recipe } from './prepared-object.ts';
import type { ClusterStatus, IngestStatus, ResourceHandle, ResourceState } from './progress.ts';

/** The changes of one applied batch or replace. */
export interface ApplySummary {
  readonly added: number;
  readonly modified: number;
  readonly deleted: number;
  /** Events that changed nothing: replays, stale or of another uid. */
  readonly ignored: number;
  readonly revision: number;
}

/** How to treat a listed object with the uid and version of its row: trust it to be equal, or compare the bodies. */
export type SameVersions = 'trust' | 'compare';

/** A replacement of all objects of a collection. The commit makes it visible in one step. */
export interface Replace {
  /** Adds listed objects. They stay invisible until the commit. May be called any number of times. */
  put(objects: readonly IncomingObject[]): void;
  /** The recipe by which another thread prepares objects for `putPrepared`; null where only `put` is possible. */
  readonly recipe: Recipe | null;
  /** Adds objects prepared by this recipe. @throws CONFLICT when the recipe has changed since. */
  putPrepared(objects: readonly (PreparedObject | IncomingObject)[], recipe: Recipe): void;
  /** Resolves when the write-ahead log can take more. Await it between two calls of `put`; it does not block the event loop. */
  room(): Promise<void>;
  /** Removes an object that was deleted while the list was still arriving. Does nothing for an object that was not added. */
  remove(namespace: string, name: string): void;
  /** Makes the listed set visible at the list's resourceVersion: as differences, or as a new rowset with one RESET. */
  commit(resourceVersion: string): Promise<ApplySummary>;
  abort(): void;
  readonly count: number;
}

/** A comparison of a collection's rows with a list; reads only. */
export interface Audit {
  /** The version to list (resourceVersionMatch=Exact). */
  readonly resourceVersion: string;
  check(objects: readonly ListedObject[]): void;
  /** Call after the whole list. Null when the rows were replaced meanwhile. */
  finish(): Promise<AuditResult | null>;
}

export interface AuditResult {
  /** Objects of the list. */
  readonly compared: number;
  /** Listed objects that are not stored. */
  readonly missing: number;
  /** Listed objects that are stored with another uid or version. */
  readonly different: number;
  /** Stored objects that are not listed. */
  readonly surplus: number;
}

/** Plain data; a type alias, so that it is assignable to a record. */
export type DiskUse = {
  /** Size of the database file without free pages. */
  readonly usedBytes: number;
  /** The database file's share of the disk budget; null without a budget. */
  readonly maxBytes: number | null;
  /** True while housekeeping removes data to free space. */
  readonly tight: boolean;
  /** Log entries and Events removed for space since the process started. */
  readonly shed: { readonly changes: number; readonly events: number };
};

/** The only write connection, in the ingest thread. */
export interface Writer {
  readonly epoch: string;
  revision(): number;
  /** Registers the cluster of this name. A uid other than the stored one drops the cluster's data and logs RESET. */
  openCluster(name: string, uid: string | null): void;
  /**
   * Notes all clusters that are registered now, by name, each with a text that identifies its API server. Data of registered clusters that
   * are no longer among them, or that have another API server, is dropped. Data of clusters of an earlier start whose name is registered
   * now is dropped too. RESET is logged for both.
   * @param started names of the clusters of this start, whose data stays
   */
  registerClusters(servers: ReadonlyMap<string, string>, started: ReadonlySet<string>): void;
  /** Gives each cluster this error until it is read again: an earlier process left the statuses. */
  resetClusterStatuses(error: string): void;
  /** Records the result of the last attempt to read a cluster. */
  setClusterStatus(name: string, status: ClusterStatus): void;
  /**
   * Creates or updates a collection: the resource over all namespaces, or in the given one. A changed shape hash, version or
   * promotion applies in place to all collections of the resource; rows stay.
   */
  declare(described: DescribedResource, namespace?: string): ResourceHandle;
  /** Removes a collection with all its rows, in bounded transactions. The log gets one RESET. */
  drop(handle: ResourceHandle): Promise<void>;
  states(cluster?: string): readonly ResourceState[];
  state(handle: ResourceHandle): ResourceState;
  apply(handle: ResourceHandle, events: readonly IncomingEvent[], resourceVersion: string): ApplySummary;
  /**
   * Begins a replace. `sameVersions: 'compare'` compares bodies where the versions are equal. A server restored from a backup
   * assigns the same versions a second time.
   */
  replace(handle: ResourceHandle, sameVersions?: SameVersions): Replace;
  /** Begins a comparison; null before the first sync, or while a replace makes it impossible. */
  audit(handle: ResourceHandle): Audit | null;
  /** Advances lastResourceVersion without rows (a bookmark); persisted with the next commit or every 30 s. */
  bookmark(handle: ResourceHandle, resourceVersion: string): void;
  setStatus(handle: ResourceHandle, status: IngestStatus): void;
  /** Deletes the oldest objects of a resource until the bound holds (Events); `maxAgeMs` by creation time. */
  retain(handle: ResourceHandle, bound: { maxObjects: number; maxAgeMs: number }): number;
  /** Reports that a query uses this path. The path gets a column, or its column stays in use; unused columns are reassigned. */
  promote(use: PathUse): PromotionOutcome;
  /** The disk use, and whether housekeeping removes data to free space. */
  disk(): DiskUse;
  /** One bounded step of housekeeping: log retention, freeing space, backfill of promoted slots. True while work is left. */
  maintain(): boolean;
  /** Reads of stored objects. */
  readonly members: MemberReads;
  /** A sequence number that no entry of the change log has, for the last page of a followed log. */
  reserveSequence(): number;
  /** The other way to write: a store that follows the log of another one. Such a store has no reflectors. */
  readonly followed: FollowedLog;
  /** Whether relations cannot be used yet, because housekeeping still reads the references of objects. */
  relationsPending(): boolean;
  close(): void;
}
