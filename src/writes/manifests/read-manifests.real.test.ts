/**
 * kubectl reads the same. `kubectl annotate --local` reads manifests, adds an annotation, and writes the objects without an API server.
 *
 * Numbers are compared as doubles, because kubectl writes integers beyond 64 bits as doubles.
 */
import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { describeOn, mainServer } from '../../../test/kit/real-servers.ts';
import { refusal } from '../../../test/kit/refusal.ts';
import { manifestsOfYaml } from './read-manifests.ts';

const head = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n';
const named = (name: string): string => `{"apiVersion": "v1", "kind": "A", "metadata": {"name": "${name}"}}`;

const scalars = [
  ...[
    '',
    '~',
    'null',
    'Null',
    'nUll',
    'yes',
    'Yes',
    'yEs',
    'y',
    'n',
    'N',
    'on',
    'Off',
    'true',
    'False',
    '"yes"',
    "'no'",
  ],
  ...['0644', '0o644', '-010', '089', '0x1F', '0XAB', '0b101', '-0b11', '+12', '-0', '1_000', '_1', '1__', '0x', '0b2'],
  ...[
    '1.0',
    '1.',
    '.5',
    '.5_1',
    '._5',
    '-.5',
    '+.5e1',
    '1e3',
    '1E-3',
    '1e400',
    '-1.5e-400',
    '12:30:45',
    '1.2.3',
    '0.1',
  ],
  ...[
    '9007199254740993',
    '-9223372036854775808',
    '-9223372036854775809',
    '18446744073709551615',
    '99999999999999999999',
  ],
  ...['0x1fffffffffffffff', '0x1ffffffffffffffff', '0777777777777777777777777', '1e21', '123456789.123456789'],
  ...['2026-01-31', '2026-1-1', '2026-01-31T08:15:00Z', '2026-01-31 08:15:00', '2026-99-99', '<<', '=', '--', '+', '.'],
  ...[
    '!!str 12',
    '!!int "12"',
    '!!float 1',
    '!!bool "on"',
    '!!null ""',
    '!!binary aGVsbG8=',
    '!mine yes',
    '! yes',
    '!!timestamp 2026-01-31',
  ],
  ...['"\\x41\\u00e9\\n"', "'it''s'", '"a\n  b\n\n  c"', "'a\n  b'", 'a\n  b\n\n  c', 'a # b', 'a#b', '"a" # b'],
  ...['|\n  a\n   b\n', '|-\n  a\n', '|+\n  a\n\n', '>\n  a\n  b\n\n   c\n  d\n', '>-\n  a\n', '|2\n   a\n', '|\n  a'],
  ...[
    '|\n  a\n    \n',
    '|+\n  a\n    \n\n',
    '|1\n  a\n   \nw: 1',
    '|\n  \n',
    '|\n  # a\n',
    '# a\n  b',
    '&a',
    '&a |\n  b\n',
  ],
  ...[
    '[a, [b, {c: d}], ]',
    '{a, b: , "c": d, ? e : f}',
    '[a: b]',
    '\n- a\n-\n- - b\n  - c\n- d: e\n  f: g',
    '\n  ? a\n  : b',
  ],
] as const;

const bodies = [
  'yes: 1\n0644: 2\n1.50: 3\n1e6: 4\n3.14159265358979: 5\n.inf: 6\n2026-01-31: 7\n-5: 8\n0.00001: 9\n',
  'base: &b {a: 1, b: 2}\nv: {<<: *b, a: 3}\nw: {a: 3, <<: *b}\nx: [*b, *b]\n',
  'v: {<<: [{a: 1}, {a: 2, b: 2}], c: 3}\nw: {"<<": {a: 1}}\nx: {!!merge "<<": {a: 1}}\n',
  'a: &a 1\nb: &a 2\nc: *a\nd: [*a, &a 3, *a]\n? *a\n: e\n',
  'constructor: {a: 1}\ntoString: b\nhasOwnProperty: c\n',
  '"😀": "日本"\nü: ö\n',
  'é: |\n  tab\there\n',
] as const;

