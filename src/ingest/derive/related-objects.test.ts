/** The objects that lead to a changed object are searched only if a column shows the change. */
import { expect, test } from 'vitest';
import { parsePath } from '../../catalog/tree/path.ts';
import type { MemberReads, NamedTarget } from '../../store/types/member-reads.ts';
import { RelatedObjects } from './related-objects.ts';

test('a change that no column shows is followed to no object', () => {
  let text = '{"data":{"size":1},"status":{"beats":0}}';
  let version = 0;
  const asked: NamedTarget[] = [];
  const members = {
    one: () => ({ namespace: 'a', name: 'c', uid: 'u', resourceVersion: String(version), text, health: {} }),
    *owned() {},
    *referrers(_cluster: string, _key: string, target: NamedTarget) {
      asked.push(target);
      yield [{ namespace: 'a', name: 'r' }];
    },
  } as unknown as MemberReads;
  const related = new RelatedObjects(members, 'east', 'redises.example.com', [
    {
      name: 'config',
      to: { group: 'example.com', kind: 'Config' },
      places: [],
      paths: [parsePath('data.size')],
      key: 'configs.example.com',
      namespaced: true,
    },
  ]);
  const follow = (next: string): number => {
    text = next;
    version += 1;
    related.forget();
    return [...related.leadingTo([{ names: [{ namespace: 'a', name: 'c', uids: [] }] }])].length;
  };
  expect(follow(text)).toBe(1);
  for (let beats = 1; beats < 5; beats += 1) expect(follow(`{"data":{"size":1},"status":{"beats":${beats}}}`)).toBe(0);
  expect(follow('{"data":{"size":2},"status":{"beats":9}}')).toBe(1);
  expect(asked.length).toBe(2);
});
