/**
 * An API server with twelve sick groups, each in its own way: the other kinds do not wait, each sick one says what is wrong, and is right
 * again soon after its recovery, although what hung is never answered.
 */
import { onTestFinished, test } from 'vitest';
import { startSimCluster } from '../../sim/sim-cluster.ts';
import { type ControlPlane, startControlPlane } from '../kit/control-plane.ts';
import { describeOn, mainServer } from '../kit/real-servers.ts';
import { fallsIllAndRecovers, isIllFromTheStart, type SickCluster } from '../kit/sick-gateway.ts';

const timeout = 180_000;

async function simulated(): Promise<SickCluster> {
  const sim = await startSimCluster({ features: { aggregatedDiscovery: false, bookmarkMs: 500 } });
  onTestFinished(() => sim.close());
  return {
    target: { url: sim.url },
    async create(manifests) {
      for (const manifest of manifests) sim.create(manifest);
    },
  };
}

async function real(): Promise<SickCluster> {
  const plane: ControlPlane = await startControlPlane();
  onTestFinished(() => plane.stop());
  return {
    target: { url: plane.server, token: plane.token, ca: plane.caPem() },
    async create(items) {
      await plane.kubectl(['create', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
      if (!items.some(({ kind }) => kind === 'CustomResourceDefinition')) return;
      await plane.kubectl(['wait', '--for=condition=Established', 'crd', '--all', '--timeout=30s']);
    },
  };
}

test(
  'groups that fall ill one and all: the others stay fresh, each says what is wrong, and is right soon after its recovery',
  {
    timeout,
  },
  async () => fallsIllAndRecovers(await simulated()),
);

test(
  'groups that are ill from the start: the others sync, each says what is wrong, and its kind comes with its recovery',
  {
    timeout,
  },
  async () => isIllFromTheStart(await simulated()),
);

describeOn([mainServer], 'twelve sick groups of a real API server', { timeout, needs: ['kubectl'] }, () => {
  test('fall ill one and all, say so, and are right soon after their recovery', async () =>
    fallsIllAndRecovers(await real()));

  test('are ill from the start, say so, and come with their recovery', async () => isIllFromTheStart(await real()));
});