const texts = [
  `---\n# a\n---\n\n${head}...\n--- # next\n${head}---\nnull\n---\n`,
  `\ufeff${head}v: |\n  b\n  c\n`.replaceAll('\n', '\r\n'),
  named('a'),
  `${named('a')}${named('b')} \n${named('c')}`,
  `${named('a')}\n---\n${named('b')}\n---\n${head}`,
  '{apiVersion: v1, kind: A, metadata: {name: a}}',
  '{"apiVersion": "v1", "kind": "A", "metadata": {"name": "a",},}',
  '{"apiVersion":"v1","kind":"A","metadata":{"name":"a"},"v":["\\ud83d\\ude00\\/",1.0,-0,1e2,9007199254740993,1e21]}',
  `apiVersion: v1\nkind: List\nitems:\n- ${named('a')}\n- ${named('b')}\n`,
  'apiVersion: v1\nkind: PodList\nitems:\n- metadata: {name: a}\n- {apiVersion: v2, kind: Other, metadata: {name: b}}\n',
  `${head}---\napiVersion: v1\nkind: List\nitems: []\n`,
] as const;

const refusedByBoth = [
  ...[
    '.inf',
    '-.INF',
    '.nan',
    '!!int a',
    '!!int 1.5',
    '!!bool 1',
    '!!null a',
    '!!binary a',
    '*b',
    '&b [*b]',
    '"\\q"',
    '-',
  ].map((text) => `${head}v: ${text}\n`),
  ...[
    '~: 1',
    '18446744073709551615: 1',
    '[a]: 1',
    'v: {<<: 1}',
    'v: [',
    'v: "a',
    'v: a: b',
    'v: @a',
    '\tv: a',
    'v: \u0007',
  ].map((text) => `${head}${text}\n`),
  `${head}--- {a: b}\n`,
  `%YAML 1.1\n---\n${head}`,
  `${named('a')}${named('b')}\n---\n${head}`,
  'a',
  '- a',
  'apiVersion: v1\nmetadata: {name: a}\n',
  '[]',
] as const;

/** kubectl takes the last of two keys, forgets documents after a line `...`, and reads the bytes of a `!!binary` as text. */
const refusedHereOnly = [
  `${head}kind: Pod\n`,
  `${head}v: {1: a, "1": b}\n`,
  `${head}...\n${head}`,
  `${head}v: !!binary /w==\n`,
  `${head}__proto__: {a: 1}\n`,
  `${head}v: "a\u2028b"\n`,
  `${head}v: >\n  a\n    \n`,
] as const;

describeOn([mainServer], 'kubectl reads the same manifests', { timeout: 300_000, needs: ['kubectl'] }, (server) => {
  /** The objects that kubectl reads. Throws if it refuses the text. */
  function readByKubectl(text: string): unknown[] {
    const written = execFileSync(
      server.assets.path('kubectl'),
      ['annotate', '--local', '--kubeconfig=/dev/null', '--filename=-', '--output=json', 'read-by=kubectl'],
      { input: text, encoding: 'utf8', stdio: 'pipe' },
    );
    return written
      .split(/^(?=\{)/m)
      .filter(Boolean)
      .map((object) => JSON.parse(object) as unknown);
  }

  function readHere(text: string): unknown[] {
    return manifestsOfYaml(text).map(({ object }) => {
      const read = JSON.parse(JSON.stringify(object)) as { metadata: object };
      return { ...read, metadata: { ...read.metadata, annotations: { 'read-by': 'kubectl' } } };
    });
  }

  test.each([...scalars.map((text) => `${head}v: ${text}`), ...bodies.map((body) => head + body), ...texts])(
    '%j',
    (text) => {
      const expected = readByKubectl(text);
      expect(expected.length).toBeGreaterThan(0);
      expect(readHere(text)).toEqual(expected);
    },
  );

  test.each(refusedByBoth)('both refuse %j', (text) => {
    expect(() => readByKubectl(text)).toThrow(/error/);
    refusal(() => manifestsOfYaml(text));
  });

  test.each(refusedHereOnly)('only kubectl reads %j', (text) => {
    expect(readByKubectl(text).length).toBe(1);
    refusal(() => manifestsOfYaml(text));
  });
});
