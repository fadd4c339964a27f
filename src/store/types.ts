/**
 * The seam between the store and the rest of the house: what a lease can do, what a writer takes, what a change is.
 *
 * Life of the data: reflector -> Writer.apply (rows + labels + edges + changes + revision + lastRV, one transaction)
 * -> wake -> Reader.lease (one snapshot at one revision) -> answers and changes as rows.
 */
import type { DescribedResource, PromotionReason } from '../catalog/catalog.ts';
import type { LeafType } from '../catalog/field-tree.ts';
import type { DiskUse } from './disk-budget.ts';
import type { PreparedObject, Recipe } from './prepare.ts';

/** What SQLite takes and gives here: integers beyond 2^53 travel as bigint in, as text out. */
export type SqlValue = string | number | bigint | Uint8Array | null;

/** A compiled statement. Only `query` and `store` look inside. */
export interface Statement {
  readonly sql: string;
  readonly params: readonly SqlValue[];
}

/** Rows come as arrays, in the order of the statement's columns. */
export type Row = readonly SqlValue[];

/** A read connection lent to one operation for one snapshot. */
export interface Lease {
  /** Sequence number of the newest change that this snapshot contains. */
  readonly revision: number;
  /** Life of the store file; cursors of another epoch cannot be resumed. */
  readonly epoch: string;
  all(statement: Statement): Promise<readonly Row[]>;
  /**
   * Runs the statements in turn until `limit` rows are there: how range segments of a keyset page are read. Each has a LIMIT of its
   * own.
   */
  fill(statements: readonly Statement[], limit: number): Promise<readonly Row[]>;
}

export interface LeaseOptions {
  /** Aborting cancels a running statement too (within 50 ms) and rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Milliseconds; default from the reader's options. Past it the lease is cut and the caller gets TIMEOUT. */
  readonly timeoutMs?: number;
}

/** The asynchronous reader interface: another engine may stand behind it one day. */
export interface Reader {
  lease<T>(work: (lease: Lease) => Promise<T>, options?: LeaseOptions): Promise<T>;
  /** Takes a lease that the caller ends: for operations whose steps are not one function. `end` is idempotent. */
  open(options?: LeaseOptions): Promise<Lease & { end(): void }>;
  close(): Promise<void>;
}

/** One page, read and written as text in the thread that reads it. */
export interface PageRequest {
  /** Run in turn until `limit` lines are there. Each gives lines, as src/store/page-lines.ts says. */
  readonly statements: readonly Statement[];
  /** The same, with lines that tell all. */
  readonly telling: readonly Statement[];
  readonly limit: number;
  /** Rows that are shown; what is found beyond only counts. */
  readonly shown: number;
  /** The rows come in the reverse of the order in which they are shown. */
  readonly reversed: boolean;
  /** A PageTemplate as JSON text: threads know it again by that. */
  readonly template: string;
}

export interface PageText {
  /** Rows that were found, at most the request's limit. */
  readonly found: number;
  /** A JSON list for each list of the template. */
  readonly lists: readonly string[];
  /** The template's `ends` of the first and the last row that is shown; null where there is none. */
  readonly first: string | null;
  readonly last: string | null;
}

/** What one snapshot says to several statements and pages at once. */
export interface PagesRead {
  readonly revision: number;
  readonly epoch: string;
  readonly layoutVersion: number;
  readonly rows: readonly (readonly Row[])[];
  readonly pages: readonly PageText[];
  /** Characters that were read of objects. */
  readonly bytes: number;
}

/** Reads in one step what a lease would read in several. */
export interface PageReader {
  /** The statements give few rows, and so does each page. One message to a reader thread and one back. */
  pages(statements: readonly Statement[], pages: readonly PageRequest[], options?: LeaseOptions): Promise<PagesRead>;
  /**
   * At once, on the calling thread: for pages that look at few rows, with loops that tick at one of eight. `spent` when it would have
   * taken long, null when it cannot be now; a reader thread may be asked then.
   */
  pagesNow(statements: readonly Statement[], pages: readonly PageRequest[]): PagesRead | 'spent' | null;
}

/** One object as it comes from the API server. */
export interface IncomingObject {
  /**
   * The object's JSON text exactly as received (int64 and escapes intact), metadata.managedFields there or not. apiVersion and kind
   * may be missing in lists.
   */
  readonly text: string;
  /** What the text was made of, if the caller has it anyway. It may be no UTF-8. */
  readonly bytes?: Uint8Array;
  /** The parsed object, if the caller has it anyway. Unsafe integers in it may be rounded. */
  readonly value?: unknown;
  /** For an object that has none of its own: what it is known and compared by. */
  readonly uid?: string;
  readonly resourceVersion?: string;
}

export interface IncomingEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: IncomingObject;
}

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

/** An object as a list of metadata tells of it. */
export interface ListedObject {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
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

/** A path that stands in a slot of a kind's promoted table. `ready` once every row has it. */
export interface PromotedSlot {
  readonly path: string;
  readonly type: LeafType;
  /** Column name in the promoted table. */
  readonly column: string;
  readonly ready: boolean;
  readonly reason: PromotionReason;
}

/** A leaf of a kind that queries filter or order by. */
export interface PathUse {
  /** resourceKey */
  readonly key: string;
  readonly path: string;
  readonly type: LeafType;
}

/**
 * What came of a wish for a column: it has one now (and is filled by housekeeping), it had one, the kind has so few rows that it
 * needs none, all columns are taken by paths that are declared or were needed lately, or its first list is just coming.
 */
export type PromotionOutcome = 'promoted' | 'known' | 'few rows' | 'no room' | 'not now';

/** What the query compiler needs to know of a kind's tables; read in the lease or cached by revision of `layoutVersion`. */
export interface KindLayout {
  /** Store-wide integer of (group, plural). */
  readonly kindId: number;
  /** Name of the promoted table, or null while the kind has none. */
  readonly promotedTable: string | null;
  readonly slots: readonly PromotedSlot[];
}

/** One entry of the change log. Bodies are JSON texts, null where there is none. */
export interface LoggedChange {
  readonly seq: number;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'RESET';
  readonly kindId: number;
  readonly cluster: string;
  readonly objectId: number;
  readonly namespace: string | null;
  readonly name: string;
  readonly uid: string | null;
  readonly resourceVersion: string;
  /** Milliseconds since the epoch when it was committed. */
  readonly at: number;
  readonly before: string | null;
  readonly after: string | null;
}
