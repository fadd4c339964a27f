import { expect, test } from 'vitest';
import { type Logger, silentLogger } from '../../base/log.ts';
import { SlowQueries } from './slow-queries.ts';

test('a few slow operations a minute are logged; the others are counted and reported by the next entry', () => {
  const entries: Record<string, unknown>[] = [];
  const log: Logger = { ...silentLogger, warn: (fields) => entries.push(fields as Record<string, unknown>) };
  let now = 0;
  const queries = new SlowQueries(
    log,
    () => 100,
    () => now,
  );
  const slow = {
    milliseconds: 150.4,
    rows: 2,
    operation: null,
    document: () => '{ pods }',
    plans: () => [],
    traceId: null,
  };
  queries.note({ ...slow, milliseconds: 99 });
  for (let count = 0; count < 20; count += 1) queries.note(slow);
  expect(queries.count).toBe(20);
  expect(entries).toHaveLength(5);
  expect(entries[0]).toEqual({ milliseconds: 150, rows: 2, operation: null, document: '{ pods }', plans: [] });
  now = 60_000;
  queries.note(slow);
  queries.note({ ...slow, traceId: 'a1' });
  expect(entries.slice(5).map(({ unlogged, traceId }) => [unlogged, traceId])).toEqual([
    [15, undefined],
    [undefined, 'a1'],
  ]);
});
