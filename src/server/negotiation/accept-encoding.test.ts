import { expect, test } from 'vitest';
import { contentCoding } from './accept-encoding.ts';

test.each([
  [null, 'identity'],
  ['', 'identity'],
  ['gzip', 'gzip'],
  ['x-gzip', 'gzip'],
  ['GZIP', 'gzip'],
  ['br', 'br'],
  ['gzip, deflate, br, zstd', 'zstd'],
  ['gzip, deflate, br', 'br'],
  ['deflate', 'identity'],
  ['zstd, deflate', 'zstd'],
  ['gzip;q=1.0, br;q=0.5', 'gzip'],
  ['gzip; q=0.2 , br ;q=0.3', 'br'],
  ['br;q=0, gzip', 'gzip'],
  ['br;q=0, gzip;q=0', 'identity'],
  ['*', 'zstd'],
  ['*;q=0.1, gzip;q=0.5', 'gzip'],
  ['identity', 'identity'],
  ['identity;q=0.5, gzip;q=0.4', 'identity'],
  ['identity, gzip', 'gzip'],
  ['gzip;q=0.001', 'gzip'],
  // No coding is acceptable: the answer is not encoded.
  ['identity;q=0', 'identity'],
  ['*;q=0', 'identity'],
  ['br;q=2, gzip;q=high', 'identity'],
  ['br;q=2, gzip;q=0.5', 'gzip'],
])('%j is %s', (header, coding) => {
  expect(contentCoding(header, ['zstd', 'br', 'gzip'])).toBe(coding);
});

test('of equal weights the one offered first is taken, and what is not offered never is', () => {
  expect(contentCoding('gzip, br, zstd', ['br', 'zstd'])).toBe('br');
  expect(contentCoding('gzip', ['br', 'zstd'])).toBe('identity');
});
