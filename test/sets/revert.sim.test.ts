/** Reverts of sets on the simulated cluster. */
import { afterAll, beforeAll } from 'vitest';
import { type SimCluster, startSimCluster } from '../../sim/sim-cluster.ts';
import { connect } from '../../src/kube/client/connection.ts';
import { RestClient } from '../../src/kube/client/rest-client.ts';
import { shadowRecordCrd } from '../../src/sets/record/shadow-record-crd.ts';
import { kubeconfigFolder } from '../kit/kubeconfig-file.ts';
import { type RevertPlace, testReverts } from '../kit/revert-suite.ts';
import { WritingGateway } from '../kit/writing-gateway.ts';

const folder = kubeconfigFolder();
let sim: SimCluster;
let place: RevertPlace;

beforeAll(async () => {
  sim = await startSimCluster({ crds: [shadowRecordCrd()] });
  const kubeconfig = folder.write({ server: sim.url });
  place = { api: new RestClient(await connect({ kubeconfig })), gateway: await WritingGateway.start(kubeconfig) };
});
afterAll(async () => {
  await place?.gateway.close();
  await place?.api.connection.close();
  await sim?.close();
  folder.remove();
});

testReverts(() => place);
