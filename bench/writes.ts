/**
 * Mutations beside the same requests of a plain client, on one API server, in turns:
 *
 *   one write    the mutation until `seen`, beside a bare PATCH until its event has come over a bare watch
 *   many         restarts of Deployments by one mutation, without and with a plan, beside the same PATCHes by a plain client that has as many
 *                requests at a time
 *   a plan       of the same Deployments
 *
 * The API server is that of KUBEBUILDER_ASSETS; without it the simulated one, in a process of its own.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { spawnSimCluster } from '../sim/spawn-sim.ts';
import { must } from '../src/base/must.ts';
import { connect } from '../src/kube/client/connection.ts';
import { RestClient } from '../src/kube/client/rest-client.ts';
import { encodeObjectId } from '../src/query/plan/object-id.ts';
import { startControlPlane } from '../test/kit/control-plane.ts';
import { kubeconfigFolder } from '../test/kit/kubeconfig-file.ts';
import { mainServer } from '../test/kit/real-servers.ts';
import { BareWatch } from './support/bare-watch.ts';
import { gatewayFlags } from './support/gateway-flags.ts';
import { median } from './support/page-load.ts';
import { each, percentile, rounded, timed } from './support/times.ts';

export const about =
  'mutations until they are seen, bulk writes and plans, beside a plain client (--writes N, --objects N, --turns N)';

const namespace = 'bench';
const cluster = 'bench';
/** Requests of one mutation at a time (src/writes/run/run-writes.ts). */
const parallel = 8;
const maps = `/api/v1/namespaces/${namespace}/configmaps`;
const deployments = `/apis/apps/v1/namespaces/${namespace}/deployments`;

interface Server {
  readonly name: string;
  readonly kubeconfig: string;
  stop(): Promise<void>;
}

interface Versioned {
  readonly metadata: { readonly resourceVersion: string };
}

interface Gateway {
  readonly url: string;
  readonly token: string;
  readonly child: ChildProcess;
}

async function startServer(): Promise<Server> {
  if (mainServer.missing() === null) {
    const plane = await startControlPlane();
    return { name: mainServer.name, kubeconfig: plane.kubeconfigPath, stop: () => plane.stop() };
  }
  const folder = kubeconfigFolder();
  const sim = await spawnSimCluster({ objects: 'empty', controllers: false });
  return {
    name: 'the simulated API server',
    kubeconfig: folder.file('config', sim.kubeconfig),
    async stop() {
      await sim.close();
      folder.remove();
    },
  };
}

async function startChild(kubeconfig: string): Promise<Gateway> {
  const child = fork(fileURLToPath(new URL('./writes.child.ts', import.meta.url)), [kubeconfig], {
    execArgv: [...gatewayFlags()],
  });
  const [message] = (await once(child, 'message')) as [{ url: string; token: string }];
  return { ...message, child };
}

async function mutate<T>({ url, token }: Gateway, query: string, variables: object): Promise<T> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ query, variables }),
  });
  const answer = (await response.json()) as { data?: Record<string, T>; errors?: unknown };
  if (answer.errors !== undefined) throw new Error(JSON.stringify(answer.errors));
  return must(Object.values(answer.data ?? {})[0], 'an answer');
}

const patchText = `mutation ($id: ID!, $patch: JSON!) { patch(target: { id: $id }, patch: $patch) { items { result seen errors { message } } } }`;
const restartText = `mutation ($objects: [TargetInput!], $options: WriteOptions) {
  restart(targets: { objects: $objects }, options: $options) { planId complete items { result } }
}`;

interface PatchAnswer {
  readonly items: readonly { readonly result: string; readonly seen: boolean }[];
}

const idOf = (key: string, name: string): string => encodeObjectId({ cluster, key, namespace, name });

/** Milliseconds of each write by both ways, `width` at a time. */
async function oneByOne(
  gateway: Gateway,
  client: RestClient,
  watch: BareWatch<Versioned>,
  writes: number,
  width: number,
): Promise<{ readonly plain: number[]; readonly mutation: number[] }> {
  const [plain, mutation]: [number[], number[]] = [[], []];
  const block = Math.max(width, 20);
  for (let done = 0; done < writes; done += block) {
    const value = (): object => ({ data: { at: String(performance.now()) } });
    await each(block, width, async (index) => {
      const path = `${maps}/map-${index % width}`;
      plain.push(
        await timed(async () => {
          const { metadata } = await client.patch<{ metadata: { resourceVersion: string } }>(path, 'merge', value());
          await watch.until(metadata.resourceVersion);
        }),
      );
    });
    await each(block, width, async (index) => {
      const variables = { id: idOf('configmaps', `map-${index % width}`), patch: value() };
      mutation.push(
        await timed(async () => {
          const { items } = await mutate<PatchAnswer>(gateway, patchText, variables);
          if (items[0]?.seen !== true) throw new Error(`not seen: ${JSON.stringify(items)}`);
        }),
      );
    });
  }
  return { plain, mutation };
}

