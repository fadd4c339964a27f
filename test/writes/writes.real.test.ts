/** The suite of mutations against real kube-apiservers: the newest and an old one. */
import { startControlPlane } from '../kit/control-plane.ts';
import { describeOn, mainServer, oldServer } from '../kit/real-servers.ts';
import { describeWrites } from '../kit/writes-suite.ts';

describeOn([mainServer, oldServer], 'a real cluster', { timeout: 60_000 }, (server) => {
  describeWrites('kube-apiserver', async () => {
    const plane = await startControlPlane({ server, controllerManager: true });
    return { kubeconfig: plane.kubeconfigPath, close: () => plane.stop() };
  });
});
