/** The end-to-end suite once more, against a real kube-apiserver with etcd and the controller manager. */
import { describe } from 'vitest';
import { controlPlaneAssets, startControlPlane } from './kit/control-plane.ts';
import { describeEndToEnd } from './kit/end-to-end.ts';

describe.skipIf(controlPlaneAssets() === null)('with KUBEBUILDER_ASSETS', () => {
  describeEndToEnd('kube-apiserver', async () => {
    const plane = await startControlPlane({ controllerManager: true });
    const customObjects = await plane.takesCustomObjects();
    return { customObjects, kubeconfig: plane.kubeconfigPath, close: () => plane.stop() };
  });
});
