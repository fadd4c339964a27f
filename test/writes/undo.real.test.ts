/** The suite of edits and reverts against real kube-apiservers: the newest and an old one. */
import { startControlPlane } from '../kit/control-plane.ts';
import { describeOn, mainServer, oldServer } from '../kit/real-servers.ts';
import { describeUndo } from '../kit/undo-suite.ts';

describeOn([mainServer, oldServer], 'a real cluster', { timeout: 60_000 }, (server) => {
  describeUndo('kube-apiserver', async () => {
    const plane = await startControlPlane({ server });
    return { kubeconfig: plane.kubeconfigPath, close: () => plane.stop() };
  });
});
