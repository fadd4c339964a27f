import fc from 'fast-check';
import { RE2JS } from 're2js';
import { describe, expect, test } from 'vitest';
import { must } from '../../base/must.ts';
import { ecmaPattern } from './ecma-pattern.ts';

/** Parts of RE2 that real definitions use, and others with another meaning in ECMA-262. */
const part = fc.constantFrom(
  ...String.raw`a B \d \w \s \S . [a-z] [^a-z] [[:alnum:]_] [\w\.\-] []a] [a\]] [[] \_ \- \@ \. \/ \$ \{ {a a{2} a{1,} (b) (?:c) (?P<n>d) a? b* c+ | ^ $ \A \z \pL \p{Lu} \x41 \x{42}`.split(
    ' ',
  ),
);

describe('patterns for ECMA-262', () => {
  test('match as those of RE2', () => {
    fc.assert(
      fc.property(
        fc.tuple(fc.constantFrom('', '(?i)'), fc.array(part, { minLength: 1, maxLength: 5 })),
        fc.array(fc.string({ unit: fc.constantFrom(...'aAbBc1_-@./$', ...'{}] äÄ\t\n') }), {
          minLength: 5,
          maxLength: 20,
        }),
        ([flags, parts], texts) => {
          const pattern = flags + parts.join('');
          let oracle: RE2JS;
          try {
            oracle = RE2JS.compile(pattern);
          } catch {
            return;
          }
          const made = ecmaPattern(pattern);
          // Two groups of one name are an error in both.
          if (made === null && /\(\?P<n>.*\(\?P<n>/.test(pattern)) return;
          const ours = new RegExp(must(made, `a pattern for ${pattern}`), 'u');
          for (const text of texts)
            expect([pattern, text, ours.test(text)]).toEqual([pattern, text, oracle.matcher(text).find()]);
        },
      ),
      { numRuns: 500 },
    );
  });

  test('are null where there is none', () => {
    expect([String.raw`\Qa.b\E`, 'a(?i)b', '('].map(ecmaPattern)).toEqual([null, null, null]);
  });
});
