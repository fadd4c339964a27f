import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../../../test/kit/temporary-directory.ts';
import { planKey } from './plan-key.ts';

test('the key is that of the file, and otherwise another one at each start', () => {
  const file = join(temporaryDirectory('plan-key'), 'plan.key');
  const bytes = Buffer.from(Array.from({ length: 32 }, (_, index) => index * 8));
  writeFileSync(file, bytes);
  expect(Buffer.from(planKey(file))).toEqual(bytes);
  const [one, other] = [planKey(undefined), planKey(undefined)];
  expect(one.length).toBe(32);
  expect(one).not.toEqual(other);
});

test.each([
  ['a short file', (file: string) => writeFileSync(file, 'x'.repeat(31)), /31 bytes/],
  ['a missing file', () => {}, /cannot be read/],
])('%s is refused', (_what, prepare, why) => {
  const file = join(temporaryDirectory('plan-key'), 'plan.key');
  prepare(file);
  expect(() => planKey(file)).toThrow(expect.objectContaining({ code: 'CONFIGURATION' }));
  expect(() => planKey(file)).toThrow(why);
});
