/** A caller who spreads its requests over the serve processes of a gateway. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startSimCluster } from '../../sim/sim-cluster.ts';
import { must } from '../../src/base/must.ts';
import { startGatewayProcess } from '../kit/gateway-process.ts';
import type { Answer } from '../kit/graphql-client.ts';
import { kubeconfigFolder } from '../kit/kubeconfig-file.ts';
import { sendTo, serving } from '../kit/serve-processes.ts';
import { temporaryDirectory } from '../kit/temporary-directory.ts';
import { mutationOf } from '../kit/writes-suite.ts';

interface Item {
  readonly result: string | null;
  readonly errors: readonly { readonly code: string; readonly message: string }[];
}

/** Callers of whom each may write its first objects. */
const callers = ['alice', 'carol', 'dave'];
const users = ['gateway', ...callers, 'bob'].map((user) => ({
  token: `token-of-${user}`,
  user,
  groups: ['system:masters'],
}));

test('what a caller writes in a minute is counted over all processes, for each caller apart', {
  timeout: 240_000,
}, async () => {
  const folder = kubeconfigFolder();
  onTestFinished(() => folder.remove());
  const sim = await startSimCluster({ features: { users } });
  onTestFinished(() => sim.close());
  sim.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } });
  const kubeconfig = folder.write({ server: sim.url }, { token: 'token-of-gateway' });
  const options = join(temporaryDirectory('limits'), 'portolan.yaml');
  writeFileSync(options, 'callerWrites: 10\n');
  const gateway = await startGatewayProcess([
    ...['--kubeconfig', kubeconfig, '--config', options, '--auth', 'token', '--kinds', 'configmaps,namespaces'],
    ...['--processes', '2'],
  ]);
  onTestFinished(() => gateway.kill());
  const pids = await serving(gateway, 2, 60_000, { authorization: 'Bearer token-of-gateway' });
  let made = 0;
  /** Creates objects: how many were created, and how many seconds the caller must wait after a refusal. */
  const create = async (pid: number, user: string, count: number) => {
    const docs = Array.from({ length: count }, () => {
      made += 1;
      return { json: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `made-${made}`, namespace: 'shop' } } };
    });
    const body = JSON.stringify({ query: mutationOf('create'), variables: { docs, options: {} } });
    const { text } = await sendTo(gateway.url, pid, { body, headers: { authorization: `Bearer token-of-${user}` } });
    const { data, errors } = JSON.parse(text) as Answer;
    expect(errors).toBeUndefined();
    const { items } = must(data, 'data')['create'] as { readonly items: readonly Item[] };
    const [first] = items.flatMap((item) => item.errors);
    const [, seconds] = /one caller may write 10\. Send them again in (\d+) s/.exec(first?.message ?? '') ?? [];
    if (first !== undefined) expect([first.code, Number(seconds)]).toEqual(['TOO_MANY_REQUESTS', expect.any(Number)]);
    return { created: items.filter(({ result }) => result === 'CREATED').length, seconds: Number(seconds) };
  };
  const [first = 0, second = 0] = pids;
  /** False if a minute ended meanwhile, and the count of the caller with it. */
  const isCountedTogether = async (user: string): Promise<boolean> => {
    const { created, seconds } = await create(first, user, 12);
    if (created !== 10) return false;
    const until = performance.now() + (seconds - 1) * 1000;
    const more = await create(second, user, 5);
    if (performance.now() >= until) return false;
    expect(more.created).toBe(0);
    return true;
  };
  const attempts: boolean[] = [];
  for (const user of callers) if (!attempts.includes(true)) attempts.push(await isCountedTogether(user));
  expect(attempts).toContain(true);
  // Others may write at both processes.
  expect([await create(first, 'bob', 5), await create(second, 'bob', 5)]).toMatchObject([
    { created: 5 },
    { created: 5 },
  ]);
});
