import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { deriverOf } from './derive-object.ts';
import { readAbstractKinds } from './read-abstract-kinds.ts';

const member = { resource: 'redises.example.com', columns: { version: 'spec.version' } };
const kind = { name: 'apps', columns: { version: 'String' }, members: [member] };
const withEnum = (values: readonly unknown[]) => ({
  ...kind,
  columns: { version: 'String', x: { type: 'Enum', values } },
});
const health = { status: 'Current', reason: null, message: null, source: 'DEFAULT' } as const;

describe('a wrong part costs itself only', () => {
  test.each([
    ['a kind without a name', { ...kind, name: undefined }, 0, 'number 1'],
    ['a kind without members', { ...kind, members: [] }, 0, 'members'],
    ['a name with a capital', { ...kind, name: 'Apps' }, 0, 'lower case'],
    ['a column of an unknown type', { ...kind, columns: { version: 'String', x: 'Text' } }, 1, 'the column x'],
    ['a column with the name of a field', { ...kind, columns: { version: 'String', health: 'String' } }, 1, 'health'],
    [
      'a column with a letter beyond ASCII',
      { ...kind, columns: { version: 'String', größe: 'String' } },
      1,
      'letter of ASCII',
    ],
    [
      'values of a number',
      { ...kind, columns: { version: 'String', x: { type: 'Int64', values: ['1'] } } },
      1,
      'column x',
    ],
    ['an enum without values', { ...kind, columns: { version: 'String', x: 'Enum' } }, 1, 'column x of'],
    ['an enum with no value', withEnum([]), 1, 'the column x of'],
    ['a value that is no name', withEnum(['a', 'b-c']), 1, '"b-c"'],
    ['a value with a line', withEnum(['a\n']), 1, '"a\\n"'],
    ['a value with a letter beyond ASCII', withEnum(['größe']), 1, '"größe"'],
    ['a value of introspection', withEnum(['__a']), 1, '"__a"'],
    ['a value that GraphQL has', withEnum(['True', 'true']), 1, '"true"'],
    ['a value that is null', withEnum(['null']), 1, '"null"'],
    ['a value twice', withEnum(['a', 'A', 'a']), 1, 'the value a twice'],
    ['too many values', withEnum(Array.from({ length: 201 }, (_, at) => `v${at}`)), 1, 'the column x of'],
    [
      'a constant that is no value of an enum',
      {
        ...kind,
        columns: { version: { type: 'Enum', values: ['Up', 'Down'] } },
        members: [{ ...member, columns: { version: { of: 'a', map: { b: 'Up' }, otherwise: 'up' } } }],
      },
      1,
      '"up"',
    ],
    ['a column of the schema', { ...kind, columns: { version: 'String', raw: 'String' } }, 1, 'raw'],
    [
      'a constant that does not fit',
      {
        ...kind,
        columns: { version: 'DateTime' },
        members: [{ ...member, columns: { version: { firstOf: ['a', { value: 'soon' }] } } }],
      },
      1,
      '"soon"',
    ],
    [
      'an abstract kind as a member',
      { ...kind, members: [{ ...member, resource: 'apps.abstract' }] },
      0,
      'abstract kind',
    ],
    ['a member twice', { ...kind, members: [member, member] }, 1, 'twice'],
    [
      'a value for no column',
      { ...kind, members: [{ ...member, columns: { version: 'a', y: 'b' } }] },
      1,
      'no such column',
    ],
    [
      'a path that is none',
      { ...kind, members: [{ ...member, columns: { version: 'a..b' } }] },
      1,
      'the value version',
    ],
    ['a path into the health', { ...kind, members: [{ ...member, columns: { version: 'health.status' } }] }, 1, 'body'],
    [
      'a condition that is none',
      { ...kind, members: [member, { ...member, resource: 'b.c', where: { a: { like: 1 } } }] },
      1,
      'b.c',
    ],
  ])('%s', (_, given, kinds, problem) => {
    const read = readAbstractKinds({ abstractKinds: [given] });
    expect(read.kinds).toHaveLength(kinds);
    expect(read.problems.join(' ')).toContain(problem);
  });

  test('an enum is a text with values', () => {
    const values = ['Up', '_down', ...Array.from({ length: 198 }, (_, at) => `v${at}`)];
    const { kinds, problems } = readAbstractKinds({ abstractKinds: [withEnum(values)] });
    expect(problems).toEqual([]);
    expect(kinds[0]?.columns[1]).toEqual({ name: 'x', type: 'String', values, isEnum: true });
  });

  test('a second kind of a name', () => {
    const { kinds, problems } = readAbstractKinds({
      abstractKinds: [kind, { ...kind, name: 'apps' }, { ...kind, name: 'others' }],
    });
    expect(kinds.map(({ name, type }) => [name, type])).toEqual([
      ['apps', 'App'],
      ['others', 'Other'],
    ]);
    expect(problems).toHaveLength(1);
  });

  test('whatever the document is, it is read without an error', () => {
    fc.assert(fc.property(fc.jsonValue(), (given) => void readAbstractKinds({ abstractKinds: [given] })));
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (given, body) => {
        const { kinds } = readAbstractKinds({
          abstractKinds: [{ ...kind, members: [{ ...member, where: given }, member] }],
        });
        for (const each of kinds) for (const one of each.members) deriverOf(each, one)({ cluster: 'c', body, health });
      }),
    );
  });
});

