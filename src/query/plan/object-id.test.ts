import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeObjectId, encodeObjectId } from './object-id.ts';

const text = fc.string({ unit: 'grapheme', minLength: 1 });
const identity = fc.record({ cluster: text, key: text, namespace: fc.option(text), name: text });

test('an id stands for one identity', () => {
  fc.assert(
    fc.property(identity, (of) => {
      const id = encodeObjectId(of);
      expect(id).toMatch(/^[A-Za-z0-9_-]+$/);
      expect(decodeObjectId(id)).toEqual(of);
    }),
  );
  expect(encodeObjectId({ cluster: 'a', key: 'b', namespace: null, name: 'c' })).not.toBe(
    encodeObjectId({ cluster: 'a', key: 'b', namespace: 'c', name: 'c' }),
  );
});

test('anything else is refused', () => {
  const id = encodeObjectId({ cluster: 'c', key: 'pods', namespace: 'n', name: 'p' });
  const of = (version: number, content: unknown): string =>
    Buffer.concat([Buffer.from([version]), Buffer.from(JSON.stringify(content))]).toString('base64url');
  const bad = [
    '',
    'x',
    '!!',
    `${id}=`,
    ` ${id}`,
    id.slice(1),
    id.slice(0, -2),
    of(2, ['c', 'k', 'n', 'p']),
    of(1, ['c', 'k', 'n']),
    of(1, ['', 'k', 'n', 'p']),
    of(1, ['c', 'k', 'n', 5]),
    of(1, { c: 1 }),
    of(1, ['c', 'k', '', '']),
  ];
  for (const each of bad) {
    expect(() => decodeObjectId(each), each).toThrow(expect.objectContaining({ code: 'BAD_USER_INPUT' }));
  }
  fc.assert(
    fc.property(fc.string(), (random) => {
      expect(() => decodeObjectId(random)).toThrow(expect.objectContaining({ code: 'BAD_USER_INPUT' }));
    }),
  );
});
