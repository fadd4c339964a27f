import { expect, test } from 'vitest';
import { allRows, type Scope } from '../../access/scope.ts';
import { cursorMarks, decodeLiveCursor, encodeLiveCursor, nowhere, scopeMark, writeLiveCursor } from './live-cursor.ts';

test.each([0, 1, 2 ** 53 - 1, nowhere])('a cursor at %s comes back as it was', (sequence) => {
  expect(decodeLiveCursor(encodeLiveCursor({ epoch: 'é', sequence }))).toEqual({ epoch: 'é', sequence });
});

test.each([
  { epoch: 'e', sequence: 1, scope: 's' },
  { epoch: 'e', sequence: 1, kinds: 'k' },
  { epoch: 'e', sequence: 1, scope: 's', kinds: 'k' },
])('%j comes back as it was', (cursor) => {
  expect(decodeLiveCursor(writeLiveCursor(cursor))).toEqual(cursor);
});

test('the marks tell kinds and scopes apart, in any order, and those of one kind are as without marks of kinds', () => {
  const partial: Scope = { rows: 'some', clusters: new Map([['east', 'all']]) };
  const marks = (entries: readonly (readonly [string, Scope])[]) => JSON.stringify(cursorMarks(new Map(entries)));
  expect(cursorMarks(new Map([['pods', allRows]]))).toEqual({});
  expect(cursorMarks(new Map([['pods', partial]]))).toEqual({ scope: scopeMark(partial) });
  const both = marks([
    ['pods', allRows],
    ['nodes', partial],
  ]);
  expect(
    marks([
      ['nodes', partial],
      ['pods', allRows],
    ]),
  ).toBe(both);
  const others: readonly (readonly [string, Scope])[][] = [
    [
      ['nodes', allRows],
      ['pods', allRows],
    ],
    [
      ['nodes', allRows],
      ['pods', partial],
    ],
    [
      ['nodes', partial],
      ['pods', allRows],
      ['jobs.batch', allRows],
    ],
  ];
  expect(new Set([both, ...others.map(marks)]).size).toBe(4);
});

test.each([
  ['nothing', ''],
  ['other text', 'hello'],
  ['another kind of cursor', Buffer.from('["live2","e",1]').toString('base64url')],
  ['too little', Buffer.from('["live1","e"]').toString('base64url')],
  ['no mark of kinds', Buffer.from('["live1","e",1,"s",2]').toString('base64url')],
  ['six parts', Buffer.from('["live1","e",1,"s","k",2]').toString('base64url')],
  ['too much', Buffer.from('["live1","e",1,2]').toString('base64url')],
  ['no number', Buffer.from('["live1","e","1"]').toString('base64url')],
  ['a fraction', Buffer.from('["live1","e",1.5]').toString('base64url')],
  ['a number below nowhere', Buffer.from('["live1","e",-2]').toString('base64url')],
  ['no epoch', Buffer.from('["live1",null,1]').toString('base64url')],
  ['an object', Buffer.from('{"0":"live1"}').toString('base64url')],
])('%s is refused', (_what, text) => {
  expect(() => decodeLiveCursor(text)).toThrow(expect.objectContaining({ code: 'BAD_USER_INPUT' }));
});
