/** The suite of mutations against the simulated cluster. */
import { startSimCluster } from '../../sim/sim-cluster.ts';
import { kubeconfigFolder } from '../kit/kubeconfig-file.ts';
import { describeWrites } from '../kit/writes-suite.ts';

describeWrites('simulated cluster', async () => {
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
