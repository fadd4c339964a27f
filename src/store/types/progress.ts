/** The ingest progress of collections and resources. */
import type { DescribedResource } from '../../catalog/resources/catalog.ts';

/** A collection inside one store: a resource of one cluster, over all namespaces or in one of them. */
export interface ResourceHandle {
  readonly id: number;
  readonly cluster: string;
  /** resourceKey */
  readonly key: string;
  /** Empty: all of the resource. */
  readonly namespace: string;
}

/** The result of the last attempt to read a cluster. */
export interface ClusterStatus {
  /** The version of the API server, such as v1.37.0; null keeps the known one. */
  readonly version: string | null;
  /** Why the attempt failed; null if it succeeded. */
  readonly error: string | null;
}

/** The ingest status of a resource. The store keeps it for the serve thread and for the next start. */
export interface IngestStatus {
  readonly phase: 'IDLE' | 'LISTING' | 'WATCHING' | 'POLLING' | 'BACKOFF' | 'PARKED' | 'STOPPED';
  /** When the last watch event was applied; milliseconds since the epoch, or null. */
  readonly lastEventAt: number | null;
  /** Time of the last event, bookmark, whole list or opened watch: the server had nothing newer then. */
  readonly lastSignAt: number | null;
  /**
   * Since when the tables may lag behind the server: milliseconds since the epoch. Null before the first whole list, and while a watch
   * is open whose bookmarks are not overdue. A polled collection may lag since its last list.
   */
  readonly staleSince: number | null;
  readonly error: string | null;
  /** Restarts by reason (`expired`, `network`, `status 500`, …). */
  readonly restarts: Readonly<Record<string, number>>;
  /** The server refused the last request (forbidden, not found). Other collections of the resource do not wait for this one. */
  readonly refused: boolean;
}

/** The status of a collection that has never been ingested. */
export const idleStatus: IngestStatus = {
  phase: 'IDLE',
  lastEventAt: null,
  lastSignAt: null,
  staleSince: null,
  error: null,
  restarts: {},
  refused: false,
};

export interface ResourceState {
  readonly handle: ResourceHandle;
  readonly described: DescribedResource;
  /** The collection's resourceVersion that the tables have reached; null before the first sync. */
  readonly lastResourceVersion: string | null;
  /** True after the first committed replace. */
  readonly synced: boolean;
  /** The stored bodies have another shape than the declared one. Only a replace compares them; a watch does not. */
  readonly outdated: boolean;
  readonly objects: number;
  readonly status: IngestStatus;
}

/** The part of a collection's state that ingest changes. */
export type CollectionProgress = Omit<ResourceState, 'described' | 'outdated'>;

/** The progress of a resource: the sum of its collections. */
export interface ResourceProgress {
  readonly cluster: string;
  /** resourceKey */
  readonly key: string;
  /** Null where there are several collections: each has its own. */
  readonly lastResourceVersion: string | null;
  /** True when every collection is. */
  readonly synced: boolean;
  readonly objects: number;
  /** The worst status of the collections, with the newest event and the sum of restarts. */
  readonly status: IngestStatus;
  /** One per namespace, or a single one without a namespace when ingest covers all namespaces. */
  readonly collections: readonly CollectionProgress[];
}
