/**
 * The writer's transactions and the counters that every commit persists.
 *
 * Invariants: the counters and the state of the change log in memory are those of the last commit or of the running transaction. A failed
 * transaction restores them. The row of `state` is written in the transaction that changed a counter. Listeners are called after a commit,
 * never inside it. An error of a listener affects neither the commit nor other listeners.
 *
 * Bulk work on unpublished rows may leave its transaction open (`fill`), because many small commits would write the same index pages
 * again and again. Any other write commits it first, and so does `settle`. A rollback calls the `lost` callback of each writer in it.
 */
import { messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { must } from '../../base/must.ts';
import type { FileSeal } from '../file/file-seal.ts';
import type { Database } from '../sqlite/database.ts';
import { CommitSignal } from './commit-signal.ts';
import { KindLogs } from './kind-logs.ts';

interface Counters {
  revision: number;
  layoutVersion: number;
  catalogVersion: number;
  nextObject: number;
  nextRowset: number;
}

interface OpenTransaction {
  readonly before: Counters;
  /** Called after the commit. */
  after: (() => void) | null;
  /** Callbacks of its writers, called when it is rolled back. */
  readonly lost: Set<() => void>;
  /** The kinds of the log entries that it adds. */
  readonly kindIds: Set<number>;
  bytes: number;
}

export class WriteSession {
  readonly database: Database;
  readonly committed: CommitSignal;
  /** The extent of the change log for each kind. */
  readonly logs: KindLogs;
  readonly #epoch: string;
  readonly #seal: FileSeal;
  /** Between `begin` and `end` of the seal. */
  #writes = false;
  /** May SQLite write changed pages before the commit, for which its cache has no room? Its default. */
  #spills = true;
  #counters: Counters;
  #atBegin: (() => (() => void) | null) | null = null;
  #beforeBegin: () => void = () => {};
  #beforeCommit: () => void = () => {};
  /** The transaction that `fill` left open. */
  #open: OpenTransaction | null = null;
  /** The running transaction, left open or not. */
  #running: OpenTransaction | null = null;

  constructor(database: Database, log: Logger, seal: FileSeal) {
    this.database = database;
    this.#seal = seal;
    this.committed = new CommitSignal((error) => log.error({ error: messageOf(error) }, 'a commit listener failed'));
    this.#epoch = String(database.statement(`SELECT value FROM meta WHERE key = 'epoch'`).get()?.[0]);
    const row = must(
      database.statement('SELECT revision, layout_version, catalog_version, next_object, next_rowset FROM state').get(),
      'the state row',
    ) as readonly number[];
    const [revision = 0, layoutVersion = 0, catalogVersion = 0, nextObject = 1, nextRowset = 1] = row;
    this.#counters = { revision, layoutVersion, catalogVersion, nextObject, nextRowset };
    this.logs = new KindLogs(database);
  }

  get counters(): Counters {
    return this.#counters;
  }

  /**
   * Sets a hook that runs in every transaction of `run` before its work, which may write the same rows again. The hook returns a
   * function to call after the commit, or null.
   */
  atBegin(hook: () => (() => void) | null): void {
    this.#atBegin = hook;
  }

  /** Sets a hook that is called before every transaction begins. */
  beforeBegin(hook: () => void): void {
    this.#beforeBegin = hook;
  }

  /** Sets a hook that is called before every commit. An error of it rolls the transaction back. */
  beforeCommit(hook: () => void): void {
    this.#beforeCommit = hook;
  }

  /** Runs `work` in one transaction and saves the counters with it. Must not be nested. */
  run<T>(work: () => T): T {
    this.settle();
    const open = this.#begin({ spills: false });
    const result = this.#orUndo(open, () => {
      open.after = this.#atBegin?.() ?? null;
      const value = work();
      this.#commit(open);
      return value;
    });
    this.#notify(open);
    return result;
  }

  /**
   * Runs `work` in the open transaction, or opens one, and leaves it open. `work` returns the bytes that it wrote. Commits and returns
   * true once the transaction has `maxBytes`. A failure, now or at the commit, rolls the whole transaction back and calls `lost`.
   */
  fill(maxBytes: number, lost: () => void, work: () => number): boolean {
    this.#open ??= this.#begin({ spills: true });
    const open = this.#open;
    open.lost.add(lost);
    this.#orUndo(open, () => {
      open.bytes += work();
    });
    if (open.bytes < maxBytes) return false;
    this.settle();
    return true;
  }

  /** Inside a transaction: sets a callback that restores memory when the transaction is rolled back. */
  ifUndone(undo: () => void): void {
    this.#running?.lost.add(undo);
  }

  /** Commits the transaction that `fill` left open. */
  settle(): void {
    const open = this.#open;
    if (open === null) return;
    this.#orUndo(open, () => this.#commit(open));
    this.#notify(open);
  }

  /** @param spills bulk work writes more than memory should hold. All others write at the commit alone, so that the seal is open shortly. */
  #begin({ spills }: { readonly spills: boolean }): OpenTransaction {
    this.#beforeBegin();
    if (spills !== this.#spills) this.database.pragma(`cache_spill = ${spills ? 1 : 0}`);
    this.#spills = spills;
    if (spills) this.#writing();
    try {
      this.database.begin();
    } catch (error) {
      this.#written();
      throw error;
    }
    const before = this.#counters;
    this.#counters = { ...before };
    this.#running = { before, after: null, lost: new Set(), kindIds: new Set(), bytes: 0 };
    return this.#running;
  }

  #orUndo<T>(open: OpenTransaction, work: () => T): T {
    try {
      return this.database.finish(work);
    } catch (error) {
      this.#written();
      this.#counters = open.before;
      this.logs.undo();
      this.#open = null;
      for (const lost of open.lost) lost();
      throw error;
    }
  }

  #commit({ before }: OpenTransaction): void {
    this.#save(before);
    this.logs.save();
    this.#beforeCommit();
    if (!this.#writes) this.#writing();
    this.database.commit();
    this.#written();
    this.logs.committed();
    this.#open = null;
  }

  #writing(): void {
    this.#seal.begin('log');
    this.#writes = true;
  }

  /** The transaction is over: nothing writes into the log until the next one. */
  #written(): void {
    if (this.#writes) this.#seal.end('log');
    this.#writes = false;
  }

  #notify({ before, after, kindIds }: OpenTransaction): void {
    after?.();
    const { revision, catalogVersion, layoutVersion } = this.#counters;
    if (
      revision !== before.revision ||
      catalogVersion !== before.catalogVersion ||
      layoutVersion !== before.layoutVersion
    ) {
      this.committed.emit({
        epoch: this.#epoch,
        after: before.revision,
        revision,
        kindIds: [...kindIds],
        catalogVersion,
        layoutVersion,
      });
    }
  }

  /** Inside a transaction: the sequence number of a new log entry of this kind. @param seq of a log that is followed */
  nextSequence(kindId: number, seq = this.#counters.revision + 1): number {
    this.#running?.kindIds.add(kindId);
    this.#counters.revision = seq;
    return seq;
  }

  /** Inside a transaction: a sequence number that no entry has. */
  skipSequence(): number {
    this.#counters.revision += 1;
    return this.#counters.revision;
  }

  nextObjectId(): number {
    const id = this.#counters.nextObject;
    this.#counters.nextObject += 1;
    return id;
  }

  /** Inside a transaction: an object gets an id that another store gave it. */
  useObjectId(id: number): void {
    this.#counters.nextObject = Math.max(this.#counters.nextObject, id + 1);
  }

  nextRowset(): number {
    const rowset = this.#counters.nextRowset;
    this.#counters.nextRowset += 1;
    return rowset;
  }

  #save(before: Counters): void {
    const now = this.#counters;
    if (
      now.revision === before.revision &&
      now.layoutVersion === before.layoutVersion &&
      now.catalogVersion === before.catalogVersion &&
      now.nextObject === before.nextObject &&
      now.nextRowset === before.nextRowset
    ) {
      return;
    }
    this.database
      .statement(
        `UPDATE state SET revision = ?, layout_version = ?, catalog_version = ?, next_object = ?, next_rowset = ? WHERE one = 1`,
      )
      .run(now.revision, now.layoutVersion, now.catalogVersion, now.nextObject, now.nextRowset);
  }
}
