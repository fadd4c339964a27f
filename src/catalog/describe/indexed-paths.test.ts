import { expect, test } from 'vitest';
import { parsePath } from '../tree/path.ts';
import { builtInSelected, builtInShown } from './indexed-paths.ts';

test.each(['pods', 'deployments.apps', 'persistentvolumes', 'rolebindings.rbac.authorization.k8s.io', 'events'])(
  'the indexed paths of %s are paths',
  (key) => {
    const paths = [...builtInSelected(key), ...builtInShown(key)];
    expect(paths.length).toBeGreaterThan(2);
    for (const path of paths) expect(parsePath(path).text).toBe(path);
  },
);

test('Pods are indexed by what their columns show', () => {
  expect(builtInShown('pods')).toEqual([
    'status.conditions[type=Ready].status',
    'status.phase',
    'sum(status.containerStatuses[].restartCount)',
    'status.podIP',
    'spec.nodeName',
    'status.nominatedNodeName',
  ]);
});

test.each(['foos.a.io', 'constructor', '__proto__'])('nothing is known of %s', (key) => {
  expect([...builtInSelected(key), ...builtInShown(key)]).toEqual([]);
});
