/** Compares answers of stores that have the same objects. */
import type { Answer } from './engine-fixture.ts';

const mostWarnings = 20;

/** An answer without what differs between stores: revisions, times, cursors of changes, the order of warnings. */
export function shownAnswer({ data, errors, operation }: Answer): unknown {
  const { revision: _one, revisions: _many, warnings = [], ...extensions } = operation.extensions();
  // Cells answer in any order, and an answer has the first warnings only.
  const texts = (warnings as readonly unknown[]).map((each) => JSON.stringify(each));
  const told = texts.length === mostWarnings ? texts.length : texts.toSorted();
  const text = JSON.stringify({ data, errors, extensions, told }, (key, value: unknown) =>
    key === 'changesCursor' || key === 'lastSignAt' || key === 'lastEventAt' ? null : value,
  );
  return JSON.parse(text);
}
