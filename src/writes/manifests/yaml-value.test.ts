import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { refusal } from '../../../test/kit/refusal.ts';
import { manifestsOfJson, manifestsOfYaml } from './read-manifests.ts';

const head = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n';

/** The object of a text with one document, through JSON. */
function read(text: string): Record<string, unknown> {
  const manifests = manifestsOfYaml(text);
  expect(manifests).toHaveLength(1);
  return JSON.parse(JSON.stringify(manifests[0]?.object)) as Record<string, unknown>;
}

const refusalOf = (text: string): string => refusal(() => manifestsOfYaml(text)).message;

describe('anchors and merge keys', () => {
  test.each([
    ['base: &b {a: 1, b: 2}\nv: {<<: *b, a: 3}', { a: 3, b: 2 }],
    ['base: &b {a: 1, b: 2}\nv: {a: 3, <<: *b}', { a: 1, b: 2 }],
    ['v: {<<: [{a: 1}, {a: 2, b: 2}], c: 3}', { a: 1, b: 2, c: 3 }],
    ['base: &b {<<: {a: 1}, b: 2}\nv: {<<: *b, !!merge "<<": {c: 3}}', { a: 1, b: 2, c: 3 }],
    ['v: {"<<": {a: 1}}', { '<<': { a: 1 } }],
    ['base: &b 1\nw: &b 2\nv: *b', 2],
    ['base: &b 1\nv: [*b, &b 2, *b]', [1, 2, 2]],
    ['base: &b name\nv: {*b : 1}', { name: 1 }],
    ['base: &b [&c x]\nw: &c z\nv: [*b, *c]', [['x'], 'z']],
  ])('%j', (text, expected) => {
    expect(read(`${head}${text}\n`).v).toEqual(expected);
  });

  test('each alias gives a copy', () => {
    const object = manifestsOfYaml(`${head}base: &b {a: 1}\nv: *b\n`)[0]?.object;
    expect(object?.v).toEqual(object?.base);
    expect(object?.v).not.toBe(object?.base);
  });

  test.each([
    ['v: *b', 'There is no anchor &b before the alias at line 4, column 4. Add the anchor.'],
    ['v: &b [*b]', 'The anchor &b contains itself at line 4, column 8. Remove the alias.'],
    ['v: &b {<<: *b}', 'The anchor &b contains itself at line 4, column 12. Remove the alias.'],
    ['v: {<<: 1}', 'The merge key << has no object at line 4, column 5. Give it aliases of objects.'],
    ['w: &b [1]\nv: {<<: *b}', 'The merge key << has no object at line 5, column 5. Give it aliases of objects.'],
  ])('%j is refused', (text, message) => {
    expect(refusalOf(`${head}${text}\n`)).toBe(message);
  });

  test('an anchor of another document is not known', () => {
    expect(refusalOf(`${head}v: &b 1\n---\n${head}v: *b\n`)).toContain('There is no anchor &b');
  });
});

describe('what is written is read', () => {
  const odd = [
    'yes',
    'No',
    'y',
    '~',
    'null',
    '',
    ' ',
    '0644',
    '0o17',
    '0x1F',
    '1_000',
    '089',
    '1e3',
    '.5',
    '.inf',
    '-',
    '---',
    '<<',
    '*a',
    '&a',
    '!a',
    '#',
    'a: b',
    'a #b',
    '2026-01-31',
    '12:30',
    'a\nb',
    'a\n\n',
    '\n',
    '\ta',
    'a\t\n',
    ' a\n',
    'a\n  \n',
    '"',
    "'",
    '{',
    '[',
    '|',
    '>',
    '%',
    '@',
    '`',
    '\u0007',
    '😀',
    '\ufeff',
  ];
  const text = fc
    .oneof(
      fc.constantFrom(...odd),
      fc.string(),
      fc.string({ unit: 'binary' }),
      fc.string({ unit: fc.constantFrom('a', ' ', '\n', ':', '#', '-', '0', "'", '"') }),
    )
    .filter((each) => each !== '__proto__');
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.constantFrom(null, true, false),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.integer(),
      text,
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(text, tie('value'), { maxKeys: 4 }),
    ),
  }));
  const object = fc.record({ spec: value, text }).map(({ spec, text: name }) => ({
    apiVersion: 'v1',
    kind: 'A',
    metadata: { name: 'a', annotations: { name } },
    // Minus zero is zero in JSON.
    spec: JSON.parse(JSON.stringify(spec)) as unknown,
  }));

  /** The writer leaves characters as they are that YAML does not allow. */
  const notAllowed = /(?![\t\n])\p{Cc}|[\u2028\u2029\ufeff\ufffe\uffff]|\p{Cs}/gu;
  const asYaml = (written: string): string =>
    written.replace(notAllowed, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`);
  const always = { version: '1.1', compat: 'core' } as const;
  const styles: Readonly<Record<string, (value: unknown) => string>> = {
    JSON: (each) => JSON.stringify(each),
    'indented JSON': (each) => JSON.stringify(each, null, 2),
    'JSON as YAML': (each) => `--- # JSON\n${asYaml(JSON.stringify(each, null, 2))}`,
    'double quotes': (each) =>
      asYaml(stringify(each, { ...always, defaultStringType: 'QUOTE_DOUBLE', defaultKeyType: 'QUOTE_DOUBLE' })),
    block: (each) => stringify(each, always),
    'block, indented lists': (each) => stringify(each, { ...always, indent: 4, indentSeq: true, lineWidth: 20 }),
    'block, lists at the key': (each) => stringify(each, { ...always, indentSeq: false, lineWidth: 0 }),
    flow: (each) => stringify(each, { ...always, collectionStyle: 'flow' }),
    'single quotes': (each) => stringify(each, { ...always, singleQuote: true, defaultStringType: 'QUOTE_SINGLE' }),
    folded: (each) =>
      stringify(each, { ...always, defaultStringType: 'BLOCK_FOLDED', defaultKeyType: 'PLAIN', lineWidth: 20 }),
    literal: (each) => stringify(each, { ...always, defaultStringType: 'BLOCK_LITERAL', defaultKeyType: 'PLAIN' }),
  };

  /** The writer does not quote all that needs it: it writes a key << and some texts so that its own reader cannot read them back. */
  function isWell(written: string, value: unknown): boolean {
    try {
      return !notAllowed.test(written) && isDeepStrictEqual(parse(written, { version: '1.1' }), value);
    } catch {
      return false;
    } finally {
      notAllowed.lastIndex = 0;
    }
  }

  test.each(Object.keys(styles))('in the style %s', (name) => {
    const write = styles[name] ?? JSON.stringify;
    fc.assert(
      fc.property(object, (each) => {
        const written = write(each);
        if (!/JSON/.test(name)) fc.pre(isWell(written, each));
        expect(read(written)).toEqual(each);
      }),
      { numRuns: 300 },
    );
  });

  test('as a value', () => {
    fc.assert(
      fc.property(object, (each) => {
        expect(manifestsOfJson(each)[0]?.object).toEqual(each);
      }),
    );
  });
});
