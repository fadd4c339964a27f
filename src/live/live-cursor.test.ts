import { expect, test } from 'vitest';
import { decodeLiveCursor, encodeLiveCursor, nowhere } from './live-cursor.ts';

test.each([0, 1, 2 ** 53 - 1, nowhere])('a cursor at %s comes back as it was', (sequence) => {
  expect(decodeLiveCursor(encodeLiveCursor({ epoch: 'é', sequence }))).toEqual({ epoch: 'é', sequence });
});

test.each([
  ['nothing', ''],
  ['other text', 'hello'],
  ['another kind of cursor', Buffer.from('["live2","e",1]').toString('base64url')],
  ['too little', Buffer.from('["live1","e"]').toString('base64url')],
  ['too much', Buffer.from('["live1","e",1,2]').toString('base64url')],
  ['no number', Buffer.from('["live1","e","1"]').toString('base64url')],
  ['a fraction', Buffer.from('["live1","e",1.5]').toString('base64url')],
  ['a number below nowhere', Buffer.from('["live1","e",-2]').toString('base64url')],
  ['no epoch', Buffer.from('["live1",null,1]').toString('base64url')],
  ['an object', Buffer.from('{"0":"live1"}').toString('base64url')],
])('%s is refused', (_what, text) => {
  expect(() => decodeLiveCursor(text)).toThrow(expect.objectContaining({ code: 'BAD_USER_INPUT' }));
});
