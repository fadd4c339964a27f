/**
 * The store's writer: the only write connection, in the ingest role.
 *
 * Owns: transactions and their bounds, the rules of apply and replace, lastResourceVersion and status of each resource, the change
 * log, housekeeping. Never: reads the API server, retries, or decides what to do about an object it refuses (INVALID).
 *
 *   events -> rows + labels + edges + changes + revision + lastResourceVersion, one transaction -> onCommit
 *
 * Every commit is whole: a crash between two leaves the tables, the log and lastResourceVersion of the earlier one.
 */
import { type Clock, systemClock } from '../../base/clock.ts';
import { messageOf, PortolanError } from '../../base/errors.ts';
import { type Logger, silentLogger } from '../../base/log.ts';
import { must } from '../../base/must.ts';
import { searchPaths } from '../../catalog/paths/search-text.ts';
import type { DescribedResource } from '../../catalog/resources/catalog.ts';
import { type Checkpointer, startCheckpointer } from '../file/checkpointer.ts';
import { DiskBudget } from '../file/disk-budget.ts';
import { FaultWatch } from '../file/fault-watch.ts';
import { endFirstFill, FirstFill } from '../file/first-fill.ts';
import { type OpenedStore, type OpenStoreOptions, openStore } from '../file/open-store.ts';
import { WalBound } from '../file/wal-bound.ts';
import { readIncoming } from '../objects/incoming.ts';
import { laterResourceVersion } from '../objects/resource-version.ts';
import { ChangeLog, type LogBounds } from '../rows/change-log.ts';
import type { CommitListener } from '../rows/commit-signal.ts';
import { Resources, type StoredResource } from '../rows/resources.ts';
import { RowWriter } from '../rows/row-writer.ts';
import { SearchIndex } from '../rows/search-index.ts';
import { defaultWriteBounds, type WriteBounds, WriteBudget } from '../rows/write-budget.ts';
import { WriteSession } from '../rows/write-session.ts';
import { sqliteCodeOf } from '../sqlite/database.ts';
import { registerSqlFunctions } from '../sqlite/sql-functions.ts';
import { faultOfCode } from '../sqlite/store-fault.ts';
import type { IncomingEvent } from '../types/incoming-object.ts';
import type { PathUse, PromotionOutcome } from '../types/kind-layout.ts';
import type { IngestStatus, ResourceHandle, ResourceState } from '../types/progress.ts';
import type { ApplySummary, Audit, DiskUse, Replace, SameVersions, Writer } from '../types/writer.ts';
import { EventApplier, newTally, type Tally } from './apply-events.ts';
import { FirstSync } from './first-sync.ts';
import { Housekeeping } from './housekeeping.ts';
import { Relist } from './relist.ts';
import type { ReplaceContext } from './replace-context.ts';
import { retainSome } from './retention.ts';
import { TableAudit } from './table-audit.ts';

export interface WriterOptions extends Pick<OpenStoreOptions, 'lockWaitMs' | 'slowMs' | 'boot'> {
  readonly log?: Logger;
  readonly clock?: Clock;
  readonly newEpoch?: () => string;
  /** Bounds of one transaction; default 10 ms and 2 MiB. */
  readonly bounds?: WriteBounds;
  readonly changeLog?: Partial<LogBounds>;
  /** Differences of a replace that are committed as one transaction with a change each; default 2,000. */
  readonly maxDifferences?: number;
  /** Milliseconds until a bookmark is persisted without a commit; default 30,000. */
  readonly bookmarkMs?: number;
  /** Checkpoints by a thread of their own (default), or by the writer itself: simpler, and commits wait for them. */
  readonly checkpoints?: 'thread' | 'inline';
  /** How the checkpoint thread is started: tests stall it. */
  readonly startCheckpointer?: typeof startCheckpointer;
  /** Size of the WAL above which all of it is written back, so that it begins anew; default 32 MiB. Readers hold back at the same size. */
  readonly walGateBytes?: number;
  /** Bytes that all files of the store together may take; default no bound of its own. */
  readonly maxDiskBytes?: number | null;
  /** Paths that search looks at beside names, labels and images. */
  readonly searchPaths?: readonly string[];
  /** `resource=path`: what the configuration promotes. */
  readonly promote?: readonly string[];
}

