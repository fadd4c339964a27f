import { expect, test } from 'vitest';
import { entityTag, isNotModified } from './entity-tag.ts';

const type = 'application/json; charset=utf-8';
const tag = entityTag('{"data":{}', type);

test('a tag depends on the content and on the media type', () => {
  expect(tag).toMatch(/^W\/"[\w-]{27}"$/);
  expect(entityTag(Buffer.from('{"data":{}'), type)).toBe(tag);
  expect(entityTag('{"data":{ }', type)).not.toBe(tag);
  expect(entityTag('{"data":{}', 'application/graphql-response+json; charset=utf-8')).not.toBe(tag);
});

test.each([
  ['the tag', tag, true],
  ['the same tag as a strong one', tag.slice(2), true],
  ['a list with the tag', `"other", ${tag},W/"more"`, true],
  ['anything', '*', true],
  ['another tag', 'W/"other"', false],
  ['the tag within another', `W/"x${tag.slice(3)}`, false],
  ['the tag without quotes', tag.slice(3, -1), false],
  ['nothing', '', false],
])('if-none-match with %s', (_what, header, expected) => {
  expect(isNotModified(header, tag)).toBe(expected);
});

test('without the header the answer is sent', () => {
  expect(isNotModified(undefined, tag)).toBe(false);
  expect(isNotModified(null, tag)).toBe(false);
});
