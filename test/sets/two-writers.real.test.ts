/** Two applies of one set at once on a real API server: what the first one makes after the second one has ended. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connect } from '../../src/kube/client/connection.ts';
import { RestClient } from '../../src/kube/client/rest-client.ts';
import { readSetRecord, type SetRecord } from '../../src/sets/record/set-record.ts';
import { shadowRecordCrdText } from '../../src/sets/record/shadow-record-crd.ts';
import { type ControlPlane, startControlPlane } from '../kit/control-plane.ts';
import { eventually } from '../kit/eventually.ts';
import { kubeconfigFolder } from '../kit/kubeconfig-file.ts';
import type { LoopbackServer } from '../kit/loopback-server.ts';
import { describeOn, mainServer } from '../kit/real-servers.ts';
import { startRecordingProxy } from '../kit/recording-proxy.ts';
import { configMap, type Written } from '../kit/writes-suite.ts';
import { WritingGateway } from '../kit/writing-gateway.ts';

describeOn([mainServer], 'two writers of a set', { timeout: 120_000 }, (server) => {
  const folder = kubeconfigFolder();
  let plane: ControlPlane;
  let api: RestClient;
  let proxy: LoopbackServer;
  let gateway: WritingGateway;
  /** Keeps the real write of this object until `release`. */
  let gate: { readonly path: string; readonly reached: () => void; readonly release: Promise<void> } | null = null;
  /** Runs before the record is read after the real write of a member. */
  let between: (() => Promise<unknown>) | null = null;

  beforeAll(async () => {
    plane = await startControlPlane({ server });
    api = new RestClient(await connect({ kubeconfig: plane.kubeconfigPath }));
    await plane.kubectl(['apply', '-f', '-'], shadowRecordCrdText());
    await eventually(() => api.get('/apis/portolan.dev/v1alpha1/shadowrecords'));
    proxy = await startRecordingProxy(
      { url: plane.server, token: plane.token, ca: plane.caPem() },
      async ({ method, url = '' }) => {
        const held = gate;
        if (held === null && method === 'GET' && url.includes('/shadowrecords/') && between !== null) {
          const run = between;
          between = null;
          await run();
        }
        if (held === null || method !== 'PATCH' || url.includes('dryRun=All') || !url.includes(held.path)) return false;
        held.reached();
        await held.release;
        return false;
      },
    );
    gateway = await WritingGateway.start(folder.write({ server: proxy.url }));
  }, 120_000);
  afterAll(async () => {
    await gateway?.close();
    await proxy?.close();
    await api?.connection.close();
    await plane?.stop();
    folder.remove();
  });

  const place = async (name: string): Promise<string> => {
    await api.post('/api/v1/namespaces', { metadata: { name } });
    return name;
  };
  const recordOf = async (namespace: string): Promise<SetRecord> =>
    readSetRecord(await api.get(`/apis/portolan.dev/v1alpha1/namespaces/${namespace}/shadowrecords/web`));
  const configMaps = (namespace: string) => `/api/v1/namespaces/${namespace}/configmaps`;
  const namesIn = async (namespace: string) =>
    (await api.get<{ items: { metadata: { name: string } }[] }>(configMaps(namespace))).items.map(
      ({ metadata }) => metadata.name,
    );
  const one = (namespace: string, name: string, value = '1') => configMap(namespace, name, { a: value });
  const apply = (namespace: string, manifests: readonly object[], more: object = {}): Promise<Written> =>
    gateway.write('applySet', {
      set: { namespace, name: 'web' },
      docs: manifests.map((json) => ({ json })),
      options: { waitMs: 0 },
      ...more,
    });
  const results = ({ items }: Written) =>
    items.map(({ target, result, errors }) => [target.name, errors[0]?.code ?? result].join(' '));
  /** Begins the apply, and keeps its write of the ConfigMap b while `meanwhile` runs. */
  const heldAt = async (
    namespace: string,
    begun: () => Promise<Written>,
    meanwhile: () => Promise<unknown>,
    afterwards: (() => Promise<unknown>) | null = null,
  ) => {
    const [reached, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    gate = { path: `${configMaps(namespace)}/b`, reached: reached.resolve, release: released.promise };
    between = afterwards;
    const first = begun();
    await reached.promise;
    gate = null;
    await meanwhile();
    released.resolve();
    return first;
  };

  test('what is made after the other writer has ended is deleted; what the record names stays', async () => {
    const at = await place('made-late');
    const first = await heldAt(
      at,
      () => apply(at, [one(at, 'a'), one(at, 'b')], { options: { waitMs: 0, order: 'GIVEN' } }),
      async () => {
        expect((await apply(at, [one(at, 'a'), one(at, 'c')])).complete).toBe(true);
      },
    );
    expect(results(first)).toEqual(['a CREATED', 'b REVERTED', 'web STALE_OBJECT']);
    const { phase, members } = await recordOf(at);
    expect([phase, members.map(({ name }) => name), await namesIn(at)]).toEqual(['Applied', ['a', 'c'], ['a', 'c']]);
    expect(results(await apply(at, [one(at, 'a'), one(at, 'b')]))).toEqual([
      'a UNCHANGED',
      'b CREATED',
      'c DELETED',
      'web CHANGED',
    ]);
  });

  test('an object that was adopted late loses the marks of the set, and stays', async () => {
    const at = await place('adopted-late');
    await api.post(configMaps(at), one(at, 'b', 'mine'));
    await apply(at, [one(at, 'a')]);
    const first = await heldAt(
      at,
      () => apply(at, [one(at, 'a'), one(at, 'b')], { adopt: true }),
      async () => {
        expect((await apply(at, [one(at, 'a', '2')])).complete).toBe(true);
      },
      // As a controller that writes the status at once.
      (): Promise<unknown> => api.patch(`${configMaps(at)}/b`, 'merge', { data: { seen: 'yes' } }),
    );
    expect(results(first).at(-1)).toBe('web STALE_OBJECT');
    const { metadata } = await api.get<{ metadata: object }>(`${configMaps(at)}/b`);
    expect(metadata).not.toHaveProperty('ownerReferences');
    expect(metadata).not.toHaveProperty('labels');
    expect((await recordOf(at)).members.map(({ name }) => name)).toEqual(['a']);
  });

  test('an object of the set that the record does not name is a member again once it is submitted', async () => {
    const at = await place('unnamed');
    await apply(at, [one(at, 'a'), one(at, 'b')]);
    const { members } = await recordOf(at);
    const record = `/apis/portolan.dev/v1alpha1/namespaces/${at}/shadowrecords/web`;
    await api.patch(record, 'merge', { spec: { members: members.slice(0, 1) } });
    expect(results(await apply(at, [one(at, 'a'), one(at, 'b', '2')]))).toEqual([
      'a UNCHANGED',
      'b CHANGED',
      'web CHANGED',
    ]);
    // The marks alone are not enough: anybody who copies an object has them.
    await api.post(configMaps(at), {
      ...one(at, 'copy'),
      metadata: {
        name: 'copy',
        ownerReferences: [
          { apiVersion: 'portolan.dev/v1alpha1', kind: 'ShadowRecord', name: 'web', uid: (await recordOf(at)).uid },
        ],
      },
    });
    expect(results(await apply(at, [one(at, 'a'), one(at, 'copy')]))).toEqual([
      'a SKIPPED',
      'copy ALREADY_EXISTS',
      'b SKIPPED',
      'web SKIPPED',
    ]);
  });
});
