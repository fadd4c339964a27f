import { buildSchema, type DocumentNode } from 'graphql';
import { expect, test } from 'vitest';
import { PortolanError } from '../../base/errors.ts';
import { Documents, valuesPerCharacter } from './documents.ts';

const schema = buildSchema('type Query { a: Int b: Int }');

function charged() {
  const documents = new Documents();
  const charges: number[] = [];
  const read = (text: string, on = schema): boolean => {
    try {
      return (
        documents.validate(on, documents.parse(text, { charge: (values) => void charges.push(values) })).length === 0
      );
    } catch {
      return false;
    }
  };
  return { documents, charges, read };
}

test('a valid document is charged by its length, until it is kept at its second use', () => {
  const { charges, read } = charged();
  expect(['{ a }', '{ a }', '{ a }', '{ a b }', '{ a }'].map((text) => read(text))).toEqual(Array(5).fill(true));
  expect(charges).toEqual([5, 5, 7].map((characters) => characters * valuesPerCharacter));
});

test('documents that come once do not push out those that come again', () => {
  const { charges, read } = charged();
  const often = '{ a }';
  read(often);
  read(often);
  const once = (at: number): string => `{ ${'a '.repeat(300)}} # ${at}`;
  for (let at = 0; at < 3000; at += 1) read(once(at));
  const before = charges.length;
  expect(read(often)).toBe(true);
  expect(charges).toHaveLength(before);
});

test('a second use gets the document of the first, while somebody holds that', () => {
  const { documents } = charged();
  const use = (): DocumentNode => {
    const document = documents.parse('{ a }', { charge() {} });
    documents.validate(schema, document);
    return document;
  };
  const first = use();
  expect([use(), use()].map((document) => document === first)).toEqual([true, true]);
});

test('a request pays once for its document, gets the same one again, and is one use of it', () => {
  const { documents, charges, read } = charged();
  const request = { charge: (values: number) => void charges.push(values) };
  const first = documents.parse('{ a }', request);
  documents.validate(schema, first);
  const second = documents.parse('{ a }', request);
  documents.validate(schema, second);
  expect(second).toBe(first);
  expect(documents.parse('{ a }', request)).toBe(first);
  expect(read('{ a }')).toBe(true);
  expect(charges).toHaveLength(2);
});

test('one place of a document does not hold the tokens of all others', () => {
  const { documents } = charged();
  const { loc } = documents.parse('{ a b }', { charge() {} });
  expect([loc?.start, loc?.end, loc?.startToken.next, loc?.endToken.prev]).toEqual([0, 7, null, null]);
});

test.each([
  ['that cannot be parsed', '{ a '],
  ['that is not valid', '{ x }'],
  ['over a limit', `{ ${'a '.repeat(1000)} }`],
])('a document %s is charged each time', (_what, text) => {
  const { charges, read } = charged();
  expect([read(text), read(text), read(text)]).toEqual([false, false, false]);
  expect(charges).toEqual([1, 2, 3].map(() => text.length * valuesPerCharacter));
});

test('a document that does not fit a later schema is charged each time', () => {
  const { charges, read } = charged();
  expect(read('{ b }')).toBe(true);
  const later = buildSchema('type Query { a: Int }');
  expect([read('{ b }', later), read('{ b }', later)]).toEqual([false, false]);
  expect(charges).toHaveLength(3);
});

test('a caller without values left gets no document parsed', () => {
  const documents = new Documents();
  const request = {
    charge(): void {
      throw new PortolanError('TOO_MANY_REQUESTS', 'Wait.', { details: { limit: 1 } });
    },
  };
  expect(() => documents.parse('{ never closed', request)).toThrow(
    expect.objectContaining({ extensions: expect.objectContaining({ code: 'TOO_MANY_REQUESTS', limit: 1 }) }),
  );
});

test('only the first errors of a document are looked for', () => {
  const { documents } = charged();
  const names = Array.from({ length: 500 }, (_, at) => `x${at}`).join(' ');
  const errors = documents.validate(schema, documents.parse(`{ ${names} }`, { charge() {} }));
  expect(errors.length).toBeLessThan(20);
});
