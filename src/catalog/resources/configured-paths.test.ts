import { expect, test } from 'vitest';
import { metadataTree } from '../../reads/paths/kinds-path.ts';
import { configuredPaths } from './configured-paths.ts';

test('a path that depends on other objects is refused, and one of the health is not', () => {
  const { promoted, problems } = configuredPaths(
    ['pods=health.rollUp.severity', 'pods=health.reason'],
    { group: '', plural: 'pods' },
    metadataTree,
  );
  expect(promoted).toEqual([{ path: 'health.reason', type: 'String' }]);
  expect(problems).toEqual([expect.stringMatching(/--promote pods=health\.rollUp\.severity .*other objects/)]);
});
