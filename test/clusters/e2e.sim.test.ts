/** The end-to-end suite against the simulated cluster. */
import { startSimCluster } from '../../sim/sim-cluster.ts';
import { describeEndToEnd } from '../kit/end-to-end.ts';
import { kubeconfigFolder } from '../kit/kubeconfig-file.ts';

describeEndToEnd('simulated cluster', async () => {
  const cluster = await startSimCluster({ objects: 'empty', controllers: true });
  const folder = kubeconfigFolder();
  return {
    kubeconfig: folder.file('config', cluster.kubeconfig()),
    async close() {
      await cluster.close();
      folder.remove();
    },
  };
});
