import { expect, test } from 'vitest';
import { subjectOf, typedToken } from '../../web/playground/caller-token.ts';

const jwt = (payload: string): string => `e30.${Buffer.from(payload).toString('base64url')}.signature`;

test.each([
  ['a token', 'abc.def', 'abc.def'],
  ['white space around it', ' abc\n', 'abc'],
  ['the value of a header', 'Bearer abc', 'abc'],
  ['two words', 'abc def', null],
  ['nothing', '  ', null],
  ['letters that no header can carry', 'abc–', null],
])('a typed text: %s', (_, text, token) => {
  expect(typedToken(text)).toBe(token);
});

test.each([
  ['a service account', jwt('{"sub":"system:serviceaccount:default:robot"}'), 'system:serviceaccount:default:robot'],
  ['letters of any language', jwt('{"sub":"Zoë 🐙"}'), 'Zoë 🐙'],
  ['a JWT without one', jwt('{}'), null],
  ['a JWT with a wrong one', jwt('{"sub":1}'), null],
  ['no JSON', 'a.b.c', null],
  ['an opaque token', 'abc', null],
])('the subject of %s', (_, token, subject) => {
  expect(subjectOf(token)).toBe(subject);
});
