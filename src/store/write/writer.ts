/**
 * The store's writer: the only write connection, in the ingest thread. The class combines the parts of writer-parts.ts.
 *
 * Owns: transactions and their bounds, the rules of apply and replace, the change log and housekeeping. Owns also lastResourceVersion
 * and status of each collection. Never reads from the API server, retries, or handles an object that it refuses (INVALID).
 *
 *   events -> rows + labels + edges + changes + revision + lastResourceVersion, one transaction -> onCommit
 *
 * Every commit is complete: after a crash the tables, the log and lastResourceVersion are those of the last commit.
 */
import { messageOf } from '../../base/errors.ts';
import { type Logger, silentLogger } from '../../base/log.ts';
import { splitMemberCluster } from '../../catalog/abstract/abstract-kind.ts';
import { isAbstractKey } from '../../catalog/groups/api-group.ts';
import type { DescribedResource } from '../../catalog/resources/catalog.ts';
import { isRolledUp, parsePath } from '../../catalog/tree/path.ts';
import { type OpenedStore, openStore } from '../file/open-store.ts';
import { FirstSync } from '../replace/first-sync.ts';
import { Relist } from '../replace/relist.ts';
import { TableAudit } from '../replace/table-audit.ts';
import type { CommitListener } from '../rows/commit-signal.ts';
import type { WriteContext } from '../rows/write-context.ts';
import { type Database, sqliteCodeOf } from '../sqlite/database.ts';
import type { FollowedLog } from '../types/followed-log.ts';
import type { IncomingEvent } from '../types/incoming-object.ts';
import type { PathUse, PromotionOutcome } from '../types/kind-layout.ts';
import type { ClusterStatus, IngestStatus, ResourceHandle, ResourceState } from '../types/progress.ts';
import { faultOfCode, type StoreTrouble } from '../types/store-fault.ts';
import type { ApplySummary, Audit, DiskUse, Replace, SameVersions, Writer } from '../types/writer.ts';
import { StoredMembers } from './member-reads.ts';
import { retain } from './retention.ts';
import type { WriterOptions } from './writer-options.ts';
import { openParts, type WriterParts } from './writer-parts.ts';

/** A writer with signals for its commits and for damage of its file. */
export interface StoreWriter extends Writer {
  readonly outcome: OpenedStore['outcome'];
  /** The fault of the file that lasts; null while it can be written. */
  trouble(): StoreTrouble | null;
  /** Calls the listener when a fault of this kind begins, and with null when it is mended. */
  onTrouble(listener: (trouble: StoreTrouble | null) => void): void;
  /** Calls the listener once, through setImmediate, when the file is lost. Close the writer then, and open another one with the reason. */
  onDamage(listener: (reason: string) => void): void;
  /** Reports damage that a reader of the file has found. */
  reportDamage(reason: string): void;
  /** Calls the listener after each commit that changed the revision, the catalog or a layout. Returns the function that removes it. */
  onCommit(listener: CommitListener): () => void;
}

/** Opens the store of `file` for writing; see open-store.ts for what happens to the file. */
export function openWriter(file: string, options: WriterOptions = {}): StoreWriter {
  const log = options.log ?? silentLogger;
  const open = (): StoreWriter => {
    const store = openStore(file, { ...options, log });
    try {
      return new SqliteWriter(store, log, options);
    } catch (error) {
      if (isDamage(error)) store.abandon(messageOf(error));
      else store.close();
      throw error;
    }
  };
  try {
    return open();
  } catch (error) {
    // A file that was closed properly is not checked. The failed attempt left a note, so the file is rebuilt now.
    if (isDamage(error)) return open();
    throw error;
  }
}

/** Writes one row, inside a transaction. */
function noteTrial(database: Database, now: number): void {
  database.statement(`INSERT OR REPLACE INTO meta VALUES ('tried', ?)`).run(now);
}

function isDamage(error: unknown): boolean {
  const code = sqliteCodeOf(error);
  return code !== null && faultOfCode(code) === 'lost';
}

class SqliteWriter implements StoreWriter {
  readonly epoch: string;
  readonly outcome: OpenedStore['outcome'];
  readonly members: StoredMembers;
  readonly followed: FollowedLog;
  readonly #parts: WriterParts;
  #replaces = 0;

