/** Where a queue begins, for lines with and without a time. */
import { expect, test } from 'vitest';
import { LineQueue } from './line-queue.ts';

test('the first key is that of a line with a time', () => {
  const place = { cluster: 'east', namespace: 'shop', pod: 'web', container: 'app' };
  const queue = new LineQueue(place);
  const push = (key: string, time: string | null) => queue.push(key, { ...place, time, text: 'x', leftOut: 0 }, 0);
  expect(queue.firstKey).toBeNull();
  push('', null);
  expect(queue.firstKey).toBeNull();
  push('1', '1');
  push('1', null);
  push('2', '2');
  expect(queue.firstKey).toBe('1');
  queue.shift();
  queue.shift();
  expect(queue.firstKey).toBe('2');
});
