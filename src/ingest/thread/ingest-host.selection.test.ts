/** Which kinds the ingest thread takes, by --kinds. */
import { expect, test } from 'vitest';
import { eventually } from '../../../test/kit/eventually.ts';
import { type RunningHost, ready, run, simulated } from '../../../test/kit/ingest-bench.ts';

test('only what is selected is started, and what is no longer selected is dropped', async () => {
  const { options } = await simulated();
  const first = run([options], { include: ['configmaps', 'Namespace', 'leases'] });
  await ready(first);
  const keys = (running: RunningHost): string[] =>
    running.writer
      .states()
      .map(({ handle }) => handle.key)
      .sort();
  expect(keys(first)).toEqual(['configmaps', 'leases.coordination.k8s.io', 'namespaces']);
  await first.close();
  const second = run([options], { file: first.file, include: ['namespaces'] });
  await ready(second);
  expect(keys(second)).toEqual(['namespaces']);
});

test('a mistake in --kinds ends ingest once every cluster is discovered', async () => {
  const [east, west] = [await simulated(), await simulated()];
  const clusters = [east.options, { ...west.options, name: 'west' }];
  const running = run(clusters, { include: ['pods', 'deploymnts', 'foos.example.com', '*.example.com'] });
  await eventually(() =>
    expect(running.messages.filter(({ type }) => type === 'failed')).toEqual([
      {
        type: 'failed',
        code: 'CONFIGURATION',
        error: expect.stringContaining(
          '--kinds names "deploymnts" (did you mean deployments?), which no cluster serves',
        ),
      },
    ]),
  );
});

test('a cluster that cannot be read leaves a mistake in --kinds open, and harms no other cluster', async () => {
  const east = await simulated();
  const west = { name: 'west', kubeconfig: 'none.yaml' };
  const running = run([east.options, west], { include: ['namespaces', 'deploymnts'] });
  await eventually(() => expect(running.host.progress()).toMatchObject({ ready: true, resourcesSynced: 1 }));
  expect(running.messages.filter(({ type }) => type === 'failed')).toEqual([]);
});