describe('values become the type of their column', () => {
  const derived = (type: string, source: unknown, body: object) => {
    const { kinds, problems } = readAbstractKinds({
      abstractKinds: [{ name: 'apps', columns: { x: type }, members: [{ resource: 'a.b', columns: { x: source } }] }],
    });
    expect(problems).toEqual([]);
    const [first] = kinds;
    const [only] = first?.members ?? [];
    if (first === undefined || only === undefined) throw new Error('there is one member');
    const made = deriverOf(first, only)({ cluster: 'c', body, health });
    return JSON.parse(JSON.stringify(made))['x'];
  };
  test.each([
    ['String', 5, '5'],
    ['String', true, 'true'],
    ['String', { a: 1 }, undefined],
    ['Int64', '42', 42],
    ['Int64', 42, 42],
    ['Int64', '042', undefined],
    ['Int64', 1.5, undefined],
    ['Float', '1.5', 1.5],
    ['Float', 'x', undefined],
    ['Boolean', 'true', true],
    ['Boolean', 'False', false],
    ['String', 'x'.repeat(4097), undefined],
    ['Boolean', 'yes', undefined],
    ['Quantity', '1Gi', '1Gi'],
    ['Quantity', 'much', undefined],
    ['DateTime', '2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z'],
    ['DateTime', 'soon', undefined],
    ['Duration', '1h30m', '1h30m'],
    // A number is no text of these types, though Go reads "0" as a duration.
    ['Duration', 0, undefined],
    ['DateTime', 0, undefined],
    ['Int64', null, undefined],
  ])('%s of %j', (type, value, wanted) => {
    expect(derived(type, 'spec.x', { spec: { x: value } })).toEqual(wanted);
  });

  test.each([
    [{ value: 'redis' }, {}, 'redis'],
    [{ firstOf: ['spec.a', 'spec.b'] }, { spec: { b: 'B' } }, 'B'],
    [{ firstOf: ['spec.a', { value: 'none' }] }, { spec: { a: null } }, 'none'],
    [{ concat: ['spec.a', { value: ':' }, 'spec.b'] }, { spec: { a: 'A', b: 5 } }, 'A:5'],
    [{ concat: ['spec.a', 'spec.c'] }, { spec: { a: 'A' } }, undefined],
    [{ of: 'spec.a', map: { Up: 'running' } }, { spec: { a: 'UP' } }, 'running'],
    [{ of: 'spec.a', map: { Up: 'running' }, otherwise: 'other' }, { spec: { a: 'x' } }, 'other'],
    [{ of: 'spec.a', map: { Up: 'running' }, otherwise: 'other' }, { spec: {} }, undefined],
    [{ of: 'spec.a', map: { true: 'on' } }, { spec: { a: true } }, 'on'],
    ['metadata.labels["a/b"]', { metadata: { labels: { 'a/b': 'x' } } }, 'x'],
    ['spec.list[1].name', { spec: { list: [{}, { name: 'two' }] } }, 'two'],
    ['status.conditions[type=Ready].status', { status: { conditions: [{ type: 'Ready', status: 'True' }] } }, 'True'],
  ])('%j', (source, body, wanted) => {
    expect(derived('String', source, body)).toEqual(wanted);
  });

  test.each([
    ['sum(spec.list[].n)', 6],
    ['count(spec.list[].n)', 3],
    ['min(spec.list[].n)', 1],
    ['max(spec.list[].n)', 3],
  ])('%s', (path, wanted) => {
    expect(derived('Int64', path, { spec: { list: [{ n: 1 }, { n: 2 }, {}, { n: 3 }] } })).toBe(wanted);
  });

  test.each([
    ['String', 'min(spec.list[])', ['b', 10, true], '10'],
    ['Boolean', 'max(spec.list[])', ['False', 'True', 'Unknown'], true],
    ['Float', 'sum(spec.list[])', ['1.5', 2, 'x'], 3.5],
    ['Int64', 'sum(spec.list[])', ['1', 2, 2.5], 3],
    ['String', { concat: ['sum(spec.list[])', { value: ' GB' }] }, [1, '2'], '3 GB'],
    ['String', { concat: ['sum(spec.list[])', { value: ' GB' }] }, [0.5, 2], '2.5 GB'],
    ['String', { concat: ['sum(spec.list[])'] }, ['9007199254740993', 'x'], '9007199254740992'],
    ['String', { concat: ['sum(spec.list[])'] }, ['9007199254740993'], '9007199254740993'],
    ['Int64', { concat: ['sum(spec.list[])'] }, ['9223372036854775808'], undefined],
    ['String', { concat: ['sum(spec.list[])'] }, ['9223372036854775808', '1'], '9223372036854776000'],
  ])('%s from %j: the values of a list are converted as others are', (type, source, list, wanted) => {
    expect(derived(type, source, { spec: { list } })).toBe(wanted);
  });
});
