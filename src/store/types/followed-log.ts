/**
 * The log of a store as other stores follow it: its changes, and what the change log alone does not tell.
 *
 *   the store of a feeder -> LogReader.next -> [a transport] -> FollowedLog.take -> the same rows, log and revision in a follower
 *
 * A follower has the sequence numbers and the object ids of the log. The ids of kinds and rowsets are its own: each file has its own.
 *
 * A RESET says that the objects of a collection were replaced. The new ones follow in pages, between the later changes of all kinds:
 *
 *   RESET, published    the follower goes on to show the old objects, and fills a rowset that nobody sees
 *   PAGE                the objects up to a name, as they are after the changes before this message
 *   ADDED, MODIFIED …   a change up to this name changes the new rowset. A later one is left out: a page will have it
 *   PAGE, the last one  the new rowset is published. The log of the follower has the RESET here
 */
import type { DescribedResource } from '../../catalog/resources/catalog.ts';
import type { LoggedEntry } from './change.ts';
import type { ClusterStatus, IngestStatus } from './progress.ts';

/** A body as it is stored: JSONB, or the JSON text that SQLite refused. */
export type StoredBody = Uint8Array | string;

/** The place of a message in the sequence of changes. */
interface Placed {
  readonly seq: number;
  /** The sequence number before it. The numbers between the two have no entry. */
  readonly after: number;
}

/** An entry that changes one object. */
export interface FollowedChange extends Placed, Omit<LoggedEntry, 'seq' | 'type' | 'kindId' | 'namespace' | 'uid'> {
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

/** A collection: a resource of a cluster in all namespaces, or in one. */
export interface CollectionName {
  readonly cluster: string;
  /** resourceKey */
  readonly key: string;
  /** Empty: all namespaces. */
  readonly collection: string;
}

/** A text for each name. */
export function collectionText({ cluster, key, collection }: CollectionName): string {
  return JSON.stringify([cluster, key, collection]);
}

/** The objects of a collection were replaced, or are gone. */
export interface FollowedReset extends Placed, CollectionName {
  readonly type: 'RESET';
  readonly resourceVersion: string;
  readonly at: number;
  /** After `published`, the new objects follow in pages. */
  readonly reason: ResetReason;
}

/** `published`: other objects than before. `unpublished`: no objects. `derived`: the same objects, with other values that are derived from them. */
export type ResetReason = 'published' | 'unpublished' | 'derived';

/** An object of a page. */
export interface FollowedObject {
  readonly objectId: number;
  readonly seq: number;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly body: StoredBody;
}

/** Some of the new objects, in the order of namespace and name. A follower that fills no rowset of the collection leaves them out. */
export interface FollowedPage extends CollectionName {
  readonly type: 'PAGE';
  readonly objects: readonly FollowedObject[];
  /** Ends the pages. The RESET has this place in the log of the follower. */
  readonly last: (Placed & { readonly resourceVersion: string; readonly at: number }) | null;
}

/** The collections of a resource, and its description. */
export interface FollowedResource {
  readonly type: 'RESOURCE';
  readonly described: DescribedResource;
  /** One for each collection; the empty string for all namespaces. */
  readonly namespaces: readonly string[];
}

/** A resource has no collections any more. */
interface FollowedGone extends Omit<CollectionName, 'collection'> {
  readonly type: 'GONE';
}

export interface FollowedCluster extends ClusterStatus {
  readonly type: 'CLUSTER';
  readonly name: string;
  readonly uid: string | null;
  /** See Writer.registerClusters; null for a cluster of the start. */
  readonly server: string | null;
  /** The cluster is not served any more. */
  readonly gone: boolean;
}

/** The progress of a collection. */
export interface FollowedStatus extends CollectionName {
  readonly type: 'STATUS';
  readonly status: IngestStatus;
  readonly resourceVersion: string | null;
}

/** The first message for an empty follower that says where its log begins. The objects of these collections follow in pages. */
export interface FollowedBegin {
  readonly type: 'BEGIN';
  readonly revision: number;
  readonly collections: readonly CollectionName[];
}

export type LogMessage =
  | FollowedBegin
  | FollowedChange
  | FollowedReset
  | FollowedPage
  | FollowedResource
  | FollowedGone
  | FollowedCluster
  | FollowedStatus;

/** Pages of a collection that have begun. */
export interface RunningFill extends CollectionName {
  /** The last object of the pages so far; null before the first one. */
  readonly upTo: { readonly namespace: string; readonly name: string } | null;
}

/** The content of a follower, from which a log goes on. */
export interface FollowerPosition {
  readonly revision: number;
  readonly collections: readonly CollectionName[];
  readonly clusters: readonly string[];
  /** The collections whose pages have begun and have not ended. */
  readonly filling: readonly RunningFill[];
}

/** The write side of a store that follows the log of another one (WriterOptions.follows). No reflector writes to the same store. */
export interface FollowedLog {
  /**
   * Applies the messages, in bounded transactions. Leaves out changes that the store has already. Returns the revision that it has reached.
   * Throws CONFLICT when an entry is missing between two, or when the store lacks what an entry changes. The messages before that one
   * may be applied.
   */
  take(messages: readonly LogMessage[]): number;
  /** Where the log goes on for this store. */
  position(): FollowerPosition;
}
