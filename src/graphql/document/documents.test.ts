import { buildSchema } from 'graphql';
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
        documents.validate(
          on,
          documents.parse(text, (values) => void charges.push(values)),
        ).length === 0
      );
    } catch {
      return false;
    }
  };
  return { documents, charges, read };
}

test('a valid document is charged once by its length, and then kept', () => {
  const { charges, read } = charged();
  expect([read('{ a }'), read('{ a }'), read('{ a b }')]).toEqual([true, true, true]);
  expect(charges).toEqual([5 * valuesPerCharacter, 7 * valuesPerCharacter]);
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

test('a document that does not fit a later schema is charged again', () => {
  const { charges, read } = charged();
  expect(read('{ b }')).toBe(true);
  const later = buildSchema('type Query { a: Int }');
  expect([read('{ b }', later), read('{ b }', later)]).toEqual([false, false]);
  expect(charges).toHaveLength(2);
});

test('a caller without values left gets no document parsed', () => {
  const documents = new Documents();
  const refuse = (): void => {
    throw new PortolanError('TOO_MANY_REQUESTS', 'Wait.', { details: { limit: 1 } });
  };
  expect(() => documents.parse('{ never closed', refuse)).toThrow(
    expect.objectContaining({ extensions: expect.objectContaining({ code: 'TOO_MANY_REQUESTS', limit: 1 }) }),
  );
});

test('only the first errors of a document are looked for', () => {
  const { documents } = charged();
  const names = Array.from({ length: 500 }, (_, at) => `x${at}`).join(' ');
  const errors = documents.validate(
    schema,
    documents.parse(`{ ${names} }`, () => {}),
  );
  expect(errors.length).toBeLessThan(20);
});
