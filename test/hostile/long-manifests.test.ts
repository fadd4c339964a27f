/** Long and hostile texts of manifests: the gateway answers others meanwhile, refuses the text, and lives. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startSimCluster } from '../../sim/sim-cluster.ts';
import { type RunningGateway, runGateway } from '../kit/gateway.ts';
import { ask } from '../kit/graphql-client.ts';
import { kubeconfigFolder } from '../kit/kubeconfig-file.ts';
import { send } from '../kit/writes-suite.ts';

const head = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: long, namespace: default}\n';
/** The largest request has 1 MiB. */
const size = 1_000_000;

const folder = kubeconfigFolder();
let sim: Awaited<ReturnType<typeof startSimCluster>>;
let gateway: RunningGateway;

beforeAll(async () => {
  sim = await startSimCluster({});
  gateway = await runGateway({ kubeconfig: folder.file('config', sim.kubeconfig()) }, { readOnly: 'false' });
}, 60_000);
afterAll(async () => {
  await gateway?.close();
  await sim?.close();
  folder.remove();
});

function apply(yaml: string, headers?: Record<string, string>) {
  const token = new URL(gateway.page).hash.replace('#token=', '');
  const args = { docs: [{ yaml }], options: { dryRun: true } };
  return send(gateway.url, 'apply', args, headers ?? { authorization: `Bearer ${token}` });
}

test.each(['{},', '1,'])('others are answered while a text is read that repeats %j', async (item) => {
  const order: string[] = [];
  const hostile = apply(`${head}v: [${item.repeat((size - head.length) / item.length)}]`).finally(() =>
    order.push('hostile'),
  );
  for (let turn = 0; turn < 3; turn += 1) {
    const health = await fetch(new URL('/healthz', gateway.url));
    expect([health.status, await health.json()]).toEqual([200, { ok: true }]);
    const { data } = await ask(gateway.url, '{ pods(first: 1) { totalCount } }');
    expect(data).toMatchObject({ pods: { totalCount: expect.any(Number) } });
    order.push('others');
  }
  const { errors } = await hostile;
  expect(errors?.[0]?.extensions?.['code']).toMatch(/^(?:BAD_USER_INPUT|QUERY_TOO_COSTLY)$/);
  expect(order).toEqual(['others', 'others', 'others', 'hostile']);
  const { data } = await apply(`${head}data: {a: b}\n`);
  expect(data?.['apply']?.items).toMatchObject([{ result: 'CREATED', errors: [] }]);
});

test('a long text is written as it is', async () => {
  const lines = Array.from({ length: 2000 }, (_, index) => `  key${index}: "${index}"\n`).join('');
  const { data, errors } = await apply(`${head}data:\n${lines}`);
  expect(errors).toBeUndefined();
  const [item] = data?.['apply']?.items ?? [];
  expect(item?.result).toBe('CREATED');
  expect(Object.keys(item?.after?.['data'] as object)).toHaveLength(2000);
});

test('the text of a caller who may not write is not read', async () => {
  const { errors } = await apply('a: [', {});
  expect(errors?.map(({ extensions }) => extensions?.['code'])).toEqual(['FORBIDDEN']);
});
