import { expect, onTestFinished, test } from 'vitest';
import { Faults } from './faults.ts';
import { startFaultyCluster } from './faulty-cluster.ts';
import { hideVersions, revealVersion } from './opaque-versions.ts';

test('a fault strikes whom it is meant for, as often as it is told, and is counted', () => {
  const faults = new Faults();
  faults.set({ F5: { resource: 'pods', times: 2 }, F30: { group: 'apps' } });
  expect(faults.take('F5', 'nodes')).toBeUndefined();
  expect([faults.take('F5', 'pods'), faults.take('F5', 'pods'), faults.take('F5', 'pods')].map(Boolean)).toEqual([
    true,
    true,
    false,
  ]);
  expect(faults.struck('F5')).toBe(2);
  expect(faults.take('F30', undefined)).toEqual({ group: 'apps' });
  expect(faults.active).toBe(true);
  faults.clear('F30');
  expect(faults.active).toBe(false);
  expect(faults.struck('F30')).toBe(1);
});

test('a fault that has struck for the last time leaves the server as it was', async () => {
  const sim = await startFaultyCluster();
  onTestFinished(() => sim.close());
  sim.faults.set({ F29: { resource: 'configmaps', times: 1 } });
  const first = await fetch(`${sim.url}/api/v1/configmaps`);
  expect([first.status, await first.json()]).toMatchObject([500, { kind: 'Status', reason: 'InternalError' }]);
  expect((await fetch(`${sim.url}/api/v1/configmaps`)).status).toBe(200);
});

test('hidden versions look like numbers, have no order, and can be read back', () => {
  const hidden = hideVersions('{"resourceVersion":"120","other":"120"}');
  expect(hidden).toBe('{"resourceVersion":"0021","other":"120"}');
  expect(revealVersion('0021')).toBe('120');
  expect([revealVersion('0'), revealVersion('120')]).toEqual(['0', '120']);
});
