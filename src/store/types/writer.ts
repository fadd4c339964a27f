/** The write side of the store: what a writer takes, and what it answers. */
import type { DescribedResource } from '../../catalog/resources/catalog.ts';
import type { IncomingEvent, IncomingObject, ListedObject } from './incoming-object.ts';
import type { PathUse, PromotionOutcome } from './kind-layout.ts';
import type { PreparedObject, Recipe } from './prepared-object.ts';
import type { IngestStatus, ResourceHandle, ResourceState } from './progress.ts';

/** What one applied batch or replace did. */
export interface ApplySummary {
  readonly added: number;
  readonly modified: number;
  readonly deleted: number;
  /** Events that changed nothing: replays, stale or of another uid. */
  readonly ignored: number;
  readonly revision: number;
}

/** What is thought of a listed object whose uid and version are those of its row. */
export type SameVersions = 'trust' | 'compare';

/** A staged replacement of a resource's whole set. Visible in one step at commit, not before. */
export interface Replace {
  /** Adds listed objects to the staging set; may be called any number of times. */
  put(objects: readonly IncomingObject[]): void;
  /** What another thread needs to make objects ready for `putPrepared`; null where they must be put as they are. */
  readonly recipe: Recipe | null;
  /** Adds objects that were made ready by this recipe. Throws CONFLICT when another one holds by now. */
  putPrepared(objects: readonly (PreparedObject | IncomingObject)[], recipe: Recipe): void;
  /** Resolves when the store has room for more; to be awaited between two calls of `put`, while other work goes on. */
  room(): Promise<void>;
  /** Takes an object out of the staging set: it was deleted while the set was still coming. Nothing where it is not staged. */
  remove(namespace: string, name: string): void;
  /** Publishes the staged set as a difference to what is there, at the list's resourceVersion. */
  commit(resourceVersion: string): Promise<ApplySummary>;
  abort(): void;
  readonly count: number;
}

/** A comparison of a collection's rows with a list; reads only. */
export interface Audit {
  /** What is to be listed: exactly this version. */
  readonly resourceVersion: string;
  check(objects: readonly ListedObject[]): void;
  /** What was found, after all of the list; null when the rows were replaced meanwhile. */
  finish(): Promise<AuditResult | null>;
}

export interface AuditResult {
  /** Objects of the list. */
  readonly compared: number;
  /** Listed and not stored; stored with another uid or version; stored and not listed. */
  readonly missing: number;
  readonly different: number;
  readonly surplus: number;
}

/** Plain data; a type alias, so that it can be handed on as a record. */
export type DiskUse = {
  /** Of the database file, without pages that are free. */
  readonly usedBytes: number;
  /** What the database file may have; null without a budget. */
  readonly maxBytes: number | null;
  /** True while something is given up for room. */
  readonly tight: boolean;
  /** What was given up since the start of the process, by what it was. */
  readonly shed: { readonly changes: number; readonly events: number };
};

/** The only write connection. Lives in the ingest role; every method runs to the end of its transaction before it returns. */
export interface Writer {
  readonly epoch: string;
  revision(): number;
  /** Says which cluster answers under this name. Another uid than the stored one drops that cluster's data and logs RESET. */
  openCluster(name: string, uid: string | null): void;
  /**
   * Makes or updates a collection: the resource over all namespaces, or in the given one. A changed shape hash, version or promotion
   * is taken in place for all collections of the resource; rows stay.
   */
  declare(described: DescribedResource, namespace?: string): ResourceHandle;
  /** Removes a collection with all its rows; the log gets one RESET. In bounded transactions. */
  drop(handle: ResourceHandle): Promise<void>;
  states(cluster?: string): readonly ResourceState[];
  state(handle: ResourceHandle): ResourceState;
  apply(handle: ResourceHandle, events: readonly IncomingEvent[], resourceVersion: string): ApplySummary;
  /**
   * Begins a replace. With `sameVersions: 'compare'` an object of the version that is stored is compared by its body: a server that
   * went back in time gives versions a second time.
   */
  replace(handle: ResourceHandle, sameVersions?: SameVersions): Replace;
  /** Begins to compare; null where there is nothing to compare yet, or right now. */
  audit(handle: ResourceHandle): Audit | null;
  /** Advances lastResourceVersion without rows (a bookmark); persisted with the next commit or every 30 s. */
  bookmark(handle: ResourceHandle, resourceVersion: string): void;
  setStatus(handle: ResourceHandle, status: IngestStatus): void;
  /** Deletes the oldest objects of a resource until the bound holds (Events); `maxAgeMs` by creation time. */
  retain(handle: ResourceHandle, bound: { maxObjects: number; maxAgeMs: number }): number;
  /** Queries need a column for this path, or use the one that they have: those that nobody uses make room for others. */
  promote(use: PathUse): PromotionOutcome;
  /** How much disk is used, and whether anything is given up for room. */
  disk(): DiskUse;
  /** Bounded housekeeping: log retention, making room, backfill of promoted slots. Returns true while there is more to do. */
  maintain(): boolean;
  close(): void;
}