  constructor(store: OpenedStore, log: Logger, options: WriterOptions) {
    this.epoch = store.epoch;
    this.outcome = store.outcome;
    this.#parts = openParts(store, log, options);
    this.members = new StoredMembers(this.#parts.context);
    this.followed = this.#parts.followed;
  }

  revision(): number {
    return this.#parts.context.session.counters.revision;
  }

  onCommit(listener: CommitListener): () => void {
    return this.#parts.context.session.committed.onCommit(listener);
  }

  trouble(): StoreTrouble | null {
    return this.#parts.faults.trouble;
  }

  onTrouble(listener: (trouble: StoreTrouble | null) => void): void {
    this.#parts.faults.onTrouble(listener);
  }

  onDamage(listener: (reason: string) => void): void {
    this.#parts.faults.onDamage(listener);
  }

  reportDamage(reason: string): void {
    this.#parts.faults.report(reason);
  }

  registerClusters(servers: ReadonlyMap<string, string>, started: ReadonlySet<string>): void {
    this.#parts.declarations.registerClusters(servers, started);
  }

  resetClusterStatuses(error: string): void {
    this.#parts.declarations.resetClusterStatuses(error);
  }

  setClusterStatus(name: string, status: ClusterStatus): void {
    this.#parts.declarations.setClusterStatus(name, status);
  }

  openCluster(name: string, uid: string | null): void {
    this.#parts.declarations.openCluster(name, uid);
  }

  declare(described: DescribedResource, namespace = ''): ResourceHandle {
    return this.#parts.declarations.declare(described, namespace);
  }

  drop(handle: ResourceHandle): Promise<void> {
    return this.#parts.declarations.drop(handle);
  }

  states(cluster?: string): readonly ResourceState[] {
    const { resources } = this.#parts.context;
    return resources
      .all()
      .filter((resource) => cluster === undefined || resource.handle.cluster === cluster)
      .map((resource) => resources.stateOf(resource));
  }

  state(handle: ResourceHandle): ResourceState {
    const { resources } = this.#parts.context;
    return resources.stateOf(resources.of(handle));
  }

  apply(handle: ResourceHandle, events: readonly IncomingEvent[], resourceVersion: string): ApplySummary {
    return this.#parts.events.apply(handle, events, resourceVersion);
  }

  replace(handle: ResourceHandle, sameVersions: SameVersions = 'trust'): Replace {
    const { context } = this.#parts;
    this.#replaces += 1;
    return context.resources.of(handle).synced
      ? new Relist(context, handle, this.#replaces, sameVersions)
      : new FirstSync(context, handle);
  }

  audit(handle: ResourceHandle): Audit | null {
    const { context } = this.#parts;
    const resource = context.resources.of(handle);
    if (!resource.synced || context.committing.has(handle.id)) return null;
    return new TableAudit(context, resource);
  }

  bookmark(handle: ResourceHandle, resourceVersion: string): void {
    const { context, progress } = this.#parts;
    progress.bookmark(context.resources.of(handle), resourceVersion);
  }

  setStatus(handle: ResourceHandle, status: IngestStatus): void {
    const { context, progress } = this.#parts;
    progress.setStatus(context.resources.of(handle), status);
  }

  reserveSequence(): number {
    const { session } = this.#parts.context;
    return session.run(() => session.skipSequence());
  }

  retain(handle: ResourceHandle, bound: { readonly maxObjects: number; readonly maxAgeMs: number }): number {
    const { context } = this.#parts;
    return retain(context, context.resources.of(handle), bound);
  }

  promote(use: PathUse): PromotionOutcome {
    const { context } = this.#parts;
    if (isRolledUp(parsePath(use.path))) return wantRollUps(context, use.key);
    return context.resources.promote(use, context.clock.now());
  }

  disk(): DiskUse {
    const use = this.#parts.context.disk.use();
    return { ...use, tight: use.tight || this.trouble()?.kind === 'full' };
  }

  maintain(): boolean {
    const { context, faults, unsyncedFill, housekeeping, progress } = this.#parts;
    const { clock, session } = context;
    faults.look(() => session.run(() => noteTrial(session.database, clock.now())));
    session.settle();
    progress.saveWhenDue();
    unsyncedFill.look();
    return housekeeping.step();
  }

  relationsPending(): boolean {
    return this.#parts.housekeeping.relationsPending();
  }

  close(): void {
    try {
      this.#parts.closing.dispose();
    } catch (error) {
      // Throws the last of several failures, which is the failure of the store itself.
      throw error instanceof SuppressedError ? error.error : error;
    }
  }
}

/** Stores the roll-ups of a kind from now on; those of its members for an abstract kind. @param key resourceKey */
function wantRollUps({ relations, resources, session }: WriteContext, key: string): PromotionOutcome {
  const keys = isAbstractKey(key)
    ? resources
        .all()
        .flatMap(({ kind, handle }) => (kind.key === key ? [splitMemberCluster(handle.cluster).member] : []))
    : [key];
  const kinds = resources.kinds().filter((kind) => keys.includes(kind.key));
  const wanted = session.run(() => kinds.filter(({ id }) => relations.rolledUp.want(id)));
  return wanted.length === 0 ? 'known' : 'promoted';
}
