/**
 * A writer is killed repeatedly while it works. Its commits are complete, and the next writer continues from the last one to the same
 * table as an undisturbed writer.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { entriesAmiss, storeFile } from '../../../test/kit/store-file.ts';
import { Database } from '../sqlite/database.ts';
import { openWriter } from './writer.ts';

const program = fileURLToPath(new URL('../../../test/kit/store-writer.ts', import.meta.url));

interface Progress {
  readonly committed: number;
}

test.each(['events', 'relists'])(
  'kill -9 during %s loses nothing that was committed and leaves nothing half done',
  async (work) => {
    const file = storeFile();
    let reached = 0;
    for (let round = 0; round < 4; round += 1) {
      const child = fork(program, [file, work]);
      onTestFinished(() => void child.kill('SIGKILL'));
      let last: Progress = { committed: 0 };
      // Each round is killed after a different number of messages, at an arbitrary point of its work.
      for (let seen = 0; seen < 5 + round * 7; seen += 1) [last] = (await once(child, 'message')) as [Progress];
      child.kill('SIGKILL');
      await once(child, 'exit');
      reached = check(file, last.committed);
    }
    expect(reached).toBeGreaterThan(0);
  },
);

/** Checks that the file is intact, and that log and table match lastResourceVersion. Returns that version. */
function check(file: string, committed: number): number {
  const writer = openWriter(file, { checkpoints: 'inline' });
  const [state] = writer.states();
  const version = Number(state?.lastResourceVersion);
  expect(writer.outcome).toBe('resumed');
  expect(version).toBeGreaterThanOrEqual(committed);
  while (writer.maintain());
  writer.close();
  const database = new Database(file, { readonly: true });
  try {
    expect(database.pragma('integrity_check')).toBe('ok');
    // The program stores object n % 50 with resourceVersion n, in order. So lastResourceVersion alone determines the table.
    const rows = database.statement('SELECT name, CAST(rv AS INTEGER) FROM object ORDER BY 2').all();
    const expected = Array.from({ length: 50 }, (_, index) => version - 49 + index).map((rv) => [`n${rv % 50}`, rv]);
    expect(rows).toEqual(expected);
    const [revision, logged, lost] =
      database
        .statement('SELECT (SELECT revision FROM state), max(seq), max(seq) - count(*) - min(seq) + 1 FROM change')
        .get() ?? [];
    expect([logged, lost]).toEqual([revision, 0]);
    const orphans = database.statement(
      `SELECT (SELECT count(*) FROM body WHERE id NOT IN (SELECT id FROM object)) + (SELECT count(*) FROM p1 WHERE id NOT IN (SELECT id FROM object))
        + (SELECT count(*) FROM stale_rowset)`,
    );
    expect(orphans.get()).toEqual([0]);
    expect(database.statement(entriesAmiss).get()).toEqual([0]);
    return version;
  } finally {
    database.close();
  }
}
