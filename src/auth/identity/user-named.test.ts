import { expect, test } from 'vitest';
import { userNamed } from './user-named.ts';

test('a user has the groups that an API server adds', () => {
  expect(userNamed('alice', ['devs']).groups).toEqual(['devs', 'system:authenticated']);
  expect(userNamed('alice', ['system:authenticated']).groups).toEqual(['system:authenticated']);
  expect(userNamed('system:serviceaccount:shop:robot', []).groups).toEqual([
    'system:serviceaccounts',
    'system:serviceaccounts:shop',
    'system:authenticated',
  ]);
  expect(userNamed('system:serviceaccount:shop', []).groups).toEqual(['system:authenticated']);
  expect(userNamed('system:anonymous', []).groups).toEqual(['system:unauthenticated']);
});
