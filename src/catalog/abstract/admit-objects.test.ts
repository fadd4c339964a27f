import fc from 'fast-check';
import { expect, test } from 'vitest';
import { admitObjects, type KindObject, mostObjectText, readKindObject } from './admit-objects.ts';

const member = { resource: 'redises.example.com', columns: { version: 'spec.version' } };
const apps = { name: 'apps', type: 'App', columns: { version: 'String' }, members: [member] };
const read = (spec: unknown) => readKindObject(JSON.stringify({ spec }));
const object = (name: string, created: number | null, spec: unknown = apps, cluster = 'east'): KindObject => ({
  cluster,
  name,
  created,
  read: read(spec),
});
const namesOf = (objects: readonly KindObject[], ofFile: readonly unknown[] = []) => {
  const { admitted, problems } = admitObjects(
    ofFile.flatMap((each) => read(each).kinds),
    objects,
  );
  return {
    names: admitted.map(({ kind, object: of }) => `${kind.cluster ?? 'all'} ${kind.name} ${of?.name ?? 'file'}`),
    problems: problems.map(({ cluster, name, message }) => `${cluster} ${name}: ${message}`),
  };
};

test('the older object keeps its name; then the cluster and the name decide', () => {
  const stores = { ...apps, name: 'stores', type: 'Store' };
  expect(namesOf([object('a', 2), object('b', 1), object('c', null, stores)]).names).toEqual([
    'east apps b',
    'east stores c',
  ]);
  const other = { ...apps, columns: { version: 'Int64' } };
  expect(namesOf([object('a', 1, other, 'west'), object('b', 1)]).names).toEqual(['east apps b']);
  expect(namesOf([object('b', 1), object('a', 1)]).names).toEqual(['east apps a']);
  expect(namesOf([object('a', null), object('b', 9)]).names).toEqual(['east apps b']);
});

test('a name or type of the file is taken, in any cluster and in any case', () => {
  const { names, problems } = namesOf(
    [object('a', 1), object('b', 1, { ...apps, name: 'aPPs', type: 'Other' }), object('c', 1, { ...apps, name: 'x' })],
    [apps],
  );
  expect(names).toEqual(['all apps file']);
  expect(problems).toHaveLength(3);
});

test.each<readonly [string, object, boolean]>([
  ['is equal', apps, true],
  ['has another member', { ...apps, members: [{ ...member, resource: 'a.b' }] }, true],
  ['has a column more', { ...apps, columns: { version: 'String', size: 'Int64' } }, true],
  ['has another type of a column', { ...apps, columns: { version: 'Int64' } }, false],
  ['has an Enum of the column', { ...apps, columns: { version: { type: 'Enum', values: ['A'] } } }, false],
  ['has another type', { ...apps, type: 'Other' }, false],
  ['has another name', { ...apps, name: 'others' }, false],
  ['has its name in another case', { ...apps, name: 'appS' }, false],
])('an object of another cluster that %s', (_, spec, isOneList) => {
  const { names, problems } = namesOf([object('a', 1), object('b', 2, spec, 'west')]);
  expect(names.length).toBe(isOneList ? 2 : 1);
  expect(problems.length).toBe(isOneList ? 0 : 1);
});

test('a list over clusters has at most 32 columns, and a third cluster is compared with both', () => {
  const wide = (prefix: string) =>
    Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`${prefix}${at}`, 'String']));
  const of = (columns: object) => ({ ...apps, columns });
  const { problems } = namesOf([object('a', 1, of(wide('a'))), object('b', 2, of(wide('b')), 'west')]);
  expect(problems.at(-1)).toContain('more than 32 columns');
  const third = namesOf([
    object('a', 1),
    object('b', 2, of({ version: 'String', size: 'Int64' }), 'west'),
    object('c', 3, of({ size: 'Float' }), 'north'),
  ]);
  expect(third.names).toEqual(['east apps a', 'west apps b']);
  expect(third.problems.at(-1)).toContain('its column size has the type Int64');
});

test('there are 50 lists with those of the file; another cluster of one of them is none more', () => {
  const spec = (at: number) => ({ ...apps, name: `list${at}`, type: `Type${at}` });
  const objects = Array.from({ length: 60 }, (_, at) => object(`o${at}`, at, spec(at)));
  const { names, problems } = namesOf([...objects, object('w', 99, spec(3), 'west')], [apps]);
  expect(names).toHaveLength(51);
  expect(names.at(-1)).toBe('west list3 w');
  expect(problems).toHaveLength(11);
});

test('whatever the objects are, they are read without an error, and the file stays', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.jsonValue(), fc.constant(apps as fc.JsonValue))), (specs) => {
      const objects = specs.map((spec, at) => object(`o${at}`, at, spec));
      expect(namesOf(objects, [{ ...apps, name: 'first', type: 'First' }]).names[0]).toBe('all first file');
    }),
  );
  for (const text of ['', 'null', '[]', '{}', '{"spec":null}', '{"spec":[]}', '{'])
    expect(readKindObject(text)).toMatchObject({ kinds: [], problems: [expect.any(String)] });
  expect(readKindObject(`"${'x'.repeat(mostObjectText)}"`).problems[0]).toContain('more than 262144 characters');
});

test('a whole number has all its digits', () => {
  const spec = { ...apps, columns: { x: 'Int64' }, members: [{ resource: 'a.b', columns: { x: { value: 0 } } }] };
  const text = JSON.stringify({ spec }).replace('"value":0', '"value":9007199254740993');
  expect(readKindObject(text).kinds[0]?.members[0]?.columns['x']).toEqual({ value: '9007199254740993' });
});
