/**
 * Ten thousand random writes to a real control plane, its API server killed and restarted three times in between: afterwards the
 * tables equal what the API server lists, for every kind.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { must } from '../src/base/must.ts';
import { connect } from '../src/kube/connection.ts';
import { RestClient } from '../src/kube/rest-client.ts';
import { type ControlPlane, controlPlaneAssets, startControlPlane } from './support/control-plane.ts';
import { eventually } from './support/eventually.ts';
import { type RunningGateway, runGateway } from './support/gateway.ts';
import * as manifests from './support/manifests.ts';
import { seededRandom } from './support/seeded-random.ts';
import { differences } from './support/table-difference.ts';

const writes = 10_000;
const kills = 3;
const lanes = 8;

describe.skipIf(controlPlaneAssets() === null)(
  'random writes to a kube-apiserver that is killed',
  { timeout: 900_000 },
  () => {
    let plane: ControlPlane;
    let api: RestClient;
    let gateway: RunningGateway;

    beforeAll(async () => {
      plane = await startControlPlane({ controllerManager: true });
      api = new RestClient(await connect({ kubeconfig: plane.kubeconfigPath }));
      for (let index = 0; index < 4; index += 1)
        await api.post('/api/v1/namespaces', manifests.namespace(`soak-${index}`));
      await api.post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', manifests.widgetCrd());
      gateway = await runGateway({ kubeconfig: plane.kubeconfigPath });
    });

    afterAll(async () => {
      await gateway?.close();
      await api?.connection.close();
      await plane?.stop();
    });

    test(`the tables are right after ${writes} writes and ${kills} kills`, async () => {
      const random = seededRandom(Number(process.env['PORTOLAN_SEED'] ?? 20_261_121));
      let written = 0;
      let refused = 0;
      const paused = { until: Promise.resolve() };
      const lane = async (): Promise<void> => {
        while (written < writes && refused < 4 * writes) {
          await paused.until;
          try {
            await randomWrite(api, random);
            written += 1;
          } catch {
            // Names that are taken or missing, and whatever is lost with the server: the tables must follow what did happen.
            refused += 1;
          }
        }
      };
      const killing = async (): Promise<void> => {
        for (let kill = 1; kill <= kills; kill += 1) {
          await eventually(() => expect(written).toBeGreaterThan((writes * kill) / (kills + 1)), 300_000);
          await plane.killApiServer('SIGKILL');
          paused.until = plane.startApiServer();
          await paused.until;
        }
      };
      await Promise.all([killing(), ...Array.from({ length: lanes }, lane)]);
      process.stdout.write(`${written} writes, ${kills} kills; ${refused} more were refused or lost with the server\n`);
      expect(written).toBeGreaterThanOrEqual(writes);
      await eventually(async () => expect(await differences(api, gateway.url)).toEqual([]), 120_000);
    });
  },
);

async function randomWrite(api: RestClient, random: () => number): Promise<void> {
  const below = (bound: number): number => Math.floor(random() * bound);
  const namespace = `soak-${below(4)}`;
  const name = `object-${below(60)}`;
  const [path, body] = must(
    [
      [
        `/api/v1/namespaces/${namespace}/configmaps`,
        { apiVersion: 'v1', kind: 'ConfigMap', data: { value: `${random()}` } },
      ],
      [
        `/api/v1/namespaces/${namespace}/secrets`,
        { apiVersion: 'v1', kind: 'Secret', stringData: { value: `${random()}` } },
      ],
      [`/api/v1/namespaces/${namespace}/pods`, manifests.pod(namespace, below(60))],
      [`/api/v1/namespaces/${namespace}/serviceaccounts`, { apiVersion: 'v1', kind: 'ServiceAccount' }],
    ][below(4)],
    'one of four kinds',
  ) as [string, Record<string, unknown>];
  const metadata = { ...(body['metadata'] as object | undefined), name, namespace };
  const what = random();
  if (what < 0.45) await api.post(path, { ...body, metadata });
  else if (what < 0.75)
    await api.patch(`${path}/${name}`, 'merge', { metadata: { labels: { turn: `${below(100)}` } } });
  else await api.delete(`${path}/${name}`, { gracePeriodSeconds: 0 });
}
