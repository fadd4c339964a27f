/**
 * The writer's transactions and the counters that every commit persists.
 *
 * Invariants: the counters in memory are those of the last commit, or of the running transaction; a failed transaction puts them
 * back. The row of `state` is written in the same transaction as whatever moved it. Listeners hear of a commit after it, never
 * inside it, and a listener that throws harms nobody.
 */
import { messageOf } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { must } from '../base/must.ts';
import type { Database } from './database.ts';
import { CommitSignal } from './wake.ts';

export interface Counters {
  revision: number;
  layoutVersion: number;
  catalogVersion: number;
  nextObject: number;
  nextRowset: number;
  logFloor: number;
  logBytes: number;
}

export class WriteSession {
  readonly database: Database;
  readonly committed: CommitSignal;
  #counters: Counters;
  #atBegin: (() => (() => void) | null) | null = null;

  constructor(database: Database, log: Logger) {
    this.database = database;
    this.committed = new CommitSignal((error) => log.error({ error: messageOf(error) }, 'a commit listener failed'));
    const row = must(
      database
        .statement(
          'SELECT revision, layout_version, catalog_version, next_object, next_rowset, log_floor, log_bytes FROM state',
        )
        .get(),
      'the state row',
    ) as readonly number[];
    const [
      revision = 0,
      layoutVersion = 0,
      catalogVersion = 0,
      nextObject = 1,
      nextRowset = 1,
      logFloor = 0,
      logBytes = 0,
    ] = row;
    this.#counters = { revision, layoutVersion, catalogVersion, nextObject, nextRowset, logFloor, logBytes };
  }

  get counters(): Counters {
    return this.#counters;
  }

  /**
   * What every transaction writes before its own work (which may write the same rows anew); returns what to do once it is
   * committed, or null.
   */
  atBegin(hook: () => (() => void) | null): void {
    this.#atBegin = hook;
  }

  /** Runs `work` in one transaction, with the counters. Must not be nested. */
  run<T>(work: () => T): T {
    const before = this.#counters;
    this.#counters = { ...before };
    let result: T;
    let after: (() => void) | null = null;
    try {
      result = this.database.transaction(() => {
        after = this.#atBegin?.() ?? null;
        const value = work();
        this.#save(before);
        return value;
      });
    } catch (error) {
      this.#counters = before;
      throw error;
    }
    (after as (() => void) | null)?.();
    const { revision, catalogVersion, layoutVersion } = this.#counters;
    if (
      revision !== before.revision ||
      catalogVersion !== before.catalogVersion ||
      layoutVersion !== before.layoutVersion
    ) {
      this.committed.emit({ revision, catalogVersion, layoutVersion });
    }
    return result;
  }

  nextSequence(): number {
    this.#counters.revision += 1;
    return this.#counters.revision;
  }

  nextObjectId(): number {
    const id = this.#counters.nextObject;
    this.#counters.nextObject += 1;
    return id;
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
      now.nextRowset === before.nextRowset &&
      now.logFloor === before.logFloor &&
      now.logBytes === before.logBytes
    ) {
      return;
    }
    this.database
      .statement(
        `UPDATE state SET revision = ?, layout_version = ?, catalog_version = ?, next_object = ?, next_rowset = ?,
           log_floor = ?, log_bytes = ? WHERE one = 1`,
      )
      .run(
        now.revision,
        now.layoutVersion,
        now.catalogVersion,
        now.nextObject,
        now.nextRowset,
        now.logFloor,
        now.logBytes,
      );
  }
}
