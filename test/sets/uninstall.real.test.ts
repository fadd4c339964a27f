/** `portolan shadow uninstall` on a real API server, while others write sets and hold records by finalizers. */
import { Readable } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import { shadow } from '../../src/cli/sets/shadow.ts';
import { connect } from '../../src/kube/client/connection.ts';
import { RestClient } from '../../src/kube/client/rest-client.ts';
import { startControlPlane } from '../kit/control-plane.ts';
import { eventually } from '../kit/eventually.ts';
import { describeOn, mainServer } from '../kit/real-servers.ts';
import { handMadeRecord } from '../kit/shadow-records.ts';

interface Named {
  readonly metadata: { readonly name: string; readonly uid: string; readonly ownerReferences?: readonly object[] };
}

describeOn([mainServer], 'shadow uninstall', { timeout: 90_000 }, (server) => {
  test('members that come while the question stands stay, and finalizers of others do not hold the definition', async () => {
    const plane = await startControlPlane({ server });
    onTestFinished(() => plane.stop());
    const api = new RestClient(await connect({ kubeconfig: plane.kubeconfigPath }));
    onTestFinished(() => api.connection.close());
    const records = '/apis/portolan.dev/v1alpha1/namespaces/default/shadowrecords';
    const configMaps = '/api/v1/namespaces/default/configmaps';
    const run = (action: string, input: AsyncIterable<string> | Iterable<string>) =>
      shadow(
        { kubeconfig: plane.kubeconfigPath, context: [], inCluster: false },
        { action, print: false, yes: false },
        {
          input: Object.assign(Readable.from(input), { isTTY: true }),
          output: { write: () => true },
          errors: { write: () => true },
        },
      );
    expect(await run('install', [])).toBe(0);
    await eventually(() => api.get(records));
    const memberOf = (name: string) => ({
      ...{ version: 'v1', kind: 'ConfigMap', resource: 'configmaps' },
      ...{ namespace: 'default', name },
    });
    const makeSet = async (name: string, members: readonly string[]): Promise<void> => {
      const { metadata } = await api.post<Named>(
        records,
        handMadeRecord({ namespace: 'default', name }, members.map(memberOf)),
      );
      for (const member of members) await makeMember(name, metadata.uid, member);
    };
    const makeMember = async (set: string, uid: string, name: string): Promise<void> => {
      const ownerReferences = [{ apiVersion: 'portolan.dev/v1alpha1', kind: 'ShadowRecord', name: set, uid }];
      await api.post(configMaps, { metadata: { name, ownerReferences } });
    };
    await makeSet('early', ['early-1']);
    const held = { metadata: { finalizers: ['x.example/f', 'portolan.dev/members'] } };
    const { metadata } = await api.patch<Named>(`${records}/early`, 'merge', held);
    async function* answer(): AsyncGenerator<string> {
      await makeSet('late', ['late-1', 'late-2']);
      await makeMember('early', metadata.uid, 'early-2');
      await api.patch(`${records}/early`, 'merge', { spec: { members: ['early-1', 'early-2'].map(memberOf) } });
      yield 'y\n';
    }
    expect(await run('uninstall', answer())).toBe(0);
    const { items } = await api.get<{ items: readonly Named[] }>(configMaps);
    const own = items.filter((each) => /^(early|late)/.test(each.metadata.name));
    expect(own.map((each) => [each.metadata.name, each.metadata.ownerReferences ?? []])).toEqual(
      ['early-1', 'early-2', 'late-1', 'late-2'].map((name) => [name, []]),
    );
    await eventually(async () => expect(await plane.kubectl(['get', 'crd', '-o', 'name'])).not.toContain('shadow'));
  });
});
