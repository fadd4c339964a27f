import { describe, expect, test } from 'vitest';
import { didYouMean } from './did-you-mean.ts';

describe('didYouMean', () => {
  test.each<[string, string | null]>([
    ['replica', 'replicas'],
    ['REPLICAS', 'replicas'],
    ['relpicas', 'replicas'],
    ['stauts', 'status'],
    ['spce', 'spec'],
    ['something', null],
    ['', null],
  ])('%s', (written, found) => {
    expect(didYouMean(written, ['replicas', 'status', 'spec'])).toBe(found);
  });

  test('has nothing to offer where there is nothing', () => {
    expect(didYouMean('a', [])).toBeNull();
  });
});
