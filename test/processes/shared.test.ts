/** What the serve processes of a gateway have in common: the keys of writes, the audit log, the configuration, registered clusters. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type SimCluster, startSimCluster } from '../../sim/sim-cluster.ts';
import { must } from '../../src/base/must.ts';
import { eventually } from '../kit/eventually.ts';
import { type GatewayProcess, startGatewayProcess } from '../kit/gateway-process.ts';
import type { Answer } from '../kit/graphql-client.ts';
import { kubeconfigFolder } from '../kit/kubeconfig-file.ts';
import { childrenOf, isRunning, sendTo, serving } from '../kit/serve-processes.ts';
import { temporaryDirectory } from '../kit/temporary-directory.ts';
import { mutationOf } from '../kit/writes-suite.ts';

interface Asked {
  readonly headers?: Readonly<Record<string, string>>;
  readonly extensions?: object;
}

interface World {
  readonly sim: SimCluster;
  readonly gateway: GatewayProcess;
  readonly pids: readonly number[];
  /** Asks this process. */
  ask(pid: number, query: string, variables?: object, more?: Asked): Promise<Answer>;
}

async function world(args: readonly string[], features: object = {}): Promise<World> {
  const folder = kubeconfigFolder();
  onTestFinished(() => folder.remove());
  const sim = await startSimCluster({ features });
  onTestFinished(() => sim.close());
  for (const name of ['portolan', 'shop']) sim.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  const kubeconfig = folder.file('config', sim.kubeconfig());
  const gateway = await startGatewayProcess(['--kubeconfig', kubeconfig, '--processes', '2', ...args]);
  onTestFinished(() => {
    if (isRunning(gateway.pid)) process.kill(gateway.pid, 'SIGKILL');
  });
  const ask: World['ask'] = async (pid, query, variables = {}, { headers = {}, extensions = {} } = {}) => {
    const body = JSON.stringify({ query, variables, extensions });
    return JSON.parse((await sendTo(gateway.url, pid, { body, headers })).text) as Answer;
  };
  return { sim, gateway, pids: await serving(gateway, 2), ask };
}

const configMap = (name: string, values: object = {}) => ({
  ...{ apiVersion: 'v1', kind: 'ConfigMap' },
  ...{ metadata: { name, namespace: 'shop' }, data: values },
});

interface WrittenItems {
  readonly planId: string | null;
  readonly token: string | null;
  readonly items: readonly { readonly result: string | null; readonly errors: readonly { readonly code: string }[] }[];
}

test('the start token, the key of plans and the token of a write are those of all processes', {
  timeout: 240_000,
}, async () => {
  const { gateway, pids, ask } = await world(['--read-only=false']);
  const [first = 0, second = 0] = pids;
  const headers = { authorization: `Bearer ${new URL(gateway.url).hash.replace('#token=', '')}` };
  const apply = async (pid: number, name: string, options: object, more = headers): Promise<Answer> =>
    await ask(pid, mutationOf('apply'), { docs: [{ json: configMap(name, { a: 'b' }) }], options }, { headers: more });
  const written = ({ data, errors }: Answer): WrittenItems => {
    expect(errors).toBeUndefined();
    return must(data, 'data')['apply'] as WrittenItems;
  };
  for (const pid of pids)
    expect(JSON.stringify(await apply(pid, 'refused', {}, {} as typeof headers))).toContain('errors');
  for (const [name, one, two] of [
    ['forth', first, second],
    ['back', second, first],
  ] as const) {
    const { planId } = written(await apply(one, name, { dryRun: true }));
    expect(planId).not.toBeNull();
    const done = written(await apply(two, name, { plan: planId }));
    expect(done.items).toMatchObject([{ errors: [] }]);
    for (const pid of pids) {
      const shown = await ask(
        pid,
        `{ configMaps(filter: { metadata: { name: { eq: "${name}" } } }) { totalCount } }`,
        {},
        { headers, extensions: { portolan: { after: done.token } } },
      );
      expect(shown.data).toEqual({ configMaps: { totalCount: 1 } });
    }
  }
  // One that is started later has the same keys.
  process.kill(second, 'SIGKILL');
  await eventually(() => expect(isRunning(second)).toBe(false));
  const { planId } = written(await apply(first, 'later', { dryRun: true }));
  const again = await serving(gateway, 2);
  const third = again.find((pid) => pid !== first) ?? 0;
  expect(written(await apply(third, 'later', { plan: planId })).items).toMatchObject([{ errors: [] }]);
  await gateway.close();
});

