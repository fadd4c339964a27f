import { expect, test } from 'vitest';
import { metadataTree, pathIn } from './kinds-path.ts';

test('a path is looked up once in a list of several kinds, for each cast and need', () => {
  let looked = 0;
  const kind = {
    get tree() {
      looked += 1;
      return metadataTree;
    },
    resource: { group: '' },
  };
  const kinds = [kind, kind];
  const first = pathIn(kinds, 'name', 'some');
  expect(pathIn(kinds, 'name', 'some')).toBe(first);
  expect(looked).toBe(2);
  expect(pathIn(kinds, 'name', 'some', 'TIME').type).not.toEqual(first.type);
  expect(pathIn(kinds, 'name', 'every')).toEqual(first);
  expect(looked).toBe(6);
  for (const _ of [1, 2]) expect(() => pathIn(kinds, 'nope', 'some')).toThrow('nope');
  expect(pathIn([kind, kind], 'name', 'some')).toEqual(first);
  expect(looked).toBe(12);
});
