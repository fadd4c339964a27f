/**
 * Keys are stored in promoted columns and written into cursors. A file with other keys gives wrong answers, so a change of the keys is
 * a change of the file's format.
 */
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { pools, types } from '../../../test/kit/leaf-values.ts';
import { naturalKey } from '../../catalog/values/values.ts';
import { formatVersion } from './schema.ts';
import { storedKey } from './stored-keys.ts';

/** For each format version, the hash of the keys that its files contain. */
const keysOf = { format: 7, hash: '2a02376af80bc7796d8a7686d2f43c205273127b03a027329b0a0bec62a1ce75' };

function written(key: unknown): string {
  return typeof key === 'bigint' ? `${key}n` : JSON.stringify(key);
}

test('stored keys are those of the format version: a change of them raises formatVersion (schema.ts), and is taken in here', () => {
  const keys = types.flatMap((type) => pools[type].map((value) => `${type} ${written(storedKey(type, value))}`));
  const natural = pools.String.map((text) => written(naturalKey(String(text))));
  const hash = createHash('sha256')
    .update([...keys, ...natural].join('\n'))
    .digest('hex');
  expect({ format: formatVersion, hash }).toEqual(keysOf);
});