test('a changed option of the configuration file is used by all processes', { timeout: 240_000 }, async () => {
  const file = join(temporaryDirectory('reload'), 'portolan.yaml');
  writeFileSync(file, 'maxCost: 1000000\n');
  const { gateway, pids, ask } = await world(['--config', file]);
  const query = '{ configMaps(first: 500) { nodes { metadata { name namespace uid } } } }';
  for (const pid of pids) expect(await ask(pid, query)).not.toHaveProperty('errors');
  writeFileSync(file, 'maxCost: 100\nreaders: 5\n');
  for (const pid of pids) {
    await eventually(async () =>
      expect((await ask(pid, query)).errors?.[0]?.extensions).toMatchObject({ code: 'QUERY_TOO_COSTLY' }),
    );
    const { text } = await sendTo(gateway.url, pid, { method: 'GET', path: '/metrics' });
    expect(text).toContain('portolan_config_restart_needed 1');
  }
  const [first = 0, second = 0] = pids;
  process.kill(second, 'SIGKILL');
  await eventually(() => expect(isRunning(second)).toBe(false));
  const third = (await serving(gateway, 2)).find((pid) => pid !== first) ?? 0;
  expect((await ask(third, query)).errors?.[0]?.extensions).toMatchObject({ code: 'QUERY_TOO_COSTLY' });
  await gateway.close();
});

test('each line of the audit log is whole, none is lost, and those of a write come in order', {
  timeout: 240_000,
}, async () => {
  const auditLog = join(temporaryDirectory('audit'), 'audit.jsonl');
  const { gateway, pids, ask } = await world(['--read-only=false', '--audit-log', auditLog, '--audit-required=true']);
  const headers = { authorization: `Bearer ${new URL(gateway.url).hash.replace('#token=', '')}` };
  const each = 60;
  await Promise.all(
    pids.map(async (pid, process) => {
      for (let at = 0; at < each; at += 10) {
        const docs = Array.from({ length: 10 }, (_, more) => ({ json: configMap(`p${process}-${at + more}`) }));
        expect(await ask(pid, mutationOf('apply'), { docs }, { headers })).not.toHaveProperty('errors');
      }
    }),
  );
  await gateway.close();
  const lines = readFileSync(auditLog, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  const stages = new Map<string, string[]>();
  for (const { event, name, stage } of lines as { event: string; name: string; stage: string }[]) {
    expect(event).toBe('write');
    stages.set(name, [...(stages.get(name) ?? []), stage]);
  }
  expect(stages.size).toBe(2 * each);
  for (const found of stages.values()) expect(found).toEqual(['intended', 'outcome']);
});

test('a full disk stops the writes of every process that must be audited', { timeout: 240_000 }, async () => {
  const { gateway, pids, ask, sim } = await world([
    '--read-only=false',
    '--audit-log',
    '/dev/full',
    '--audit-required=true',
  ]);
  const headers = { authorization: `Bearer ${new URL(gateway.url).hash.replace('#token=', '')}` };
  for (const pid of pids) {
    const answer = await ask(pid, mutationOf('apply'), { docs: [{ json: configMap(`by-${pid}`) }] }, { headers });
    expect(JSON.stringify(answer)).toContain('AUDIT_UNAVAILABLE');
    expect(sim.get(`/api/v1/namespaces/shop/configmaps/by-${pid}`)).toBeUndefined();
    await eventually(async () =>
      expect((await sendTo(gateway.url, pid, { method: 'GET', path: '/readyz' })).status).toBe(503),
    );
  }
  await gateway.close();
});

test('a cluster that a Secret registers is served by all processes, also by one that is started later', {
  timeout: 180_000,
}, async () => {
  const { gateway, pids, ask, sim } = await world(['--cluster-secrets', 'portolan', '--kinds', 'configmaps']);
  const other = await startSimCluster();
  onTestFinished(() => other.close());
  other.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } });
  other.create(configMap('theirs'));
  const register = (name: string, cluster: SimCluster): void => {
    sim.create({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name, namespace: 'portolan', labels: { 'portolan.dev/secret-type': 'cluster' } },
      data: { kubeconfig: Buffer.from(cluster.kubeconfig()).toString('base64') },
    });
  };
  const query = '{ configMaps(filter: { clusters: ["other"] }) { nodes { metadata { name } } } }';
  register('other', other);
  const expected = { configMaps: { nodes: [{ metadata: { name: 'theirs' } }] } };
  for (const pid of pids) await eventually(async () => expect((await ask(pid, query)).data).toEqual(expected), 30_000);
  const [first = 0, second = 0] = pids;
  process.kill(second, 'SIGKILL');
  await eventually(() => expect(isRunning(second)).toBe(false));
  await serving(gateway, 2);
  const third = childrenOf(gateway.pid).find((pid) => pid !== first) ?? 0;
  await eventually(async () => expect((await ask(third, query)).data).toEqual(expected));
  await gateway.close();
});
