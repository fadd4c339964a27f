import fc from 'fast-check';
import { expect, test } from 'vitest';
import { joinDeepParts, takeDeepParts, withoutDeepParts } from './deep-parts.ts';
import { createRedaction } from './redaction.ts';

/** `inner` below that many levels of lists and objects. */
function below(levels: number, inner: string): string {
  const opened = Array.from({ length: levels }, (_, level) => (level % 2 === 0 ? '{"[\\"{":' : '['));
  const closed = opened.map((open) => (open === '[' ? ']' : '}')).reverse();
  return `${opened.join('')}${inner}${closed.join('')}`;
}

const inner = fc.oneof(
  fc.json({ maxDepth: 4, noUnicodeString: false }),
  fc.constantFrom('[[1],{}]', '{"a":"]}\\\\"}', '[]', '{}', '"[{"', '9007199254740993', '[{"0":[0],"0":[1]}]'),
);

test('a text without its deep parts has every value that is not as deep, and joined it is the same value', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.integer({ min: 0, max: 206 }), inner), { maxLength: 4 }), (values) => {
      const text = `{${values.map(([levels, each], at) => `"f${at}":${below(levels, each)}`).join(',')}}`;
      const cut = JSON.parse(withoutDeepParts(text));
      for (const [at, [levels, each]] of values.entries()) {
        if (levels < 190) expect(cut[`f${at}`]).toEqual(JSON.parse(below(levels, each)));
      }
      const { text: shallow, parts } = takeDeepParts(text);
      expect(JSON.parse(joinDeepParts(JSON.parse(shallow), parts))).toEqual(JSON.parse(text));
    }),
  );
});

test('lists and objects are cut at one level', () => {
  expect(withoutDeepParts(below(199, '[1]'))).toBe(below(199, '[1]'));
  expect(withoutDeepParts(below(200, '[1]'))).toBe(below(200, '[]'));
  expect(withoutDeepParts(below(200, '{"a":[1]}'))).toBe(below(200, '{}'));
  expect(withoutDeepParts(below(200, '7'))).toBe(below(200, '7'));
});

test('a text of 10,000 levels loses what is redacted, and nothing else', () => {
  const deep = below(9_990, '9007199254740993');
  const text = `{"metadata":{"managedFields":[${deep}],"name":"a"},"spec":{"list":[{"token":${deep}},{"n":1e2}],"deep":${deep}}}`;
  expect(createRedaction(['spec.list[].token']).inJavaScript(text)).toBe(
    `{"metadata":{"name":"a"},"spec":{"list":[{},{"n":1e2}],"deep":${deep}}}`,
  );
});
