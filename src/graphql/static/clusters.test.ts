import { expect, test } from 'vitest';
import { engineFixture } from '../../../test/kit/engine-fixture.ts';
import { widget, widgets } from '../../../test/kit/graphql-world.ts';
import { idleStatus } from '../../store/types/progress.ts';

async function world() {
  const fixture = engineFixture();
  await fixture.declare(widget());
  const clusters = async () =>
    (await fixture.query('{ clusters { name version reachable error staleSince resources objects } }')).data.clusters;
  return { ...fixture, clusters };
}

test('a cluster shows the result of the last attempt to read it', async () => {
  const { clusters, writer } = await world();
  const east = { name: 'east', staleSince: null, resources: 1, objects: 0 };
  expect(await clusters()).toEqual([{ ...east, version: null, reachable: true, error: null }]);
  writer().setClusterStatus('east', { version: 'v1.37.2', error: null });
  writer().setClusterStatus('east', { version: null, error: 'no answer' });
  expect(await clusters()).toEqual([{ ...east, version: 'v1.37.2', reachable: false, error: 'no answer' }]);
});

test('statuses of an earlier process say nothing, and neither do their watches', async () => {
  const { clusters, handle, writer } = await world();
  writer().setStatus(handle(widgets), { ...idleStatus, phase: 'WATCHING', lastSignAt: Date.UTC(2026, 0, 31) });
  writer().setClusterStatus('east', { version: 'v1.37.2', error: null });
  writer().resetClusterStatuses('not read yet');
  expect(await clusters()).toMatchObject([
    { reachable: false, error: 'not read yet', staleSince: '2026-01-31T00:00:00.000Z' },
  ]);
});

test('the version of another cluster under the same name is forgotten', async () => {
  const { clusters, writer } = await world();
  writer().setClusterStatus('east', { version: 'v1.37.2', error: null });
  writer().openCluster('east', 'uid-of-another');
  expect(await clusters()).toMatchObject([{ version: null, resources: 0 }]);
});
