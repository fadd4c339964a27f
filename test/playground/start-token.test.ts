import { expect, test } from 'vitest';
import { localCaller } from '../../web/playground/start-token.ts';

/** The session storage of a tab. */
function storage(): Storage {
  const items = new Map<string, string>();
  return {
    getItem: (key: string) => items.get(key) ?? null,
    setItem: (key: string, value: string) => void items.set(key, value),
    removeItem: (key: string) => void items.delete(key),
  } as unknown as Storage;
}

function open(hash: string, kept = storage()) {
  const addresses: unknown[] = [];
  const history = { replaceState: (...given: readonly unknown[]) => void addresses.push(given[2]) };
  const caller = localCaller({ hash, pathname: '/graphql', search: '?query=%7Ba%7D' }, history, kept);
  return { authorization: caller.authorization(), addresses, kept };
}

test('the token of the address goes with requests and leaves the address', () => {
  const { authorization, addresses, kept } = open('#token=abc-DEF_012');
  expect(authorization).toBe('Bearer abc-DEF_012');
  expect(addresses).toEqual(['/graphql?query=%7Ba%7D']);
  expect(open('', kept)).toMatchObject({ authorization: 'Bearer abc-DEF_012', addresses: [] });
});

test.each(['', '#', '#other=abc', '#token=', '#token=a%20b'])('the fragment %j has no token', (hash) => {
  expect(open(hash)).toMatchObject({ authorization: null, addresses: [] });
});

test('the token of a caller of another gateway at this address is not sent', () => {
  const kept = storage();
  kept.setItem('portolan token', 'token-of-jane');
  expect(open('', kept).authorization).toBeNull();
});
