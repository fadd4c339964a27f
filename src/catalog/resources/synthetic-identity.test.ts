import { describe, expect, test } from 'vitest';
import { servedUid, servedVersion, syntheticUid, syntheticVersion } from './synthetic-identity.ts';

describe('made-up identities', () => {
  test('are not shown', () => {
    expect(servedUid(syntheticUid('', 'etcd-0'))).toBe(null);
    expect(servedUid(null)).toBe(null);
    expect(servedVersion(syntheticVersion('abc'))).toBe(null);
  });

  test('what the API server said is', () => {
    expect(servedUid('5c1f4c6e-0a55-4a3e-9a53-3a1de5e9f6f1')).toBe('5c1f4c6e-0a55-4a3e-9a53-3a1de5e9f6f1');
    expect(servedVersion('12')).toBe('12');
    expect(servedVersion('opaque-12')).toBe('opaque-12');
  });
});
