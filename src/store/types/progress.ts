/** How ingest stands with collections and resources. */
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

/** How ingest stands with a resource; kept in the store so that the serve role and a restart can read it. */
export interface IngestStatus {
  readonly phase: 'IDLE' | 'LISTING' | 'WATCHING' | 'POLLING' | 'BACKOFF' | 'PARKED' | 'STOPPED';
  /** When the last event of a watch was taken; milliseconds since the epoch, or null. */
  readonly lastEventAt: number | null;
  /** When the server last showed that it had nothing else: the last event, bookmark, whole list or opening of a watch. */
  readonly lastSignAt: number | null;
  /**
   * Since when the tables may lack what the server has: milliseconds since the epoch. Null while a watch is open, and before the
   * first whole list.
   */
  readonly staleSince: number | null;
  readonly error: string | null;
  /** Restarts by reason (`expired`, `network`, `status 500`, …). */
  readonly restarts: Readonly<Record<string, number>>;
  /** The server refused it last (no rights, no such collection): other collections of the resource do not wait for this one. */
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
  /** The collection's resourceVersion up to which the tables are true; null before the first sync. */
  readonly lastResourceVersion: string | null;
  /** True after the first committed replace. */
  readonly synced: boolean;
  /** The stored bodies are of another shape than the declared one: a watch would leave them so, a replace compares them. */
  readonly outdated: boolean;
  readonly objects: number;
  readonly status: IngestStatus;
}

/** What changes of a collection's state while it is ingested. */
export type CollectionProgress = Omit<ResourceState, 'described' | 'outdated'>;

/** The same of a resource: the sum of its collections. */
export interface ResourceProgress {
  readonly cluster: string;
  /** resourceKey */
  readonly key: string;
  /** Null where there are several collections: each has its own. */
  readonly lastResourceVersion: string | null;
  /** True when every collection is. */
  readonly synced: boolean;
  readonly objects: number;
  /** That of the collection which is worst off, with the newest event and all restarts. */
  readonly status: IngestStatus;
  /** By namespace; one without a namespace where the resource is ingested over all of them. */
  readonly collections: readonly CollectionProgress[];
}
