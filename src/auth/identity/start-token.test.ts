import { expect, test } from 'vitest';
import type { Credentials } from '../../access/caller.ts';
import { StartToken } from './start-token.ts';

const token = new StartToken('abcdefghijklmnopqrstuvwxyz012345');

function credentials(authorization?: string, connectionParams?: Record<string, unknown>): Credentials {
  return {
    header: (name) => (name === 'authorization' ? authorization : undefined),
    headers: () => [],
    headerNames: () => [],
    connectionParams,
  };
}

test.each([
  ['the header', credentials(`Bearer ${token.text}`)],
  ['connection_init', credentials(undefined, { authorization: `Bearer ${token.text}` })],
  ['a member of connection_init for the token alone', credentials(undefined, { authToken: token.text })],
])('the token in %s is taken', (_where, given) => {
  expect(() => token.require(given)).not.toThrow();
});

test.each([
  ['nothing', credentials()],
  ['another token', credentials('Bearer abc')],
  ['a longer token', credentials(`Bearer ${token.text}0`)],
  ['the token by another scheme', credentials(`Basic ${token.text}`)],
  ['the token with an empty connection_init of another', credentials(undefined, { authorization: 'Bearer x' })],
])('%s is refused, and the message does not tell the token', (_what, given) => {
  const refuse = () => token.require(given);
  expect(refuse).toThrow(expect.objectContaining({ code: 'FORBIDDEN' }));
  expect(refuse).toThrow(expect.objectContaining({ message: expect.not.stringContaining(token.text) }));
});
