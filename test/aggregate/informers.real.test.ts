/**
 * Informers follow sets through random changes of members and records: client-node's (list and watch), and kubectl's WatchList. The oracle
 * is a list at the end.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { KubeConfig, type KubernetesListObject, makeInformer } from '@kubernetes/client-node';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type AggregatedPlane, startAggregatedPlane } from '../kit/aggregated-plane.ts';
import { eventually } from '../kit/eventually.ts';
import { describeOn, mainServer } from '../kit/real-servers.ts';
import { seededRandom } from '../kit/seeded-random.ts';
import { configMap, handMadeRecord, makeSet, type ShadowObject, shownSets } from '../kit/shadow-records.ts';

const path = '/apis/shadow.portolan.dev/v1alpha1/shadowresources';

describeOn([mainServer], 'informers of sets', { timeout: 240_000, needs: ['kubectl'] }, (server) => {
  let aggregated: AggregatedPlane;
  const kubectl = (args: readonly string[], stdin?: string): Promise<string> => aggregated.plane.kubectl(args, stdin);

  beforeAll(async () => {
    aggregated = await startAggregatedPlane({ server });
    await eventually(() => kubectl(['get', 'shadowresources', '-A']));
  }, 240_000);
  afterAll(() => aggregated?.stop(), 60_000);

  test('an informer of client-node is equal to a list after random changes', async () => {
    const config = new KubeConfig();
    config.loadFromFile(aggregated.plane.kubeconfigPath);
    const list = async (): Promise<KubernetesListObject<ShadowObject>> =>
      JSON.parse(await kubectl(['get', '--raw', path]));
    const informer = makeInformer<ShadowObject>(config, path, list);
    onTestFinished(() => void informer.stop());
    informer.on('error', () => void informer.start());
    await informer.start();
    const random = seededRandom(38);
    const pick = (count: number): number => Math.floor(random() * count);
    for (let step = 0; step < 60; step += 1) {
      const set = { namespace: 'default', name: `set-${pick(4)}` };
      const member = `${set.name}-${pick(3)}`;
      switch (pick(6)) {
        case 0:
          await makeSet(
            aggregated.plane,
            { ...set, generation: step },
            [0, 1, 2].map((each) => configMap(`${set.name}-${each}`, step)),
          );
          break;
        case 1:
          await kubectl(['delete', 'shadowrecord', set.name, '--ignore-not-found']);
          break;
        case 2:
          await kubectl(['delete', 'configmap', member, '--ignore-not-found']);
          break;
        case 3:
          await kubectl(
            ['apply', '--server-side', '--force-conflicts', '--field-manager=other', '-f', '-'],
            JSON.stringify(configMap(member, 1000 + step)),
          );
          break;
        case 4:
          await kubectl(['label', 'shadowrecord', set.name, `step=${step}`, '--overwrite']).catch(() => {});
          break;
        default:
          await kubectl(
            ['apply', '--server-side', '--force-conflicts', '-f', '-'],
            JSON.stringify(handMadeRecord(set, [])),
          );
      }
    }
    // The last write is in the tables when a set that is made after it is there.
    await makeSet(aggregated.plane, { namespace: 'default', name: 'set-last' }, [configMap('last', 1)]);
    await eventually(async () => {
      const { items } = await list();
      expect(items.map(({ metadata }) => metadata?.name)).toContain('set-last');
      expect(shownSets(informer.list())).toEqual(shownSets(items));
    });
  });

  test('a watch of metadata begins with the present sets and their bookmark, as the garbage collector asks for it', async () => {
    await makeSet(aggregated.plane, { namespace: 'default', name: 'kept' }, [
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'kept', namespace: 'default' }, data: { a: 'b' } },
    ]);
    await eventually(() => kubectl(['get', 'shadow', 'kept']));
    const query =
      'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=2';
    const events = (await kubectl(['get', '--raw', `${path}?${query}`]))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const names = events.filter(({ type }) => type === 'ADDED').map(({ object }) => object.metadata.name);
    expect(names).toContain('kept');
    const end = events.findIndex(({ object }) => object.metadata.annotations?.['k8s.io/initial-events-end'] === 'true');
    expect([end, events[end].type]).toEqual([names.length, 'BOOKMARK']);
  });

  test('the end of the door ends a watch cleanly', async () => {
    const watching = spawn(server.assets.path('kubectl'), [
      `--kubeconfig=${aggregated.plane.kubeconfigPath}`,
      ...['get', '--raw', `${path}?watch=1`],
    ]);
    onTestFinished(() => void watching.kill('SIGKILL'));
    const exit = once(watching, 'exit');
    const [first] = await once(watching.stdout, 'data');
    expect(String(first)).toContain('"type":"ADDED"');
    await aggregated.gateway.close();
    // A watch that is cut off makes kubectl fail.
    expect((await exit)[0]).toBe(0);
  });
});
