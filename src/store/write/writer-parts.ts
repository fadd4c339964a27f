/**
 * The parts of a writer, opened in this order. `closing` saves progress, stops the checkpointer and closes the store, in this order.
 *
 *   store        the database and its lock; a damaged store is abandoned instead of closed
 *   connection   SQL functions; SQLite's busy handler is off
 *   session      the seal, by which a write of another program is noticed; transactions and counters
 *   guards       bound of the write-ahead log, disk budget, fault watch: called before a transaction, or for an error
 *   tables       change log, rows, resources
 *   work         housekeeping, pending progress, events, declarations
 *   first fill   the file is written without syncs while it is filled for the first time
 *   checkpointer a thread, or SQLite's automatic checkpoints in the writer
 */
import { type Clock, systemClock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import { searchPaths } from '../../catalog/paths/search-text.ts';
import { type Checkpointer, startCheckpointer } from '../file/checkpointer.ts';
import { DiskBudget } from '../file/disk-budget.ts';
import { FaultWatch } from '../file/fault-watch.ts';
import { FileSeal } from '../file/file-seal.ts';
import type { OpenedStore } from '../file/open-store.ts';
import { endUnsyncedFill, UnsyncedFill } from '../file/unsynced-fill.ts';
import { WalBound } from '../file/wal-bound.ts';
import { RelationRows } from '../relations/relation-rows.ts';
import { ChangeLog, type LogBounds } from '../rows/change-log.ts';
import { EventApplier } from '../rows/event-applier.ts';
import { Resources } from '../rows/resources.ts';
import { RowWriter } from '../rows/row-writer.ts';
import { SearchIndex } from '../rows/search-index.ts';
import { defaultWriteBounds } from '../rows/write-budget.ts';
import type { WriteContext } from '../rows/write-context.ts';
import { WriteSession } from '../rows/write-session.ts';
import { registerSqlFunctions } from '../sqlite/sql-functions.ts';
import { Declarations } from './declarations.ts';
import { EventBatches } from './event-batches.ts';
import { FollowedMessages } from './followed-messages.ts';
import { Housekeeping } from './housekeeping.ts';
import { PendingProgress } from './pending-progress.ts';
import type { WriterOptions } from './writer-options.ts';

export interface WriterParts {
  readonly context: WriteContext;
  readonly faults: FaultWatch;
  readonly housekeeping: Housekeeping;
  readonly progress: PendingProgress;
  readonly events: EventBatches;
  readonly followed: FollowedMessages;
  readonly declarations: Declarations;
  readonly unsyncedFill: UnsyncedFill;
  readonly closing: DisposableStack;
}

const defaultWalGateBytes = 32 * 1024 * 1024;
const defaultLogBounds: LogBounds = {
  maxBytes: 256 * 1024 * 1024,
  maxAgeMs: 7 * 86_400_000,
  leastBytes: 16 * 1024 * 1024,
};
/** Pending bytes in the write-ahead log from which a passive checkpoint runs. */
const passiveBytes = 2 * 1024 * 1024;

/** Inputs of every part. */
interface Opening {
  readonly store: OpenedStore;
  readonly options: WriterOptions;
  readonly log: Logger;
  readonly clock: Clock;
  /** Size of the write-ahead log above which all of it is written back. */
  readonly gateBytes: number;
  readonly seal: FileSeal;
  readonly closed: () => boolean;
}

/** Opens the parts for an opened store. When it throws, the caller must close the store. */
export function openParts(store: OpenedStore, log: Logger, options: WriterOptions): WriterParts {
  const clock = options.clock ?? systemClock;
  const gateBytes = options.walGateBytes ?? defaultWalGateBytes;
  const closing = new DisposableStack();
  const seal = new FileSeal(store.database.file, options.seal);
  const opening: Opening = { store, options, log, clock, gateBytes, seal, closed: () => closing.disposed };

  const session = openSession(opening);
  const guards = openGuards(opening, session, { unsynced: () => unsyncedFill.running });
  const context = openContext(opening, session, guards);
  const { faults } = guards;

  const housekeeping = new Housekeeping(context, new SearchIndex(session, searchPaths(options.searchPaths ?? [])));
  const progress = new PendingProgress(session, context.resources, clock);
  const events = new EventBatches(context);
  const declarations = new Declarations(context, progress, housekeeping);
  const followed = new FollowedMessages(context, { declarations, progress });

  const unsyncedFill = openFirstFill(opening, context, { end: () => checkpointer.endUnsyncedFill() });
  closing.defer(() => {
    seal.close();
    if (faults.damage === null) unsyncedFill.close(() => store.close());
    else store.abandon(faults.damage);
  });
  const checkpointer = openCheckpointer(opening, faults);
  closing.defer(() => checkpointer.stop());
  closing.defer(() => {
    if (faults.damage === null) progress.saveAll();
  });
  return { context, faults, housekeeping, progress, events, followed, declarations, unsyncedFill, closing };
}

function openSession({ store: { database }, options, log, seal }: Opening): WriteSession {
  // Before the first write: a checkpoint of SQLite's own would look like a write of another program.
  if (options.checkpoints !== 'inline') database.pragma('wal_autocheckpoint = 0');
  seal.open();
  registerSqlFunctions(database, { tick: () => {} });
  // Checkpoints hold the write lock only briefly. `Database.begin` retries faster than SQLite's busy handler.
  database.pragma('busy_timeout = 0');
  return new WriteSession(database, log, seal);
}

interface Guards {
  readonly wal: WalBound;
  readonly disk: DiskBudget;
  readonly faults: FaultWatch;
}

function openGuards(
  { store: { database }, options, log, clock, gateBytes, seal }: Opening,
  session: WriteSession,
  { unsynced }: { readonly unsynced: () => boolean },
): Guards {
  const wal = new WalBound(database, { gateBytes, settle: () => session.settle(), unsynced, seal, log });
  const disk = new DiskBudget(database, {
    maxBytes: options.maxDiskBytes ?? null,
    walGateBytes: gateBytes,
    clock,
    log,
  });
  const faults = new FaultWatch(database, { disk, seal, clock, log });
  session.beforeCommit(() => faults.refuseIfLost());
  session.beforeBegin(() => {
    faults.refuseIfLost();
    wal.hold();
  });
  return { wal, disk, faults };
}

function openContext(
  { options, log, clock, closed }: Opening,
  session: WriteSession,
  { wal, disk }: Guards,
): WriteContext {
  const { follows = false } = options;
  const changes = new ChangeLog(session, clock, { ...defaultLogBounds, ...options.changeLog, follows });
  const relations = new RelationRows(session.database, {
    ifUndone: (undo) => session.ifUndone(undo),
    layoutChanged: () => {
      session.counters.layoutVersion += 1;
    },
  });
  const rows = new RowWriter(session.database, relations);
  return {
    session,
    resources: new Resources(session, relations, { clock, log, configured: options.promote ?? [] }),
    rows,
    relations,
    log: changes,
    applier: new EventApplier(session, changes, rows),
    clock,
    bounds: options.bounds ?? defaultWriteBounds,
    maxDifferences: options.maxDifferences ?? 2000,
    disk,
    wal,
    filling: new Set(),
    unstaged: [],
    committing: new Set(),
    follows,
    closed,
  };
}

function openFirstFill(
  { store, clock }: Opening,
  { filling, resources }: WriteContext,
  { end }: { readonly end: () => void },
): UnsyncedFill {
  const atRest = (): boolean => filling.size === 0 && resources.all().some(({ synced }) => synced);
  return new UnsyncedFill(store.unsyncedFill, { database: store.database, clock, atRest, end });
}

/** Starts the checkpoint thread. If the thread dies, SQLite's automatic checkpoints run in the writer. */
function openCheckpointer({ store, options, log, gateBytes, seal, closed }: Opening, faults: FaultWatch): Checkpointer {
  const { database, unsyncedFill } = store;
  const { file } = database;
  if (options.checkpoints === 'inline') return { stop: () => {}, endUnsyncedFill: () => endUnsyncedFill(file) };
  const onDeath = (): void => {
    seal.distrust();
    if (!closed()) database.pragma('wal_autocheckpoint = 1000');
  };
  const onLost = (reason: string): void => void faults.report(reason);
  const start = options.startCheckpointer ?? startCheckpointer;
  return start({ file, passiveBytes, gateBytes, unsyncedFill, seal: seal.memory, log, onDeath, onLost });
}
