import { expect, test } from 'vitest';
import { humanDuration } from './human-duration.ts';

/** The output of Kubernetes' duration.HumanDuration for these seconds. */
test.each([
  [-3, '<invalid>'],
  [-2, '<invalid>'],
  [-1, '0s'],
  [0, '0s'],
  [1.9, '1s'],
  [119, '119s'],
  [120, '2m'],
  [121, '2m1s'],
  [599, '9m59s'],
  [600, '10m'],
  [659, '10m'],
  [10_799, '179m'],
  [10_800, '3h'],
  [10_860, '3h1m'],
  [28_799, '7h59m'],
  [28_800, '8h'],
  [172_799, '47h'],
  [172_800, '2d'],
  [176_400, '2d1h'],
  [691_199, '7d23h'],
  [691_200, '8d'],
  [63_071_999, '729d'],
  [63_072_000, '2y'],
  [63_158_400, '2y1d'],
  [252_287_999, '7y364d'],
  [252_288_000, '8y'],
  [Number.NaN, '<invalid>'],
])('%f seconds are %s', (seconds, text) => {
  expect(humanDuration(seconds)).toBe(text);
});
