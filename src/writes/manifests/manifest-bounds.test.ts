import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { refusal } from '../../../test/kit/refusal.ts';
import { ManifestBudget, manifestBounds } from './manifest-bounds.ts';
import { manifestsOfJson, manifestsOfYaml } from './read-manifests.ts';

const head = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n';

/** Reads a text of as many items as the bound of tokens allows, and prints the number of its tokens. The item is the last argument. */
const readsDensest = `
  import { ManifestBudget, manifestBounds } from ${JSON.stringify(new URL('./manifest-bounds.ts', import.meta.url).href)};
  import { manifestsOfYaml } from ${JSON.stringify(new URL('./read-manifests.ts', import.meta.url).href)};
  class Counted extends ManifestBudget {
    tokens = 0;
    token() {
      this.tokens += 1;
      super.token();
    }
  }
  const text = (count) => ${JSON.stringify(head)} + 'v: [' + process.argv.at(-1).repeat(count) + '1]';
  const tokensOf = (count) => {
    const budget = new Counted(manifestBounds);
    manifestsOfYaml(text(count), budget);
    return budget.tokens;
  };
  const each = (tokensOf(200) - tokensOf(100)) / 100;
  const budget = new Counted(manifestBounds);
  const made = manifestsOfYaml(text(Math.floor((manifestBounds.tokens * 0.99) / each)), budget);
  console.log(JSON.stringify({ tokens: budget.tokens, bytes: JSON.stringify(made).length }));
`;

describe('bounds', () => {
  const object = (name: string): string => `{"apiVersion":"v1","kind":"A","metadata":{"name":"${name}"}}`;
  const nested = (levels: number, open: string, close: string): string => open.repeat(levels) + close.repeat(levels);
  const limitOf = (text: string): unknown => refusal(() => manifestsOfYaml(text)).details.limit;

  test('are the same for all and cannot be changed', () => {
    expect(Object.isFrozen(manifestBounds)).toBe(true);
  });

  test('a text at each bound is read, and beyond it refused', () => {
    const { bytes, objects, levels, aliases } = manifestBounds;
    const fill = (more: number): string =>
      `${head}v: ${'é'.repeat(Math.floor((bytes - head.length - 'v: '.length) / 2) + more)}`;
    expect(manifestsOfYaml(fill(0))).toHaveLength(1);
    expect(limitOf(fill(1))).toBe('bytes');
    expect(manifestsOfYaml(object('a').repeat(objects))).toHaveLength(objects);
    expect(limitOf(object('a').repeat(objects + 1))).toBe('objects');
    expect(manifestsOfYaml(`${object('a')}\n---\n`.repeat(objects))).toHaveLength(objects);
    expect(limitOf(`${object('a')}\n---\n`.repeat(objects + 1))).toBe('objects');
    const list = (count: number): string => `apiVersion: v1\nkind: List\nitems:\n${`- ${object('a')}\n`.repeat(count)}`;
    expect(manifestsOfYaml(list(objects))).toHaveLength(objects);
    expect(limitOf(list(objects + 1))).toBe('objects');
    for (const [open, close] of [
      ['[', ']'],
      ['{a: ', '}'],
    ] as const) {
      expect(manifestsOfYaml(`${head}v: ${nested(levels - 1, open, close)}`)).toHaveLength(1);
      expect(limitOf(`${head}v: ${nested(levels, open, close)}`)).toBe('levels');
    }
    expect(manifestsOfYaml(`${head}w: &a 1\nv: [${'*a, '.repeat(aliases)}]`)).toHaveLength(1);
    expect(limitOf(`${head}w: &a 1\nv: [${'*a, '.repeat(aliases + 1)}]`)).toBe('aliases');
  });

  test('of depth hold for block collections, JSON and JSON values', () => {
    const { levels } = manifestBounds;
    expect(manifestsOfYaml(`${head}v:\n  ${'- '.repeat(levels - 1)}a`)).toHaveLength(1);
    expect(limitOf(`${head}v:\n  ${'- '.repeat(levels)}a`)).toBe('levels');
    const json = (depth: number): string => object('a').replace('}}', `},"v":${nested(depth, '[', ']')}}`);
    expect(manifestsOfYaml(json(levels - 1))).toHaveLength(1);
    expect(limitOf(json(levels))).toBe('levels');
    expect(manifestsOfJson(JSON.parse(json(levels - 1)))).toHaveLength(1);
    expect(refusal(() => manifestsOfJson(JSON.parse(json(levels)))).details.limit).toBe('levels');
  });

  test('of objects and values hold for JSON values', () => {
    const { objects, values } = manifestBounds;
    const list = (count: number): object => ({
      apiVersion: 'v1',
      kind: 'List',
      items: Array<unknown>(count).fill(JSON.parse(object('a'))),
    });
    expect(manifestsOfJson(list(objects))).toHaveLength(objects);
    expect(refusal(() => manifestsOfJson(list(objects + 1))).details.limit).toBe('objects');
    const wide = { apiVersion: 'v1', kind: 'A', metadata: { name: 'a' }, v: Array<number>(values).fill(0) };
    expect(refusal(() => manifestsOfJson(wide)).details.limit).toBe('values');
  });

  test('of characters hold for copies', () => {
    const { characters } = manifestBounds;
    const part = 'x'.repeat(characters / 96);
    const known = 'apiVersionv1kindConfigMapmetadatanameawv'.length;
    const copies = (count: number, rest: number): string =>
      `${head}w: &w ${part}\nv: [${'*w, '.repeat(count)}${'x'.repeat(rest)}]`;
    expect(manifestsOfYaml(copies(94, part.length - known))).toHaveLength(1);
    expect(limitOf(copies(94, part.length - known + 1))).toBe('characters');
    const json = { apiVersion: 'v1', kind: 'A', metadata: { name: 'a' }, v: Array<string>(97).fill(part) };
    expect(refusal(() => manifestsOfJson(json)).details.limit).toBe('characters');
  });

  test('hold for all that one budget counts', () => {
    const text = `${head}v: ${'x'.repeat(manifestBounds.bytes / 2)}`;
    const budget = new ManifestBudget(manifestBounds);
    expect(manifestsOfYaml(text, budget)).toHaveLength(1);
    expect(refusal(() => manifestsOfYaml(text, budget)).details.limit).toBe('bytes');
  });

  test('are those that the caller gives', () => {
    expect(
      refusal(() => manifestsOfYaml(`${head}v: 12345`, new ManifestBudget({ ...manifestBounds, bytes: 20 }))).message,
    ).toBe('The text has more than 20 bytes, the most that is read at once. Send it in parts.');
    expect(
      refusal(() => manifestsOfJson({ a: [] }, new ManifestBudget({ ...manifestBounds, levels: 1 }))).message,
    ).toBe('A value nests deeper than 1 levels, the most that are read. Nest it less.');
  });
});

