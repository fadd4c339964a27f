import { describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { refusal } from '../../../test/kit/refusal.ts';
import { type Manifest, manifestsOfJson, manifestsOfYaml } from './read-manifests.ts';

const head = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n';

const refusalOf = (text: string): string => refusal(() => manifestsOfYaml(text)).message;
const summary = (manifests: readonly Manifest[]): string[] =>
  manifests.map(({ kind, name, place }) => `${kind} ${name}: ${place}`);

describe('documents', () => {
  const named = (name: string): string => `apiVersion: v1\nkind: A\nmetadata: {name: ${name}}\n`;

  test('empty documents are skipped, and each other has its number and its first line', () => {
    const text = `---\n# a comment\n---\n\n${named('a')}...\n--- # next\n# why\n${named('b')}---\n---   \nnull\n---\n${named('c')}---\n`;
    expect(summary(manifestsOfYaml(text))).toEqual([
      'A a: document 1, line 5',
      'A b: document 2, line 11',
      'A c: document 4, line 18',
    ]);
  });

  test.each(['', '\n', '# only a comment', '---', '---\n---\n', 'null', '\ufeff'])('%j has no objects', (text) => {
    expect(manifestsOfYaml(text)).toEqual([]);
  });

  test('line breaks of other systems and a byte order mark change nothing', () => {
    const text = `${named('a')}v: |\n  b\n  c\n---\n${named('b')}`;
    const expected = manifestsOfYaml(text);
    expect(manifestsOfYaml(`\ufeff${text.replaceAll('\n', '\r\n')}`)).toEqual(expected);
    expect(manifestsOfYaml(text.replaceAll('\n', '\r').replace('\r---\r', '\r\n---\n'))).toEqual(expected);
  });

  test.each([
    ['{"apiVersion":"v1","kind":"A","metadata":{"name":"a"}}', ['A a: document 1, line 1']],
    [
      '\n{"apiVersion":"v1","kind":"A","metadata":{"name":"a"}}{"apiVersion":"v1","kind":"A",\n"metadata":{"name":"b"}}\n\n{"apiVersion":"v1","kind":"A","metadata":{"name":"c"}}',
      ['A a: document 1, line 2', 'A b: document 2, line 2', 'A c: document 3, line 5'],
    ],
    [
      '{"apiVersion":"v1","kind":"A","metadata":{"name":"a"}}\n---\n{"apiVersion":"v1","kind":"A","metadata":{"name":"b"}}\n---\napiVersion: v1\nkind: A\nmetadata: {name: c}\n',
      ['A a: document 1, line 1', 'A b: document 2, line 3', 'A c: document 3, line 5'],
    ],
    ['{apiVersion: v1, kind: A, metadata: {name: a}}', ['A a: document 1, line 1']],
    ['{"apiVersion": "v1", "kind": "A", "metadata": {"name": "a",},}', ['A a: document 1, line 1']],
  ])('JSON: %j', (text, expected) => {
    expect(summary(manifestsOfYaml(text))).toEqual(expected);
  });

  test('JSON has its own escapes and numbers', () => {
    const text =
      '{"apiVersion":"v1","kind":"A","metadata":{"name":"a"},"v":["\\ud83d\\ude00\\/\\\\\\"",1.0,-0,1e2,true,false,null,[],{},9007199254740993]}';
    expect(JSON.stringify(manifestsOfYaml(text)[0]?.object.v)).toBe(
      '["😀/\\\\\\"",1,0,100,true,false,null,[],{},9007199254740993]',
    );
  });

  test.each([
    ['a: [1\nb: 2\n', /^The text is not YAML: .* at line 2, column 1\. Correct the YAML there\.$/],
    ['---\na: "b\n', /^The text is not YAML: .* at line \d, column \d+\. Correct the YAML there\.$/],
    ['a: b: c\n', /^The text is not YAML: Nested mappings .* at line 1, column 4\./],
    ['%YAML 1.1\n---\na: 1\n', /^The text is not YAML: /],
    [
      'a: 1\n...\nb: 2\n',
      /^A second document begins without a separator at line 3, column 1\. Write a line --- before it\.$/,
    ],
    ['a: 1\n--- b: 2\n', /^Something follows the separator --- at line 2, column 1\. Put it on the next line\.$/],
    [
      'a: \u0007\n',
      /^YAML does not allow the control character at line 1, column 4\. Write it as "\\u0007" in a text in double quotes\.$/,
    ],
    ['a: b\u2028c\n', /^YAML does not allow the control character at line 1, column 5\. Write it as "\\u2028"/],
    ['{"a":1}{"b":2}x', /^The manifest at document 1, line 1 has no apiVersion/],
    [
      '{"apiVersion":"v1","kind":"A","metadata":{"name":"a"}}{"apiVersion":"v1","kind":"A","metadata":{"name":"b"}}\n x',
      /^The text is not JSON at line 2, column 2\./,
    ],
    ['{"a":1,"a":2}', /^There is a second key "a" of the same object at line 1, column 8\. Keep one of the two\.$/],
    ['{"a":1,"\\u0061":2}', /^There is a second key "a"/],
    ['{"a":1e999}', /^A number is too great at line 1, column 6\./],
  ])('%j is refused', (text, message) => {
    expect(refusalOf(text)).toMatch(message);
  });

  test('an error has its line and column for programs too', () => {
    expect(refusal(() => manifestsOfYaml(`${head}v: *b\n`)).details).toEqual({ line: 4, column: 4 });
  });
});

describe('what a manifest has', () => {
  test('its identity, and the whole object', () => {
    expect(
      manifestsOfYaml('apiVersion: apps/v1\nkind: A\nmetadata: {name: a, namespace: ns, generateName: ""}\nspec: {}\n'),
    ).toEqual([
      {
        object: {
          apiVersion: 'apps/v1',
          kind: 'A',
          metadata: { name: 'a', namespace: 'ns', generateName: '' },
          spec: {},
        },
        apiVersion: 'apps/v1',
        kind: 'A',
        namespace: 'ns',
        name: 'a',
        generateName: null,
        place: 'document 1, line 1',
      },
    ]);
    expect(
      manifestsOfJson({ apiVersion: 'v1', kind: 'A', metadata: { generateName: 'a-', namespace: null } })[0],
    ).toMatchObject({
      namespace: null,
      name: null,
      generateName: 'a-',
      place: 'the top level',
    });
  });

  test.each([
    ['a', 'is no object; write an object with apiVersion, kind and metadata'],
    ['- a', 'is no object; write an object with apiVersion, kind and metadata'],
    ['kind: A\nmetadata: {name: a}', 'has no apiVersion; add it, such as apiVersion: v1'],
    ['apiVersion: ""\nkind: A\nmetadata: {name: a}', 'has no apiVersion; add it, such as apiVersion: v1'],
    ['apiVersion: v1\nmetadata: {name: a}', 'has no kind; add it, such as kind: ConfigMap'],
    ['apiVersion: v1\nkind: A', 'has no name; add metadata.name or metadata.generateName'],
    ['apiVersion: v1\nkind: A\nmetadata: {name: ""}', 'has no name; add metadata.name or metadata.generateName'],
    ['apiVersion: v1\nkind: A\nmetadata: [a]', 'has metadata that are no object; write metadata with a name'],
    ['apiVersion: 1\nkind: A\nmetadata: {name: a}', 'has apiVersion 1, which is no text; put it in quotes'],
    ['apiVersion: v1\nkind: yes\nmetadata: {name: a}', 'has kind true, which is no text; put it in quotes'],
    ['apiVersion: v1\nkind: A\nmetadata: {name: 0644}', 'has metadata.name 420, which is no text; put it in quotes'],
    [
      'apiVersion: v1\nkind: A\nmetadata: {name: a, namespace: no}',
      'has metadata.namespace false, which is no text; put it in quotes',
    ],
    [
      'apiVersion: v1\nkind: A\nmetadata: {generateName: 1}',
      'has metadata.generateName 1, which is no text; put it in quotes',
    ],
    ['apiVersion: v1\nkind: List\nitems: 1', 'has no name; add metadata.name or metadata.generateName'],
  ])('%j is refused', (text, problem) => {
    const error = refusal(() => manifestsOfYaml(`---\n${text}\n`));
    expect(error.message).toBe(`The manifest at document 1, line 2 ${problem}.`);
    expect(error.details).toEqual({ place: 'document 1, line 2' });
  });
});

describe('lists', () => {
  test('give their items in order, also those of lists in them', () => {
    const inner = { apiVersion: 'v1', kind: 'List', items: [{ apiVersion: 'v1', kind: 'A', metadata: { name: 'b' } }] };
    const value = {
      apiVersion: 'v1',
      kind: 'List',
      items: [{ apiVersion: 'v1', kind: 'A', metadata: { name: 'a' } }, inner],
    };
    expect(summary(manifestsOfJson(value))).toEqual(['A a: items[0]', 'A b: items[1].items[0]']);
    expect(summary(manifestsOfYaml(`# first\n${stringify(value)}`))).toEqual([
      'A a: document 1, line 2, items[0]',
      'A b: document 1, line 2, items[1].items[0]',
    ]);
  });

  test('of one kind give their kind to the items', () => {
    const items = [{ metadata: { name: 'a' } }, { apiVersion: 'v2', kind: 'Other', metadata: { name: 'b' } }];
    const manifests = manifestsOfJson({ apiVersion: 'v1', kind: 'PodList', items });
    expect(manifests.map(({ object }) => object)).toEqual([
      { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' } },
      { apiVersion: 'v2', kind: 'Other', metadata: { name: 'b' } },
    ]);
  });

  test('an object with items that is no list stays one object', () => {
    expect(summary(manifestsOfJson({ apiVersion: 'v1', kind: 'A', metadata: { name: 'a' }, items: [1] }))).toEqual([
      'A a: the top level',
    ]);
  });

  test('may be empty', () => {
    expect(manifestsOfJson({ apiVersion: 'v1', kind: 'List', items: [] })).toEqual([]);
  });

  test.each([
    [null, 'The manifest at items[0] is no object; write an object with apiVersion, kind and metadata.'],
    [{ metadata: { name: 'a' } }, 'The manifest at items[0] has no apiVersion; add it, such as apiVersion: v1.'],
  ])('refuse the item %j', (item, message) => {
    expect(refusal(() => manifestsOfJson({ apiVersion: 'v1', kind: 'List', items: [item] })).message).toBe(message);
  });
});

describe('JSON values', () => {
  test('keep exact integers, and become a copy', () => {
    const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown };
    const value = {
      apiVersion: 'v1',
      kind: 'A',
      metadata: { name: 'a' },
      v: [9007199254740993n, 3n, rawJSON('9007199254740995'), 1.5],
    };
    const object = manifestsOfJson(value)[0]?.object;
    expect(JSON.stringify(object?.v)).toBe('[9007199254740993,3,9007199254740995,1.5]');
    expect(object).not.toBe(value);
  });

  test.each([
    [{ a: [undefined] }, 'a[0] is no JSON value. Send a string, number, boolean, null, list or object.'],
    [{ a: Number.NaN }, 'a is no JSON value. Send a string, number, boolean, null, list or object.'],
    [{ a: { b: () => 1 } }, 'a.b is no JSON value. Send a string, number, boolean, null, list or object.'],
    ['text', 'The manifest at the top level is no object; write an object with apiVersion, kind and metadata.'],
    [
      [{ kind: 'A' }],
      'The manifest at the top level is no object; write an object with apiVersion, kind and metadata.',
    ],
  ])('%# is refused', (value, message) => {
    expect(refusal(() => manifestsOfJson(value)).message).toBe(message);
  });

  test('that contain themselves are refused', () => {
    const value: Record<string, unknown> = { apiVersion: 'v1', kind: 'A' };
    value.self = value;
    expect(refusal(() => manifestsOfJson(value)).details).toEqual({ limit: 'levels', allowed: 100 });
  });
});

describe('keys of prototypes', () => {
  const withKey = (key: string): string =>
    `{"apiVersion":"v1","kind":"A","metadata":{"name":"a"},"${key}":{"polluted":1}}`;

  test.each(['constructor', 'prototype', 'toString', 'hasOwnProperty', '__defineGetter__', 'valueOf'])(
    '%s is an own property',
    (key) => {
      const json = withKey(key);
      for (const object of [
        manifestsOfYaml(json)[0]?.object,
        manifestsOfYaml(`${head}${key}: {polluted: 1}\n`)[0]?.object,
        manifestsOfYaml(`${head}<<: {${key}: {polluted: 1}}\n`)[0]?.object,
        manifestsOfJson(JSON.parse(json))[0]?.object,
      ]) {
        expect(Object.getOwnPropertyDescriptor(object, key)?.value).toEqual({ polluted: 1 });
        expect(Object.getPrototypeOf(object)).toBe(Object.prototype);
      }
      expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    },
  );

  test('__proto__ is refused wherever it is', () => {
    const json = withKey('__proto__');
    for (const text of [
      json,
      json.replace('__proto__', '\\u005f_proto__'),
      `${head}__proto__: {polluted: 1}\n`,
      `${head}v: [{"__proto__": {polluted: 1}}]\n`,
      `${head}? __proto__\n: 1\n`,
      `${head}<<: {__proto__: {polluted: 1}}\n`,
      `${head}v: &p __proto__\nw: {*p : 1}\n`,
    ])
      expect(refusalOf(text)).toMatch(/^There is the key __proto__ at line \d, column \d+\. Rename or remove it\.$/);
    expect(refusal(() => manifestsOfJson(JSON.parse(json))).message).toBe(
      '__proto__ is a key that is not allowed. Rename or remove it.',
    );
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  test('an inherited name is no name', () => {
    const metadata = Object.create({ name: 'inherited' }) as object;
    expect(refusal(() => manifestsOfJson({ apiVersion: 'v1', kind: 'A', metadata })).message).toContain('has no name');
  });
});
