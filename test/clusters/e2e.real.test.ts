/** The end-to-end suite once more, against a real kube-apiserver with etcd and the controller manager. */
import { startControlPlane } from '../kit/control-plane.ts';
import { describeEndToEnd } from '../kit/end-to-end.ts';
import { describeOn, mainServer } from '../kit/real-servers.ts';

describeOn([mainServer], 'a real cluster', { timeout: 60_000 }, () => {
  describeEndToEnd('kube-apiserver', async () => {
    const plane = await startControlPlane({ controllerManager: true });
    return { kubeconfig: plane.kubeconfigPath, close: () => plane.stop() };
  });
});
