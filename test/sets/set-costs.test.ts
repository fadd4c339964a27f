/** The history and the reversal of a set cost what they read, whatever the document says of it. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type SimCluster, startSimCluster } from '../../sim/sim-cluster.ts';
import { shadowRecordCrd } from '../../src/sets/record/shadow-record-crd.ts';
import { eventually } from '../kit/eventually.ts';
import { ask } from '../kit/graphql-client.ts';
import { kubeconfigFolder } from '../kit/kubeconfig-file.ts';
import { WritingGateway } from '../kit/writing-gateway.ts';

const folder = kubeconfigFolder();
const set = { namespace: 'default', name: 'app' };
const memberCount = 60;
let sim: SimCluster;
/** Of a small one, an operation may cost 2,000 values. */
let gateways: { readonly large: WritingGateway; readonly small: WritingGateway };

beforeAll(async () => {
  sim = await startSimCluster({ crds: [shadowRecordCrd()] });
  const kubeconfig = folder.write({ server: sim.url });
  gateways = {
    large: await WritingGateway.start(kubeconfig),
    small: await WritingGateway.start(kubeconfig, { maxCost: '2000' }),
  };
});
afterAll(async () => {
  await gateways?.large.close();
  await gateways?.small.close();
  await sim?.close();
  folder.remove();
});

test('the reversal of a set of 60 members, and the history of a record that has changed often', async () => {
  const docs = (count: number, value: string) =>
    Array.from({ length: count }, (_, index) => ({
      json: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `m-${index}` }, data: { value } },
    }));
  const codesOf = async ({ url, headers }: WritingGateway, document: string): Promise<readonly unknown[]> => {
    const { errors = [] } = await ask(url, document, {}, headers);
    return errors.map(({ extensions }) => extensions?.['code']);
  };
  const begun = Math.ceil(Date.now() / 1000) * 1000;
  await eventually(async () => expect(Date.now()).toBeGreaterThan(begun));
  await gateways.large.write('applySet', { set, docs: docs(memberCount, 'first') });
  const tiny = [{ json: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'tiny' } } }];
  await gateways.large.write('applySet', { set: { ...set, name: 'tiny' }, docs: tiny });
  // Each gateway reads the record on its own. The state at `now` must be that after the apply.
  const phase = '{ portolanDevShadowRecord(namespace: "default", name: "tiny") { spec { phase } } }';
  await eventually(async () => {
    const { url, headers } = gateways.small;
    expect((await ask(url, phase, {}, headers)).data).toEqual({
      portolanDevShadowRecord: { spec: { phase: 'Applied' } },
    });
  });
  const now = new Date().toISOString();
  await eventually(async () => expect(Date.now()).toBeGreaterThan(Date.parse(now) + 1));
  const revert = (name: string) =>
    `mutation { revertSet(set: { namespace: "default", name: "${name}" }, to: "${now}", options: { dryRun: true }) { complete } }`;
  const history =
    '{ portolanDevShadowRecord(namespace: "default", name: "app") { setHistory(first: 1) { nodes { at } } } }';
  await eventually(async () => expect(await codesOf(gateways.small, revert('app'))).toEqual(['QUERY_TOO_COSTLY']));
  expect(await codesOf(gateways.large, revert('app'))).toEqual([]);
  await eventually(async () => expect(await codesOf(gateways.small, revert('tiny'))).toEqual([]));
  expect(await codesOf(gateways.small, history)).toEqual([]);
  for (let change = 0; change < 20; change += 1) {
    await gateways.large.write('applySet', { set, docs: docs(memberCount, `change-${change}`) });
  }
  await eventually(async () => expect(await codesOf(gateways.small, history)).toEqual(['QUERY_TOO_COSTLY']));
  expect(await codesOf(gateways.large, history)).toEqual([]);
  // All states are charged before the first of them is read.
  await eventually(async () => {
    const { errors = [] } = await ask(gateways.small.url, history, {}, gateways.small.headers);
    const [, spent] = /give (\d+) values/.exec(errors[0]?.message ?? '') ?? [];
    expect(Number(spent)).toBeGreaterThan(2000 + 2 * memberCount);
  });
}, 120_000);
