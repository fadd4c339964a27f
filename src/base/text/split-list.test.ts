import fc from 'fast-check';
import { expect, test } from 'vitest';
import { splitList } from './split-list.ts';

test.each<[string, readonly string[]]>([
  ['', ['']],
  ['a', ['a']],
  ['a,b,,c', ['a', 'b', '', 'c']],
  ['a=max(b, c),d["x,y"]', ['a=max(b, c)', 'd["x,y"]']],
  ['a[b="],"],c', ['a[b="],"]', 'c']],
  ["'a,\\',',b", ["'a,\\','", 'b']],
  ['a),b],c', ['a)', 'b]', 'c']],
  ['a(b,c', ['a(b,c']],
  ['a,"b,c', ['a', '"b,c']],
  ['a,"b,c\\', ['a', '"b,c\\']],
])('%j is split into %j', (text, expected) => {
  expect(splitList(text).map((part) => part.text)).toEqual(expected);
});

test('the parts are where they say, with a comma between them', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'a,()[]"\'\\') }), (text) => {
      const parts = splitList(text);
      expect(parts.map((part) => part.text).join(',')).toBe(text);
      for (const part of parts) expect(text.startsWith(part.text, part.at)).toBe(true);
    }),
  );
});
