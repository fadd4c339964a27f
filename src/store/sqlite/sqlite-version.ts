/**
 * The versions of SQLite that may write a store. Before 3.51.3, a checkpoint that races a reset of the write-ahead log can damage the file
 * (https://sqlite.org/wal.html#walresetbug). The library comes with better-sqlite3, but may also be that of the system.
 */
import { PortolanError } from '../../base/errors.ts';

const least = [3, 51, 3] as const;

/** @param version as `sqlite_version()` gives it @throws PortolanError CONFIGURATION for a version that can damage a store */
export function refuseOldSqlite(version: string): void {
  const parts = version.split('.').map(Number);
  const at = least.findIndex((part, index) => part !== (parts[index] ?? 0));
  if (at === -1 || (parts[at] ?? 0) > (least[at] ?? 0)) return;
  throw new PortolanError(
    'CONFIGURATION',
    `SQLite ${version} can damage a store; install better-sqlite3 with its own SQLite, or a system with ${least.join('.')} or later.`,
  );
}
