import { expect, test } from 'vitest';
import { describeAbstractKind } from '../../catalog/abstract/describe-abstract-kind.ts';
import { namesOf } from '../../catalog/names/kind-names.ts';
import { declaredAbstractKinds } from './declared-abstract-kinds.ts';

const read = (text: string) => declaredAbstractKinds({ file: 'kinds.yaml', text });
const members = '[{ resource: a.b, columns: { x: { value: 9007199254740993 } } }]';

test('a whole number has all its digits', () => {
  const { kinds, problems } = read(`abstractKinds: [{ name: apps, columns: { x: Int64 }, members: ${members} }]`);
  expect(problems).toEqual([]);
  expect(kinds[0]?.members[0]?.columns['x']).toEqual({ value: '9007199254740993' });
  const { kinds: small } = read(
    'abstractKinds: [{ name: apps, columns: { x: Int64 }, members: [{ resource: a.b, columns: { x: { value: 3 } } }] }]',
  );
  expect(small[0]?.members[0]?.columns['x']).toEqual({ value: 3 });
});

test.each([
  ['appInstances', 'AppInstance', 'appinstances'],
  ['redisInstances', 'CacheEntry', 'redisInstances'],
  ['listsA', 'ListA', 'listsA'],
])('the list is called %s, whatever the type %s is called', (name, type, plural) => {
  const { kinds } = read(
    `abstractKinds: [{ name: ${name}, type: ${type}, columns: { x: Int64 }, members: ${members} }]`,
  );
  const [kind] = kinds;
  const [member] = kind?.members ?? [];
  if (kind === undefined || member === undefined) throw new Error('there is a kind');
  const { resource } = describeAbstractKind(kind, member, {
    cluster: 'east',
    redacted: [],
    origin: { tree: { root: 'A', shapes: { A: { key: 'A', path: [], fields: [] } } } },
  });
  expect(resource.plural).toBe(plural);
  expect(namesOf(resource).list).toBe(name);
});
