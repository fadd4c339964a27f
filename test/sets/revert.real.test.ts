/** Reverts of sets on real API servers. */
import { afterAll, beforeAll } from 'vitest';
import { connect } from '../../src/kube/client/connection.ts';
import { RestClient } from '../../src/kube/client/rest-client.ts';
import { shadowRecordCrdText } from '../../src/sets/record/shadow-record-crd.ts';
import { type ControlPlane, startControlPlane } from '../kit/control-plane.ts';
import { eventually } from '../kit/eventually.ts';
import { describeOn, mainServer } from '../kit/real-servers.ts';
import { type RevertPlace, testReverts } from '../kit/revert-suite.ts';
import { WritingGateway } from '../kit/writing-gateway.ts';

describeOn([mainServer], 'reverts of sets', { timeout: 120_000 }, (server) => {
  let plane: ControlPlane;
  let place: RevertPlace;

  beforeAll(async () => {
    plane = await startControlPlane({ server });
    const api = new RestClient(await connect({ kubeconfig: plane.kubeconfigPath }));
    await plane.kubectl(['apply', '-f', '-'], shadowRecordCrdText());
    await eventually(() => api.get('/apis/portolan.dev/v1alpha1/shadowrecords'));
    place = { api, gateway: await WritingGateway.start(plane.kubeconfigPath) };
  }, 120_000);
  afterAll(async () => {
    await place?.gateway.close();
    await place?.api.connection.close();
    await plane?.stop();
  });

  testReverts(() => place);
});
