/**
 * `rollback` does what `kubectl rollout undo` does: twins of a Deployment, a StatefulSet and a DaemonSet, with the same revisions made by the
 * real controllers. Compared: the Pod template and the annotations after each step, and the refusals.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connect } from '../../src/kube/client/connection.ts';
import { RestClient } from '../../src/kube/client/rest-client.ts';
import { encodeObjectId } from '../../src/query/plan/object-id.ts';
import { type ControlPlane, startControlPlane } from '../kit/control-plane.ts';
import { eventually } from '../kit/eventually.ts';
import { describeOn, mainServer, oldServer } from '../kit/real-servers.ts';
import { clusterName, WritingGateway } from '../kit/writing-gateway.ts';

const twins = { kubectl: 'by-kubectl', mutation: 'by-mutation' };
const kinds = [
  ['Deployment', 'deployments'],
  ['StatefulSet', 'statefulsets'],
  ['DaemonSet', 'daemonsets'],
] as const;

interface Live {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>>; readonly generation: number };
  readonly spec: { readonly template: object };
  readonly status?: { readonly observedGeneration?: number };
}

describeOn(
  [mainServer, oldServer],
  'rollbacks',
  { timeout: 300_000, needs: ['kubectl', 'kube-controller-manager'] },
  (server) => {
    let plane: ControlPlane;
    let api: RestClient;
    let gateway: WritingGateway;

    beforeAll(async () => {
      plane = await startControlPlane({ server, controllerManager: true });
      api = new RestClient(await connect({ kubeconfig: plane.kubeconfigPath }));
      for (const name of Object.values(twins)) await api.post('/api/v1/namespaces', { metadata: { name } });
      gateway = await WritingGateway.start(plane.kubeconfigPath);
    });
    afterAll(async () => {
      await gateway?.close();
      await api?.connection.close();
      await plane?.stop();
    });

    test.each(kinds)('of a %s', async (kind, plural) => {
      const path = (namespace: string) => `/apis/apps/v1/namespaces/${namespace}/${plural}`;
      const live = (namespace: string) => api.get<Live>(`${path(namespace)}/app`);
      /** The controller has seen the newest state, and made its revision. */
      const settled = async (revisions: number | null = null) => {
        for (const namespace of Object.values(twins)) {
          await eventually(async () => {
            const { metadata, status } = await live(namespace);
            expect(status?.observedGeneration).toBe(metadata.generation);
            const made = kind === 'Deployment' ? 'replicasets' : 'controllerrevisions';
            const { items } = await api.get<{ items: object[] }>(`/apis/apps/v1/namespaces/${namespace}/${made}`);
            const own = items.filter((each) => JSON.stringify(each).includes(`"kind":"${kind}"`));
            if (revisions !== null) expect(own).toHaveLength(revisions);
          });
        }
      };
      const compared = async () => {
        await settled();
        const [one, other] = await Promise.all(Object.values(twins).map(live));
        const state = (of: Live | undefined) => [of?.spec.template, of?.metadata.annotations ?? {}];
        expect(state(other)).toEqual(state(one));
      };
      const both = async (revision: number | null, change: string) => {
        const flags = revision === null ? [] : [`--to-revision=${revision}`];
        const said = await plane.kubectl(['-n', twins.kubectl, 'rollout', 'undo', `${plural}/app`, ...flags]).then(
          (text) => String(text),
          (error: unknown) => `refused: ${String(error)}`,
        );
        const id = encodeObjectId({
          cluster: clusterName,
          key: `${plural}.apps`,
          namespace: twins.mutation,
          name: 'app',
        });
        const { items } = await gateway.write('rollback', { target: { id }, revision, options: { waitMs: 0 } });
        const result = items[0]?.errors[0]?.code ?? items[0]?.result;
        expect([said, result]).toEqual([expect.stringMatching(/./), change]);
        expect([result, said.startsWith('refused')]).toEqual([change, change !== 'CHANGED' && change !== 'UNCHANGED']);
        await compared();
      };

      for (const namespace of Object.values(twins)) {
        await api.post(path(namespace), workload(kind, namespace, 'registry.example/app:1'));
      }
      await settled(1);
      await both(null, 'NOT_FOUND');
      for (const [index, image] of ['2', '3', '4'].entries()) {
        for (const namespace of Object.values(twins)) {
          await api.patch(`${path(namespace)}/app`, 'strategic', {
            metadata: { annotations: { 'kubernetes.io/change-cause': `image ${image}`, own: image } },
            spec: { template: { spec: { containers: [{ name: 'app', image: `registry.example/app:${image}` }] } } },
          });
        }
        await settled(index + 2);
      }
      await both(null, 'CHANGED');
      await both(1, 'CHANGED');
      await both(99, 'NOT_FOUND');
      await both(null, 'CHANGED');
      // The newest revision is what the object has.
      const [newest] = await Promise.all([newestRevision(path(twins.kubectl).replace(`/${plural}`, ''), kind)]);
      await both(newest, 'UNCHANGED');
      if (kind !== 'Deployment') return;
      for (const namespace of Object.values(twins)) {
        await api.patch(`${path(namespace)}/app`, 'merge', { spec: { paused: true } });
      }
      await both(null, 'UNSUPPORTED');
    });

    async function newestRevision(base: string, kind: string): Promise<number> {
      const plural = kind === 'Deployment' ? 'replicasets' : 'controllerrevisions';
      interface Revision {
        readonly revision?: number;
        readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
      }
      const { items } = await api.get<{ items: Revision[] }>(`${base}/${plural}`);
      const own = items.filter((each) => JSON.stringify(each).includes(`"kind":"${kind}"`));
      return Math.max(
        ...own.map(
          ({ revision, metadata }) => revision ?? Number(metadata.annotations?.['deployment.kubernetes.io/revision']),
        ),
      );
    }
  },
);

function workload(kind: string, namespace: string, image: string): object {
  const labels = { app: `app-${kind.toLowerCase()}` };
  return {
    metadata: { name: 'app', namespace },
    spec: {
      ...(kind === 'StatefulSet' ? { serviceName: 'app' } : {}),
      ...(kind === 'DaemonSet' ? {} : { replicas: 1 }),
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'app', image }] } },
    },
  };
}
