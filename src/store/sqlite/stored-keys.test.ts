/**
 * Keys are stored in promoted columns and written into cursors, and the health in a column of its own. A file with other keys gives
 * wrong answers. So a change of the keys or of the health rules is a change of the file's format.
 */
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { healthCases } from '../../../test/kit/health-cases.ts';
import { pools, types } from '../../../test/kit/leaf-values.ts';
import { healthOf } from '../../catalog/health/health.ts';
import { naturalKey } from '../../catalog/values/values.ts';
import { formatVersion } from './schema.ts';
import { storedKey } from './stored-keys.ts';

/** For each format version, the hash of the keys that its files contain. */
const keysOf = { format: 18, hash: '74b82a51c6a5782802072ad11c65394ed70214538ac81dd470b0ac7172dfcbe4' };

function written(key: unknown): string {
  return typeof key === 'bigint' ? `${key}n` : JSON.stringify(key);
}

test('stored keys are those of the format version: a change of them raises formatVersion (schema.ts), and is taken in here', () => {
  // Keys of these types are computed in each query.
  const stored = types.filter((type) => type !== 'Number' && type !== 'ResourceVersion' && type !== 'Time');
  const keys = stored.flatMap((type) => pools[type].map((value) => `${type} ${written(storedKey(type, value))}`));
  const natural = pools.String.map((text) => written(naturalKey('String', typeof text === 'string' ? text : '')));
  const health = healthCases.map(({ object }) => JSON.stringify(healthOf(object)));
  const hash = createHash('sha256')
    .update([...keys, ...natural, ...health].join('\n'))
    .digest('hex');
  expect({ format: formatVersion, hash }).toEqual(keysOf);
});
