/** Which logs are forgotten when too many may come back. */
import { expect, test } from 'vitest';
import { ResumePoints } from './resume-points.ts';

test('the log that was left first is forgotten first, however early its reading began', () => {
  const points = new ResumePoints();
  const read = new Set(Array.from({ length: 2500 }, (_, at) => String(at)));
  const before = new Map([...read].map((key) => [key, points.of(key)]));
  const leave = (key: string): void => {
    read.delete(key);
    points.left(key, read);
  };
  for (let at = 2100; at > 0; at -= 1) leave(String(at));
  leave('0');
  expect(points.size).toBe(2000 + read.size);
  const isKnown = (key: string): boolean => points.of(key) === before.get(key);
  expect(['0', '1', '1999', '2000', '2100', '2101', '2499'].map(isKnown)).toEqual([
    ...[true, true, true, false, false, true, true],
  ]);
});
