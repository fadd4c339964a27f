import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runSteps } from '../../base/steps.ts';
import { definitionTexts } from './definition-texts.ts';

const read = (document: string) => runSteps(definitionTexts(document));

describe('the texts of definitions', () => {
  test('are those of a parser, whatever they hold', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 6 }),
        fc.jsonValue(),
        fc.boolean(),
        fc.constantFrom(0, 2),
        (schemas, paths, isV3, indent) => {
          const content = isV3 ? { paths, components: { other: paths, schemas } } : { paths, definitions: schemas };
          const found = read(JSON.stringify(content, null, indent));
          const wanted = Object.entries(JSON.parse(JSON.stringify(schemas)) as object);
          expect([...found].map(([name, text]) => [name, JSON.parse(text) as unknown])).toEqual(wanted);
        },
      ),
    );
  });

  test('have names of every form', () => {
    expect([...read('{"definitions":{"__proto__":{"a":"}\\\\\\""},"a\\u002fb":1}}')]).toEqual([
      ['__proto__', '{"a":"}\\\\\\""}'],
      ['a/b', '1'],
    ]);
  });

  test('are absent in a document without them', () => {
    expect(read('{"openapi":"3.0.0"}').size).toBe(0);
  });

  test.each(['', '[]', '{', '{"a"', '{"a":}}}', '{"a":"', '{"definitions":{"a":1 "b":2}}', 'null'])(
    'are not read from %j',
    (text) => {
      expect(() => read(text)).toThrow('is not an OpenAPI document');
    },
  );

  test('are bounded in their number', () => {
    const many = Array.from({ length: 50_001 }, (_, index) => `"${index}":1`).join();
    expect(() => read(`{"definitions":{${many}}}`)).toThrow('more than 50000 definitions');
  });
});
