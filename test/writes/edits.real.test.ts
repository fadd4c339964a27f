/**
 * Edits of Deployments while controllers and kubectl change them, in three ways: `edit`, a PUT of the edited object, and a merge patch of
 * what differs. Each has a twin of each object, and the same changes of others meanwhile.
 *
 *   base is read -> a controller writes the status, an autoscaler the replicas, kubectl a label and a container -> the edit is sent,
 *   while the controller goes on
 *
 * A field is lost if somebody set it and the object has another value in the end. PORTOLAN_EDITS is the number of edits (20), PORTOLAN_SEED
 * the seed (1).
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connect } from '../../src/kube/client/connection.ts';
import { RestClient } from '../../src/kube/client/rest-client.ts';
import { ApiError } from '../../src/kube/http/api-error.ts';
import { encodeObjectId } from '../../src/query/plan/object-id.ts';
import { Dice } from '../fuzz/dice.ts';
import { type ControlPlane, startControlPlane } from '../kit/control-plane.ts';
import { describeOn, mainServer } from '../kit/real-servers.ts';
import { deployment } from '../kit/writes-suite.ts';
import { clusterName, WritingGateway } from '../kit/writing-gateway.ts';

const edits = Number(process.env['PORTOLAN_EDITS'] ?? '20');
const seed = Number(process.env['PORTOLAN_SEED'] ?? '1');

interface Container {
  readonly name: string;
  image: string;
}

interface Live {
  metadata: { resourceVersion: string; labels: Record<string, string>; annotations?: Record<string, string> };
  spec: { replicas: number; minReadySeconds?: number; template: { spec: { containers: Container[] } } };
  status?: { readonly observedGeneration?: number };
}

/** What somebody sets: each has a place of its own, or one element of a list. */
interface Setting {
  readonly what: string;
  readonly set: (object: Live) => void;
  readonly value: (object: Live) => unknown;
}

const ways = ['edit', 'put', 'merge patch'] as const;

describeOn(
  [mainServer],
  'edits beside controllers',
  { timeout: 60_000 + edits * 5000, needs: ['kubectl'] },
  (server) => {
    let plane: ControlPlane;
    let api: RestClient;
    let gateway: WritingGateway;

    beforeAll(async () => {
      plane = await startControlPlane({ server });
      api = new RestClient(await connect({ kubeconfig: plane.kubeconfigPath }));
      for (const way of ways) await api.post('/api/v1/namespaces', { metadata: { name: namespaceOf(way) } });
      gateway = await WritingGateway.start(plane.kubeconfigPath);
    });
    afterAll(async () => {
      await gateway?.close();
      await api?.connection.close();
      await plane?.stop();
    });

    test(`${edits} edits lose no field`, async () => {
      const lost = { edit: 0, put: 0, 'merge patch': 0 };
      const refused = { edit: 0, put: 0, 'merge patch': 0 };
      let fields = 0;
      for (let round = 0; round < edits; round += 1) {
        for (const way of ways) {
          const dice = new Dice(seed, round);
          const name = `edited-${round}`;
          const namespace = namespaceOf(way);
          const path = `/apis/apps/v1/namespaces/${namespace}/deployments/${name}`;
          const made = deployment(namespace, name, 1);
          made.spec.template.spec.containers.push({ name: 'side', image: 'registry.example/side:1' });
          const base = await api.post<Live>(`/apis/apps/v1/namespaces/${namespace}/deployments`, made);
          const own = dice.sample(ofEditor, dice.between(1, 3));
          const others = dice.sample(ofOthers, dice.between(1, 3));
          for (const each of others) await each.send(plane, api, path);
          const edited = structuredClone(base);
          for (const { set } of own) set(edited);
          // The controller goes on while the edit is sent.
          let isDone = false;
          const controller = (async () => {
            for (let count = 1; !isDone; count += 1) {
              const status = {
                observedGeneration: count,
                conditions: [{ type: 'Progressing', status: 'True', reason: `R${count}` }],
              };
              await api.patch(`${path}/status`, 'merge', { status });
            }
          })();
          const isSent = await send(way, path, name, base, edited).finally(() => {
            isDone = true;
          });
          await controller;
          const now = await api.get<Live>(path);
          if (!isSent) refused[way] += 1;
          const wanted = [...(isSent ? own : []), ...others];
          if (way === 'edit') fields += wanted.length;
          const missing = wanted.filter(({ value, wanted: is }) => JSON.stringify(value(now)) !== JSON.stringify(is));
          lost[way] += missing.length;
          if (way === 'edit') expect([round, isSent, missing.map(({ what }) => what)]).toEqual([round, true, []]);
        }
      }
      process.stdout.write(`${JSON.stringify({ test: 'edits', edits, fields, lost, refused })}\n`);
      expect(lost.edit).toBe(0);
    });

    /** False if the edit was refused. */
    async function send(
      way: (typeof ways)[number],
      path: string,
      name: string,
      base: Live,
      edited: Live,
    ): Promise<boolean> {
      if (way === 'edit') {
        const id = encodeObjectId({ cluster: clusterName, key: 'deployments.apps', namespace: namespaceOf(way), name });
        const head = { apiVersion: 'apps/v1', kind: 'Deployment' };
        const { items } = await gateway.write('edit', {
          target: { id },
          base: { json: { ...base, ...head } },
          edited: { json: { ...edited, ...head } },
          options: { waitMs: 0 },
        });
        expect(items[0]?.errors).toEqual([]);
        return true;
      }
      // As editors do it that want to get through: without a precondition.
      const { resourceVersion: _version, ...metadata } = edited.metadata;
      const body = { ...edited, metadata };
      try {
        if (way === 'put') await api.put(path, body);
        else await api.patch(path, 'merge', differences(base, edited));
        return true;
      } catch (error) {
        if (error instanceof ApiError) return false;
        throw error;
      }
    }
  },
);

