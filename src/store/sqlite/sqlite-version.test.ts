import { expect, test } from 'vitest';
import { refuseOldSqlite } from './sqlite-version.ts';

test('a SQLite that can damage a store is refused', () => {
  for (const version of ['3.51.2', '3.50.9', '3.9.0', '2.99.99', '3.51']) {
    expect(() => refuseOldSqlite(version), version).toThrow(`SQLite ${version} can damage a store`);
  }
  for (const version of ['3.51.3', '3.51.10', '3.52.0', '3.100.1', '4.0.0', '3.52']) {
    expect(() => refuseOldSqlite(version), version).not.toThrow();
  }
});
