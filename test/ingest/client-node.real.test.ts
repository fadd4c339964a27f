/**
 * The tables hold what an informer of client-node holds, after a storm: random writes, a restart of the API server, and lost history. That
 * informer ends on many errors, so it is started again. The oracle's own oracle is a list at the end.
 *
 * PORTOLAN_STORM_CHANGES says how many writes (100), PORTOLAN_SEED which (39).
 */
import { KubeConfig, type KubernetesListObject, type KubernetesObject, makeInformer } from '@kubernetes/client-node';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connect } from '../../src/kube/client/connection.ts';
import { RestClient } from '../../src/kube/client/rest-client.ts';
import { Dice } from '../fuzz/dice.ts';
import { type ControlPlane, startControlPlane } from '../kit/control-plane.ts';
import { eventually } from '../kit/eventually.ts';
import { type RunningGateway, runGateway } from '../kit/gateway.ts';
import { data } from '../kit/graphql-client.ts';
import { randomRuns } from '../kit/random-runs.ts';
import { describeOn, mainServer, oldServer } from '../kit/real-servers.ts';

const seed = Number(process.env['PORTOLAN_SEED'] ?? 39);
const changes = Number(process.env['PORTOLAN_STORM_CHANGES'] ?? randomRuns(100, 300));
const path = '/api/v1/configmaps';
const namespace = 'storm';
/** A server that ends by SIGTERM waits for open watches as long as for requests. No write takes so long on a busy machine. */
const apiServer = { requestSeconds: 15 };

interface ConfigMap extends KubernetesObject {
  readonly data?: Readonly<Record<string, string>>;
}

describeOn([mainServer, oldServer], 'the tables and an informer of client-node', { timeout: 240_000 }, (server) => {
  let plane: ControlPlane;
  let api: RestClient;
  let gateway: RunningGateway;

  beforeAll(async () => {
    plane = await startControlPlane({ server, apiServer });
    api = new RestClient(await connect({ kubeconfig: plane.kubeconfigPath }));
    gateway = await runGateway({ name: 'real', kubeconfig: plane.kubeconfigPath }, { kinds: ['configmaps'] });
    await api.post('/api/v1/namespaces', { metadata: { name: namespace } });
  }, 120_000);
  afterAll(async () => {
    await gateway?.close();
    await api?.connection.close();
    await plane?.stop();
  }, 60_000);

  /** What an object must be equal in, by namespace and name. */
  const shown = (objects: readonly ConfigMap[]): Readonly<Record<string, unknown>> =>
    Object.fromEntries(
      objects
        .map(({ metadata, data: values }) => {
          const { uid, resourceVersion, labels = {} } = metadata ?? {};
          return [
            `${metadata?.namespace}/${metadata?.name}`,
            { uid, resourceVersion, labels, data: values ?? {} },
          ] as const;
        })
        .toSorted(([a], [b]) => (a < b ? -1 : 1)),
    );

  async function stored(): Promise<readonly ConfigMap[]> {
    const objects: ConfigMap[] = [];
    for (let after: string | null = null; ; ) {
      const page: { nodes: { raw: ConfigMap }[]; pageInfo: { endCursor: string; hasNextPage: boolean } } = (
        await data<{ configMaps: never }>(
          gateway.url,
          `query ($after: String) { configMaps(first: 200, after: $after) { nodes { raw } pageInfo { endCursor hasNextPage } } }`,
          { after },
        )
      ).configMaps;
      objects.push(...page.nodes.map(({ raw }) => raw));
      if (!page.pageInfo.hasNextPage) return objects;
      after = page.pageInfo.endCursor;
    }
  }

  test('hold the same objects after a storm', async () => {
    const config = new KubeConfig();
    config.loadFromFile(plane.kubeconfigPath);
    const list = () => api.get<KubernetesListObject<ConfigMap>>(path);
    const informer = makeInformer<ConfigMap>(config, path, list);
    let ended = false;
    informer.on('error', () => {
      if (!ended) setTimeout(() => void informer.start().catch(() => {}), 100);
    });
    await informer.start();
    const dice = new Dice(seed);
    const collection = `/api/v1/namespaces/${namespace}/configmaps`;
    for (let change = 0; change < changes; change += 1) {
      const name = `map-${dice.below(40)}`;
      const body = { metadata: { name, labels: { step: String(change) } }, data: { value: String(dice.below(1000)) } };
      await dice
        .pick([
          () => api.post(collection, body),
          () => api.patch(`${collection}/${name}`, 'merge', body),
          () => api.patch(`${collection}/${name}`, 'merge', { data: { value: null, other: String(change) } }),
          () => api.delete(`${collection}/${name}`),
        ])()
        .catch((error: unknown) => {
          if (!/not found|already exists/.test(String(error))) throw error;
        });
      if (change === Math.floor(changes / 3)) {
        await plane.killApiServer('SIGKILL');
        await plane.startApiServer(apiServer);
      }
      if (change === Math.floor((2 * changes) / 3)) {
        await plane.killApiServer('SIGTERM');
        await plane.compactEtcd();
        await plane.startApiServer(apiServer);
      }
    }
    try {
      await eventually(async () => {
        const truth = shown((await list()).items);
        expect(Object.keys(truth).length).toBeGreaterThan(5);
        expect(shown(await stored())).toEqual(truth);
        expect(shown(informer.list())).toEqual(truth);
      }, 60_000);
    } finally {
      ended = true;
      await informer.stop();
    }
  });
});
