import { describe, expect, it } from 'vitest';
import { didYouMean } from './did-you-mean.ts';

describe('didYouMean', () => {
  it.each<[string, string | null]>([
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

  it('has nothing to offer where there is nothing', () => {
    expect(didYouMean('a', [])).toBeNull();
  });
});