/** A writer that also tells of its commits. */
export interface StoreWriter extends Writer {
  readonly outcome: OpenedStore['outcome'];
  /** Calls the listener once, in a turn of its own, when the file is found to be damaged: close the writer and open another one. */
  onDamage(listener: () => void): void;
  /** Somebody who reads the file found it damaged. */
  reportDamage(reason: string): void;
  /** Calls the listener after each commit that moved the revision, the catalog or a layout; returns what removes it. */
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
    // Closed in order, so it was not checked: this time it is rebuilt.
    if (isDamage(error)) return open();
    throw error;
  }
}

function isDamage(error: unknown): boolean {
  const code = sqliteCodeOf(error);
  return code !== null && faultOfCode(code) === 'corrupt';
}

const defaultWalGateBytes = 32 * 1024 * 1024;

class SqliteWriter implements StoreWriter {
  readonly epoch: string;
  readonly outcome: OpenedStore['outcome'];
  readonly #store: OpenedStore;
  readonly #clock: Clock;
  readonly #bounds: WriteBounds;
  readonly #bookmarkMs: number;
  readonly #session: WriteSession;
  readonly #log: ChangeLog;
  readonly #rows: RowWriter;
  readonly #resources: Resources;
  readonly #applier: EventApplier;
  readonly #disk: DiskBudget;
  readonly #faults: FaultWatch;
  readonly #housekeeping: Housekeeping;
  readonly #replaceContext: ReplaceContext;
  /** Ids of resources whose lastResourceVersion or status in memory is ahead of their row. */
  readonly #unsaved = new Set<number>();
  #savedAt: number;
  readonly #checkpointer: Checkpointer | null;
  readonly #firstFill: FirstFill;
  #replaces = 0;
  #closed = false;

