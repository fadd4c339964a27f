/** A store in a folder of its own with a lease on it, outside of any test runner. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { must } from '../../src/base/must.ts';
import { Database } from '../../src/store/sqlite/database.ts';
import { registerSqlFunctions } from '../../src/store/sqlite/sql-functions.ts';
import type { Lease } from '../../src/store/types/lease.ts';
import { openWriter, type StoreWriter } from '../../src/store/write/writer.ts';

export interface ScratchStore {
  readonly file: string;
  /** Another one after `reopen`. */
  readonly writer: StoreWriter;
  /**
   * Runs statements as a reader's thread does, but on this thread and one after the other: a fuzzer asks small questions by the
   * hundred thousand, and would mostly wait for threads to wake.
   */
  lease(): Lease;
  /** Closes the store and opens its file again, as a restart does. */
  reopen(): void;
  /** Closes everything and removes the folder. */
  close(): void;
}

export function openScratchStore(): ScratchStore {
  const folder = mkdtempSync(join(tmpdir(), 'portolan-fuzz-'));
  const file = join(folder, 'store.db');
  let writer = openWriter(file, { checkpoints: 'inline' });
  let reading: Database | null = null;
  return {
    file,
    get writer() {
      return writer;
    },
    lease() {
      reading ??= openDatabase(file);
      return leaseOn(reading);
    },
    reopen() {
      reading?.close();
      reading = null;
      writer.close();
      writer = openWriter(file, { checkpoints: 'inline' });
    },
    close() {
      reading?.close();
      writer.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function openDatabase(file: string): Database {
  const database = new Database(file, { readonly: true, slowMs: Number.POSITIVE_INFINITY });
  database.pragma('temp_store = MEMORY');
  registerSqlFunctions(database, { tick: () => {} });
  return database;
}

function leaseOn(database: Database): Lease {
  const state = database
    .statement(`SELECT s.revision, (SELECT value FROM meta WHERE key = 'epoch'), s.layout_version FROM state s`)
    .get();
  const [revision, epoch, layoutVersion] = must(state, 'the state row');
  const all: Lease['all'] = async ({ sql, params }) => database.statement(sql).all(...params);
  return {
    revision: Number(revision),
    epoch: String(epoch),
    layoutVersion: Number(layoutVersion),
    all,
    async fill(statements, limit) {
      const rows = [];
      for (const statement of statements) {
        if (rows.length < limit) rows.push(...(await all(statement)));
      }
      return rows.slice(0, limit);
    },
  };
}
