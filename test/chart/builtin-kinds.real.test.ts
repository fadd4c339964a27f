/** The table of built-in kinds is what Kubernetes 1.37 serves. */
import { expect, test } from 'vitest';
import { builtinKinds } from '../../deploy/chart-source/builtin-kinds.ts';
import { takeInventory } from '../../src/ingest/cluster/inventory.ts';
import { connect } from '../../src/kube/client/connection.ts';
import { RestClient } from '../../src/kube/client/rest-client.ts';
import { startControlPlane } from '../kit/control-plane.ts';
import { describeOn, mainServer } from '../kit/real-servers.ts';

describeOn([mainServer], 'the built-in kinds of the chart', { timeout: 120_000 }, (server) => {
  test('are those of the server', async () => {
    const plane = await startControlPlane({ server });
    try {
      const connection = await connect({ kubeconfig: plane.kubeconfigPath });
      const { chosen } = await takeInventory(new RestClient(connection));
      await connection.close();
      const served = chosen.map(({ group, plural, kind, namespaced, verbs }) => ({
        group,
        plural,
        kind,
        namespaced,
        verbs: verbs.filter((verb) => verb === 'list' || verb === 'watch'),
      }));
      const byName = (kinds: readonly { group: string; plural: string }[]) =>
        kinds.toSorted((a, b) => (`${a.group}/${a.plural}` < `${b.group}/${b.plural}` ? -1 : 1));
      expect(byName(builtinKinds)).toEqual(byName(served));
    } finally {
      await plane.stop();
    }
  });
});