  constructor(store: OpenedStore, log: Logger, options: WriterOptions) {
    this.epoch = store.epoch;
    this.outcome = store.outcome;
    this.#store = store;
    this.#clock = options.clock ?? systemClock;
    this.#bounds = options.bounds ?? defaultWriteBounds;
    this.#bookmarkMs = options.bookmarkMs ?? 30_000;
    registerSqlFunctions(store.database, { tick: () => {} });
    // Checkpoints hold the write lock for moments; transactions wait for it in their own way.
    store.database.pragma('busy_timeout = 0');
    this.#session = new WriteSession(store.database, log);
    const gateBytes = options.walGateBytes ?? defaultWalGateBytes;
    const [settle, unsynced] = [() => this.#session.settle(), () => this.#firstFill.running];
    const wal = new WalBound(store.database, { gateBytes, settle, unsynced, log });
    this.#disk = new DiskBudget(store.database, {
      maxBytes: options.maxDiskBytes ?? null,
      walGateBytes: gateBytes,
      clock: this.#clock,
      log,
    });
    this.#faults = new FaultWatch(store.database, this.#disk, log);
    this.#session.atBegin(() => this.#saveUnsaved());
    this.#session.beforeBegin(() => {
      this.#faults.refuseIfDamaged();
      wal.hold();
    });
    this.#log = new ChangeLog(this.#session, this.#clock, {
      maxBytes: options.changeLog?.maxBytes ?? 256 * 1024 * 1024,
      maxAgeMs: options.changeLog?.maxAgeMs ?? 3_600_000,
      leastBytes: options.changeLog?.leastBytes ?? 16 * 1024 * 1024,
    });
    this.#rows = new RowWriter(store.database);
    this.#resources = new Resources(this.#session, log, options.promote ?? []);
    this.#applier = new EventApplier(this.#session, this.#log, this.#rows);
    const shared = {
      session: this.#session,
      resources: this.#resources,
      rows: this.#rows,
      log: this.#log,
      clock: this.#clock,
      bounds: this.#bounds,
      filling: new Set<number>(),
      unstaged: [],
      disk: this.#disk,
    };
    this.#housekeeping = new Housekeeping({
      ...shared,
      search: new SearchIndex(this.#session, searchPaths(options.searchPaths ?? [])),
      shed: (resource, maxObjects) => retainSome(this.#replaceContext, resource, { maxObjects, oldest: 0n }),
    });
    this.#replaceContext = {
      ...shared,
      applier: this.#applier,
      maxDifferences: options.maxDifferences ?? 2000,
      committing: new Set(),
      wal,
      closed: () => this.#closed,
    };
    this.#savedAt = this.#clock.monotonic();
    this.#noteInterrupted();
    this.#firstFill = new FirstFill(store.firstFill, {
      database: store.database,
      clock: this.#clock,
      atRest: () => shared.filling.size === 0 && this.#resources.all().some(({ synced }) => synced),
      end: () => (this.#checkpointer === null ? endFirstFill(store.database.file) : this.#checkpointer.endFirstFill()),
    });
    this.#checkpointer =
      options.checkpoints === 'inline'
        ? null
        : this.#startCheckpointer(options.startCheckpointer ?? startCheckpointer, log, gateBytes);
  }

  #startCheckpointer(start: typeof startCheckpointer, log: Logger, gateBytes: number): Checkpointer {
    const { database, firstFill } = this.#store;
    database.pragma('wal_autocheckpoint = 0');
    const onDeath = (): void => {
      if (!this.#closed) database.pragma('wal_autocheckpoint = 1000');
    };
    return start({ file: database.file, passiveBytes: 2 * 1024 * 1024, gateBytes, firstFill, log, onDeath });
  }

  /** What a process that died said of itself is no longer so; saved with the first commit. */
  #noteInterrupted(): void {
    for (const resource of this.#resources.all()) {
      const { status } = resource;
      if (status.phase === 'STOPPED' || status.phase === 'IDLE') continue;
      resource.status = { ...status, phase: 'STOPPED', staleSince: status.staleSince ?? status.lastSignAt };
      this.#unsaved.add(resource.handle.id);
    }
  }

  revision(): number {
    return this.#session.counters.revision;
  }

  onCommit(listener: CommitListener): () => void {
    return this.#session.committed.onCommit(listener);
  }

  openCluster(name: string, uid: string | null): void {
    const { database } = this.#session;
    const stored = database.statement('SELECT uid FROM cluster WHERE name = ?').get(name);
    const known = stored?.[0] ?? null;
    if (stored !== undefined && (uid === null || uid === known)) return;
    this.#changeResources(() => {
      database.statement('INSERT OR REPLACE INTO cluster (name, uid) VALUES (?, ?)').run(name, uid);
      if (known === null || uid === null) return;
      for (const resource of this.#resources.all()) {
        if (resource.handle.cluster === name) this.#removeResource(resource);
      }
    });
  }

  declare(described: DescribedResource, namespace = ''): ResourceHandle {
    const resource = this.#resources.declare(described, namespace, (changed) => {
      // What is withheld from now on must not stay on the disk in bodies that were stored before.
      if (changed.synced) this.#log.reset(changed.kind.id, changed.handle.cluster, changed.lastResourceVersion ?? '');
      this.#log.forgetBodies(changed.kind.id, changed.handle.cluster);
      this.#unsaved.delete(changed.handle.id);
      this.#resources.unpublish(changed);
    });
    return resource.handle;
  }

  async drop(handle: ResourceHandle): Promise<void> {
    const resource = this.#resources.of(handle);
    const { rowset } = resource;
    this.#changeResources(() => this.#removeResource(resource));
    if (rowset === null) return;
    while (!this.#closed && this.#housekeeping.purge(rowset))
      await new Promise<void>((resolve) => setImmediate(resolve));
  }

  states(cluster?: string): readonly ResourceState[] {
    return this.#resources
      .all()
      .filter((resource) => cluster === undefined || resource.handle.cluster === cluster)
      .map((resource) => this.#resources.stateOf(resource));
  }

  state(handle: ResourceHandle): ResourceState {
    return this.#resources.stateOf(this.#resources.of(handle));
  }

  /**
   * Applies events in their order. A batch beyond the bounds is several transactions, each with the resourceVersion of its last
   * event. An event that cannot be understood ends the batch with INVALID; the events before it are committed.
   */
  apply(handle: ResourceHandle, events: readonly IncomingEvent[], resourceVersion: string): ApplySummary {
    const resource = this.#resources.of(handle);
    if (resource.rowset === null || !resource.synced) {
      throw new PortolanError(
        'CACHE_NOT_READY',
        `${handle.key} of ${handle.cluster} takes events after its first replace.`,
      );
    }
    if (this.#replaceContext.committing.has(handle.id)) {
      throw new PortolanError('CONFLICT', `${handle.key} of ${handle.cluster} is being replaced; wait for the commit.`);
    }
    const tally = newTally();
    let next = 0;
    do next = this.#applySome(resource, events, next, resourceVersion, tally);
    while (next < events.length);
    return { ...tally, revision: this.#session.counters.revision };
  }

  /** One transaction of events from `next` on; returns where the following one begins. */
  #applySome(
    resource: StoredResource,
    events: readonly IncomingEvent[],
    next: number,
    resourceVersion: string,
    tally: Tally,
  ): number {
    const done = { ...tally };
    let refused: unknown = null;
    const { index, version } = this.#session.run(() => {
      this.#resources.prepareRows(resource);
      const target = this.#resources.target(resource, must(resource.rowset, 'the rowset of a synced resource'));
      const budget = new WriteBudget(this.#clock, this.#bounds);
      let reached = resource.lastResourceVersion ?? resourceVersion;
      let index = next;
      while (index < events.length) {
        const { type, object } = must(events[index], 'an event');
        try {
          const received = readIncoming(object, resource.names, resource.redaction);
          this.#applier.apply(target, type, received, done);
          reached = laterResourceVersion(reached, received.resourceVersion);
        } catch (error) {
          if (!(error instanceof PortolanError && error.code === 'INVALID')) throw error;
          refused = error;
          break;
        }
        index += 1;
        if (budget.spend(object.text.length)) break;
      }
      this.#payForTheLog(index - next);
      if (index === events.length) reached = resourceVersion;
      const version = laterResourceVersion(resource.lastResourceVersion, reached);
      this.#session.database
        .statement('UPDATE resource SET last_rv = ?, objects = ? WHERE id = ?')
        .run(
          version,
          resource.objects + (done.added - tally.added) - (done.deleted - tally.deleted),
          resource.handle.id,
        );
      return { index, version };
    });
    resource.objects += done.added - tally.added - (done.deleted - tally.deleted);
    resource.lastResourceVersion = version;
    Object.assign(tally, done);
    if (refused instanceof PortolanError) {
      throw new PortolanError('INVALID', refused.message, {
        cause: refused,
        details: { index, resourceVersion: version },
      });
    }
    return index;
  }

  #payForTheLog(events: number): void {
    const tight = this.#disk.wasTight;
    const removed = this.#log.pay(events, tight);
    if (tight && removed > 0) this.#disk.gaveUp('changes', removed);
  }

  onDamage(listener: () => void): void {
    this.#faults.onDamage(listener);
  }

  reportDamage(reason: string): void {
    this.#faults.report(reason);
  }

  promote(use: PathUse): PromotionOutcome {
    return this.#resources.promote(use, this.#clock.now());
  }

  disk(): DiskUse {
    return this.#disk.use();
  }

  replace(handle: ResourceHandle, sameVersions: SameVersions = 'trust'): Replace {
    this.#replaces += 1;
    return this.#resources.of(handle).synced
      ? new Relist(this.#replaceContext, handle, this.#replaces, sameVersions)
      : new FirstSync(this.#replaceContext, handle);
  }

  audit(handle: ResourceHandle): Audit | null {
    const resource = this.#resources.of(handle);
    if (!resource.synced || this.#replaceContext.committing.has(handle.id)) return null;
    return new TableAudit(this.#replaceContext, resource);
  }

  bookmark(handle: ResourceHandle, resourceVersion: string): void {
    const resource = this.#resources.of(handle);
    if (!resource.synced) return;
    resource.lastResourceVersion = laterResourceVersion(resource.lastResourceVersion, resourceVersion);
    this.#unsaved.add(handle.id);
    this.#saveWhenDue();
  }

  setStatus(handle: ResourceHandle, status: IngestStatus): void {
    const resource = this.#resources.of(handle);
    const before = resource.status;
    resource.status = status;
    this.#unsaved.add(handle.id);
    // What people look at is saved at once, what only ticks on goes with the next commit.
    const freshness = (before.staleSince === null) !== (status.staleSince === null);
    if (before.phase !== status.phase || before.error !== status.error || freshness) this.#session.run(() => {});
  }

  retain(handle: ResourceHandle, bound: { readonly maxObjects: number; readonly maxAgeMs: number }): number {
    const resource = this.#resources.of(handle);
    if (resource.rowset === null || !resource.synced) return 0;
    const oldest = BigInt(Math.floor(this.#clock.now() - bound.maxAgeMs)) * 1000n;
    let removed = 0;
    for (;;) {
      const done = retainSome(this.#replaceContext, resource, { maxObjects: bound.maxObjects, oldest });
      removed += done;
      if (done === 0) return removed;
    }
  }

  maintain(): boolean {
    this.#session.settle();
    this.#saveWhenDue();
    this.#firstFill.look();
    return this.#housekeeping.step();
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    try {
      if (this.#faults.damage === null) this.#saveAll();
    } finally {
      this.#checkpointer?.stop();
      const { damage } = this.#faults;
      if (damage === null) this.#firstFill.close(() => this.#store.close());
      else this.#store.abandon(damage);
    }
  }

  #saveAll(): void {
    this.#session.settle();
    if (this.#unsaved.size > 0) this.#session.run(() => {});
  }

  /** Runs what removes resources; when it fails, memory is read anew. */
  #changeResources(work: () => void): void {
    try {
      this.#session.run(work);
    } catch (error) {
      this.#resources.reload();
      throw error;
    }
  }

  #removeResource(resource: StoredResource): void {
    if (resource.synced) this.#log.reset(resource.kind.id, resource.handle.cluster, resource.lastResourceVersion ?? '');
    this.#unsaved.delete(resource.handle.id);
    this.#resources.unpublish(resource);
    this.#resources.remove(resource);
  }

  #saveWhenDue(): void {
    if (this.#unsaved.size === 0 || this.#clock.monotonic() - this.#savedAt < this.#bookmarkMs) return;
    this.#session.run(() => {});
  }

  #saveUnsaved(): (() => void) | null {
    if (this.#unsaved.size === 0) return null;
    for (const id of this.#unsaved) {
      const resource = this.#resources.withId(id);
      if (resource === undefined) continue;
      const { lastResourceVersion, status, synced } = resource;
      this.#session.database
        .statement('UPDATE resource SET last_rv = CASE WHEN ? THEN ? END, status = ? WHERE id = ?')
        .run(synced ? 1 : 0, lastResourceVersion, JSON.stringify(status), id);
    }
    return () => {
      this.#unsaved.clear();
      this.#savedAt = this.#clock.monotonic();
    };
  }
}