export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      writes: { type: 'string', default: '400' },
      objects: { type: 'string', default: '500' },
      turns: { type: 'string', default: '5' },
    },
  });
  const [writes, count, turns] = [Number(values.writes), Number(values.objects), Number(values.turns)];
  const server = await startServer();
  const client = new RestClient(await connect({ kubeconfig: server.kubeconfig }));
  await client.post('/api/v1/namespaces', { metadata: { name: namespace } });
  await each(50, 8, async (index) => void (await client.post(maps, { metadata: { name: `map-${index}` } })));
  const name = (index: number): string => `web-${index}`;
  await each(count, 8, async (index) => {
    const labels = { app: name(index) };
    const spec = { containers: [{ name: 'app', image: 'registry.example/app:1' }] };
    await client.post(deployments, {
      metadata: { name: name(index) },
      spec: { replicas: 0, selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
    });
  });
  const gateway = await startChild(server.kubeconfig);
  const watch = await BareWatch.open<Versioned>(client, maps, ({ metadata }) => metadata.resourceVersion);
  try {
    process.stdout.write(`${server.name}, ${count} Deployments, ${writes} writes, ${turns} turns\n`);
    await oneByOne(gateway, client, watch, 60, 1);
    const single = await oneByOne(gateway, client, watch, writes, 1);
    const many = await oneByOne(gateway, client, watch, writes, 50);
    const over = (of: typeof single, part: number): number =>
      percentile(of.mutation, part) - percentile(of.plain, part);
    const objects = Array.from({ length: count }, (_, index) => ({ id: idOf('deployments.apps', name(index)) }));
    const figures = { plain: [] as number[], bulk: [] as number[], plan: [] as number[], planned: [] as number[] };
    for (let turn = 0; turn < turns; turn += 1) {
      const at = new Date(Date.now() + turn * 1000).toISOString();
      const patch = { spec: { template: { metadata: { annotations: { 'kubectl.kubernetes.io/restartedAt': at } } } } };
      figures.plain.push(
        await timed(() =>
          each(
            count,
            parallel,
            async (index) => void (await client.patch(`${deployments}/${name(index)}`, 'merge', patch)),
          ),
        ),
      );
      const options = { waitMs: 0 };
      await nextSecond();
      figures.bulk.push(await timed(() => mutate(gateway, restartText, { objects, options })));
      let plan = '';
      await nextSecond();
      figures.plan.push(
        await timed(async () => {
          const found = await mutate<{ planId: string }>(gateway, restartText, { objects, options: { dryRun: true } });
          plan = found.planId;
        }),
      );
      figures.planned.push(await timed(() => mutate(gateway, restartText, { objects, options: { plan, waitMs: 0 } })));
    }
    const ratio = (of: readonly number[]): number => median(of.map((ms, turn) => (figures.plain[turn] ?? 0) / ms));
    const line = {
      bench: 'writes',
      overPatchMs: rounded(over(single, 0.5)),
      overPatchP99Ms: rounded(over(single, 0.99)),
      overPatch50Ms: rounded(over(many, 0.5)),
      patchMs: rounded(percentile(single.plain, 0.5)),
      planOf500Ms: rounded((median(figures.plan) * 500) / count),
      bulkRatio: rounded(ratio(figures.bulk)),
      bulkWithPlanRatio: rounded(ratio(figures.planned)),
    };
    process.stdout.write(
      `a bare PATCH until its event ${line.patchMs} ms; a mutation until seen ${line.overPatchMs} ms more\n`,
    );
    process.stdout.write(`${JSON.stringify(line)}\n`);
    const { overPatchMs, planOf500Ms, bulkRatio, bulkWithPlanRatio } = line;
    if (overPatchMs > 15 || planOf500Ms > 3000 || bulkRatio < 0.8 || bulkWithPlanRatio < 0.4) process.exitCode = 1;
  } finally {
    watch.close();
    gateway.child.disconnect();
    await once(gateway.child, 'exit');
    await client.connection.close();
    await server.stop();
  }
}

/** A restart writes whole seconds: the next one must be another. */
async function nextSecond(): Promise<void> {
  await sleep(1050 - (Date.now() % 1000));
}