test.each(['{}, ', '[],', "'',", '{a: },', '!a {},', '{a: {a: {}}},'])(
  'the densest text of %j within the bounds needs a third of the heap of a thread',
  (item) => {
    // In a process of its own: V8 ends it beyond its heap.
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      ['--max-old-space-size=256', '--max-semi-space-size=16', '--input-type=module', '--eval', readsDensest, item],
      { encoding: 'utf8' },
    );
    expect([status, stderr.match(/FATAL.*/)?.[0]]).toEqual([0, undefined]);
    const { tokens, bytes } = JSON.parse(stdout) as Record<string, number>;
    expect(tokens).toBeGreaterThan(0.95 * manifestBounds.tokens);
    expect(bytes).toBeGreaterThan(0);
  },
);

describe('hostile texts', () => {
  const size = manifestBounds.bytes;
  const laughs = (open: string, close: string, key: string): string =>
    Array.from({ length: 11 }, (_, level) => {
      const inner = level === 0 ? 'x' : `*l${level - 1}`;
      return `l${level}: &l${level} ${open}${Array.from({ length: 9 }, (_, at) => `${key.replace('#', String(at))}${inner}`).join(', ')}${close}\n`;
    }).join('');
  const texts: Readonly<Record<string, string>> = {
    'a billion laughs as lists': head + laughs('[', ']', ''),
    'a billion laughs as objects': head + laughs('{', '}', 'k#: '),
    'aliases that merge': `${head}l0: &l0 {a: 1}\n${Array.from({ length: 49 }, (_, at) => `l${at + 1}: &l${at + 1} {<<: [*l${at}, *l${at}]}\n`).join('')}`,
    'aliases of one great list': `${head}w: &w [${'x, '.repeat(90_000)}]\nv: [${'*w, '.repeat(99)}]`,
    'aliases of one long text': `${head}w: &w ${'x'.repeat(70_000)}\nv: [${'*w, '.repeat(99)}]`,
    'many anchors and aliases': `${head}v:\n${Array.from({ length: 100_000 }, (_, at) => `- &a${at} *a${at - 1}\n`).join('')}`,
    brackets: '['.repeat(size),
    braces: '{'.repeat(size),
    'brackets in JSON': `{"a":${'['.repeat(size - 5)}`,
    'braces in JSON': '{"a":'.repeat(size / 5),
    dashes: '- '.repeat(size / 2),
    'question marks': '? '.repeat(size / 2),
    colons: ': '.repeat(size / 2),
    'closing brackets': ']'.repeat(size),
    commas: `[${','.repeat(size - 1)}`,
    quotes: '"'.repeat(size),
    'open quotes': 'a: "b\n'.repeat(size / 6),
    backslashes: `{"${'\\'.repeat(size - 2)}`,
    'unknown tags': 'a: !x\n'.repeat(size / 6),
    items: '- a\n'.repeat(size / 4),
    'zeros in JSON': `{"a":[${'0,'.repeat(size / 2 - 5)}0]}`,
    'null documents': 'null\n---\n'.repeat(size / 9),
    'empty lines of a text': `a: |1\n b\n${'\n'.repeat(size - 10)}`,
    'a line of spaces': `a: b${' '.repeat(size - 6)}c`,
    'a number of a million digits': `${head}v: ${'9'.repeat(1_000_000)}x: `,
  };

  test.each(Object.keys(texts))('%s', (name) => {
    const text = texts[name] ?? '';
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(size);
    expect(refusal(() => manifestsOfYaml(text)).message.length).toBeLessThan(1000);
  });

  test('a hundred thousand separators are no objects', () => {
    expect(manifestsOfYaml('---\n'.repeat(100_000))).toEqual([]);
    expect(manifestsOfYaml('# a\n---\n'.repeat(size / 8))).toEqual([]);
  });

  test('forty thousand keys are looked up', () => {
    const keys = Array.from({ length: 40_000 }, (_, at) => `k${at}: 1\n`).join('');
    expect(refusal(() => manifestsOfYaml(`${head + keys}k0: 1\n`)).message).toContain('There is a second key "k0"');
  });

  test('a number of a million digits is text in YAML', () => {
    expect(manifestsOfYaml(`${head}v: ${'9'.repeat(1_000_000)}`)[0]?.object.v).toHaveLength(1_000_000);
  });
});
