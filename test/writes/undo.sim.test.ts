/** The suite of edits and reverts against the simulated cluster. */
import { startSimCluster } from '../../sim/sim-cluster.ts';
import { kubeconfigFolder } from '../kit/kubeconfig-file.ts';
import { describeUndo } from '../kit/undo-suite.ts';

describeUndo('simulated cluster', async () => {
  const cluster = await startSimCluster({ objects: 'empty' });
  const folder = kubeconfigFolder();
  return {
    kubeconfig: folder.file('config', cluster.kubeconfig()),
    async close() {
      await cluster.close();
      folder.remove();
    },
  };
});