/** What an editor changes. */
const ofEditor: readonly (Setting & { readonly wanted: unknown })[] = [
  {
    what: 'the image of app',
    set: (object) => Object.assign(container(object, 'app') ?? {}, { image: 'registry.example/app:2' }),
    value: (object) => container(object, 'app')?.image,
    wanted: 'registry.example/app:2',
  },
  {
    what: 'an annotation',
    set: (object) =>
      Object.assign(object.metadata, { annotations: { ...object.metadata.annotations, note: 'by hand' } }),
    value: (object) => object.metadata.annotations?.['note'],
    wanted: 'by hand',
  },
  {
    what: 'minReadySeconds',
    set: (object) => Object.assign(object.spec, { minReadySeconds: 7 }),
    value: (object) => object.spec.minReadySeconds,
    wanted: 7,
  },
  {
    what: 'the container side is removed',
    set: ({ spec: { template } }) =>
      Object.assign(template.spec, { containers: template.spec.containers.filter(({ name }) => name !== 'side') }),
    value: (object) => container(object, 'side') ?? 'removed',
    wanted: 'removed',
  },
];

/** What others change between the read and the write of the editor. */
const ofOthers: readonly {
  readonly what: string;
  readonly value: (object: Live) => unknown;
  readonly wanted: unknown;
  readonly send: (plane: ControlPlane, api: RestClient, path: string) => Promise<unknown>;
}[] = [
  {
    what: 'the replicas of an autoscaler',
    value: (object) => object.spec.replicas,
    wanted: 5,
    send: (_plane, api, path) => api.patch(`${path}/scale`, 'merge', { spec: { replicas: 5 } }),
  },
  {
    what: 'a label of kubectl',
    value: (object) => object.metadata.labels['team'],
    wanted: 'a',
    send: (plane, _api, path) => {
      const { namespace, name } = placeOf(path);
      return plane.kubectl(['-n', namespace, 'label', 'deployment', name, 'team=a']);
    },
  },
  {
    what: 'a container of a deployer',
    value: (object) => container(object, 'proxy')?.image,
    wanted: 'registry.example/proxy:1',
    send: (_plane, api, path) =>
      api.patch(path, 'strategic', {
        spec: { template: { spec: { containers: [{ name: 'proxy', image: 'registry.example/proxy:1' }] } } },
      }),
  },
  {
    what: 'an annotation of a controller',
    value: (object) => object.metadata.annotations?.['example.com/controller'],
    wanted: 'was here',
    send: (_plane, api, path) =>
      api.patch(path, 'merge', { metadata: { annotations: { 'example.com/controller': 'was here' } } }),
  },
];

function container({ spec: { template } }: Live, name: string): Container | undefined {
  return template.spec.containers.find((each) => each.name === name);
}

function namespaceOf(way: (typeof ways)[number]): string {
  return `by-${way.replace(' ', '-')}`;
}

function placeOf(path: string): { readonly namespace: string; readonly name: string } {
  const parts = path.split('/');
  return { namespace: parts[5] ?? '', name: parts[7] ?? '' };
}

/** The merge patch from one object to another: lists as a whole. */
function differences(before: object, after: object): object {
  const patch: Record<string, unknown> = {};
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [was, is] = [(before as Record<string, unknown>)[name], (after as Record<string, unknown>)[name]];
    if (JSON.stringify(was) === JSON.stringify(is)) continue;
    const isInner = (value: unknown): value is object =>
      typeof value === 'object' && value !== null && !Array.isArray(value);
    patch[name] = isInner(was) && isInner(is) ? differences(was, is) : (is ?? null);
  }
  return patch;
}
