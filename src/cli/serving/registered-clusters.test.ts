import { expect, onTestFinished, test } from 'vitest';
import { startSimCluster } from '../../../sim/sim-cluster.ts';
import { eventually } from '../../../test/kit/eventually.ts';
import { kubeconfigFolder } from '../../../test/kit/kubeconfig-file.ts';
import { silentLogger } from '../../base/log.ts';
import type { IngestHandle } from '../../ingest/thread/start-ingest.ts';
import { Shutdown } from '../parts/shutdown.ts';
import { registerClusters } from './registered-clusters.ts';

const secret = (name: string) => ({
  ...{ apiVersion: 'v1', kind: 'Secret' },
  metadata: { name, namespace: 'default', labels: { cluster: 'yes' } },
  data: { server: btoa('https://example.com') },
});

test('rows of an earlier process go before rights come; later, rights come before rows and stay as long', async () => {
  const home = await startSimCluster({ objects: 'empty' });
  onTestFinished(() => home.close());
  const folder = kubeconfigFolder();
  onTestFinished(() => folder.remove());
  const shutdown = new Shutdown(silentLogger);
  onTestFinished(() => shutdown.run());
  const steps: string[] = [];
  /** Takes a moment, and says when it begins and ends. */
  const part = (what: string) => async (clusters: readonly { readonly name: string }[] | null) => {
    steps.push(`${what} ${clusters?.map(({ name }) => name).join()}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
    steps.push(`${what} done`);
  };
  home.create(secret('a'));
  await registerClusters(
    {
      clusterSecrets: 'default',
      clusterSecretSelector: 'cluster=yes',
      authCluster: undefined,
      auth: [],
      sameUsers: true,
    },
    [{ name: 'home', kubeconfig: folder.file('config', home.kubeconfig()) }],
    {
      ingest: { register: part('ingest') } as unknown as IngestHandle,
      learn: part('callers'),
      shutdown,
      log: silentLogger,
      everyMs: 100,
    },
  );
  expect(steps.splice(0)).toEqual(['ingest a', 'ingest done', 'callers a', 'callers done']);
  home.create(secret('b'));
  await eventually(() => expect(steps).toContain('ingest done'));
  expect(steps).toEqual(['callers a,b', 'callers done', 'ingest a,b', 'ingest done']);
});
