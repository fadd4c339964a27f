/** Sets whose records would be too large for etcd: they are refused before anything is written. */
import { expect, onTestFinished, test } from 'vitest';
import { startSimCluster } from '../../sim/sim-cluster.ts';
import { must } from '../../src/base/must.ts';
import { connect } from '../../src/kube/client/connection.ts';
import { RestClient } from '../../src/kube/client/rest-client.ts';
import { mostRecordBytes } from '../../src/sets/record/set-record.ts';
import { shadowRecordCrd } from '../../src/sets/record/shadow-record-crd.ts';
import { ask } from '../kit/graphql-client.ts';
import { kubeconfigFolder } from '../kit/kubeconfig-file.ts';
import { WritingGateway } from '../kit/writing-gateway.ts';

interface Written {
  readonly complete: boolean;
  readonly items: readonly { readonly result: string; readonly errors: readonly { code: string; message: string }[] }[];
}

/** A ConfigMap whose field names alone have about 200,000 characters. */
function wide(index: number): object {
  const names = Array.from({ length: 800 }, (_, key) => `${index}-${key}-`.padEnd(250, 'k'));
  const data = Object.fromEntries(names.map((name) => [name, 'v']));
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `wide-${index}` }, data };
}

test('the names of all fields of a set have a bound, also in a plan', async () => {
  const folder = kubeconfigFolder();
  onTestFinished(() => folder.remove());
  const sim = await startSimCluster({ crds: [shadowRecordCrd()] });
  onTestFinished(() => sim.close());
  const kubeconfig = folder.write({ server: sim.url });
  const gateway = await WritingGateway.start(kubeconfig);
  onTestFinished(() => gateway.close());
  const api = new RestClient(await connect({ kubeconfig }));
  onTestFinished(() => api.connection.close());
  /** A request has at most 1 MiB. */
  const apply = async (objects: readonly object[], { dryRun = false, prune = false } = {}): Promise<Written> => {
    const { data, errors } = await ask<{ applySet: Written }>(
      gateway.url,
      `mutation ($docs: [ManifestInput!]!) {
        applySet(set: { namespace: "default", name: "wide" }, docs: $docs, prune: ${prune}, options: { dryRun: ${dryRun} }) {
          complete items { result errors { code message } }
        }
      }`,
      { docs: objects.map((json) => ({ json })) },
      gateway.headers,
    );
    expect(errors).toBeUndefined();
    return must(data, 'an answer').applySet;
  };
  const written = (): readonly number[] => [
    sim.list('/api/v1/namespaces/default/configmaps').length,
    sim.list('/apis/portolan.dev/v1alpha1/namespaces/default/shadowrecords').length,
  ];
  expect((await apply([0, 1, 2].map(wide))).complete).toBe(true);
  const before = written();
  for (const dryRun of [true, false]) {
    const { complete, items } = await apply([3, 4, 5].map(wide), { dryRun });
    expect(complete).toBe(false);
    expect(items.at(-1)?.errors).toEqual([
      { code: 'TOO_LARGE', message: expect.stringContaining(`at most ${mostRecordBytes} are kept`) },
    ]);
    expect(written()).toEqual(before);
  }
  expect((await apply([wide(3)])).complete).toBe(true);

  // A record from before there was a bound: it may stay as it is and become smaller, and not larger.
  await api.patch('/apis/portolan.dev/v1alpha1/namespaces/default/shadowrecords/wide', 'merge', {
    spec: { lastApplied: 'x'.repeat(262_000) },
  });
  for (const dryRun of [true, false]) {
    const { complete, items } = await apply([3, 0, 1, 2].map(wide), { dryRun, prune: true });
    expect(complete).toBe(true);
    expect(items.map(({ result }) => result)).toEqual(new Array(5).fill('UNCHANGED'));
  }
  const narrow = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'narrow' }, data: { a: 'b' } };
  const tooLarge = [{ code: 'TOO_LARGE', message: expect.stringContaining('Make several sets') }];
  expect((await apply([narrow])).items.at(-1)?.errors).toEqual(tooLarge);
  expect((await apply([0, 1, 2].map(wide), { prune: true })).items.map(({ result }) => result)).toEqual([
    ...['UNCHANGED', 'UNCHANGED', 'UNCHANGED', 'DELETED', 'CHANGED'],
  ]);
  expect((await apply([narrow])).complete).toBe(true);
});
