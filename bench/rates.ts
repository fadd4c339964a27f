/**
 * How often the objects of a real control plane change: kube-apiserver, etcd, the controllers, the scheduler, and kwok in place of kubelets.
 * Portolan's ingest thread reads all kinds, and its log is counted. Leases are not read unless they are named (selection.ts): a kubelet renews
 * that of its Node every ten seconds.
 *
 *   at rest -> rollouts: Deployments are rolled out one after the other -> jobs: CronJobs run each minute, besides
 *
 * Needs the folder of KUBEBUILDER_ASSETS with kube-scheduler and kwok.
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startIngest } from '../src/ingest/thread/start-ingest.ts';
import { Database } from '../src/store/sqlite/database.ts';
import { type ControlPlane, startControlPlane } from '../test/kit/control-plane.ts';
import { inFolder } from './support/folder.ts';
import { rounded } from './support/times.ts';

export const about =
  'changes a second of a real control plane with fake Nodes (--nodes N, --pods N, --seconds N, --rollouts N a minute)';

const deploymentPods = 10;

export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      nodes: { type: 'string', default: '100' },
      pods: { type: 'string', default: '2000' },
      seconds: { type: 'string', default: '60' },
      rollouts: { type: 'string', default: '12' },
    },
  });
  const [nodes, pods, seconds] = [Number(values.nodes), Number(values.pods), Number(values.seconds)];
  const everyMs = 60_000 / Number(values.rollouts);
  const plane = await startControlPlane({ controllerManager: true, runPods: true });
  try {
    await inFolder(async (folder) => {
      await create(
        plane,
        Array.from({ length: nodes }, (_, index) => node(index)),
      );
      const deployments = Array.from({ length: pods / deploymentPods }, (_, index) => `web-${index}`);
      await create(plane, deployments.map(deployment));
      const file = join(folder, 'rates.db');
      const ingest = await startIngest({
        file,
        clusters: [{ name: 'bench', kubeconfig: plane.kubeconfigPath }],
        logLevel: 'warn',
      });
      try {
        await Promise.race([ingest.synced, ingest.failed]);
        const database = new Database(file, { readonly: true });
        await running(database, pods);
        const found = [await counted(database, 'at rest', seconds, async () => {})];
        const rollout = async (stop: AbortSignal): Promise<void> => {
          for (let turn = 0; !stop.aborted; turn += 1) {
            await plane.kubectl(['rollout', 'restart', 'deployment', deployments[turn % deployments.length] ?? '']);
            await sleep(everyMs, undefined, { signal: stop }).catch(() => {});
          }
        };
        found.push(await counted(database, 'rollouts', seconds, rollout));
        await create(
          plane,
          Array.from({ length: nodes / 2 }, (_, index) => cronJob(index)),
        );
        found.push(await counted(database, 'jobs', seconds, rollout));
        database.close();
        report(found, { nodes, pods });
      } finally {
        await ingest.close();
      }
    });
  } finally {
    await plane.stop();
  }
}

interface Counted {
  readonly phase: string;
  readonly seconds: number;
  readonly changes: number;
  /** The kinds with the most changes. */
  readonly kinds: readonly (readonly [key: string, changes: number])[];
}

async function counted(
  database: Database,
  phase: string,
  seconds: number,
  work: (stop: AbortSignal) => Promise<void>,
): Promise<Counted> {
  const [revision] = database.statement('SELECT revision FROM state').get() ?? [];
  const stop = new AbortController();
  const [began, working] = [performance.now(), work(stop.signal)];
  await sleep(seconds * 1000);
  stop.abort();
  const took = (performance.now() - began) / 1000;
  const kinds = database
    .statement(
      'SELECT k.key, count(*) FROM change c JOIN kind k ON k.id = c.kind WHERE c.seq > ? GROUP BY 1 ORDER BY 2 DESC',
    )
    .all(Number(revision))
    .map(([key, changes]) => [String(key), Number(changes)] as const);
  await working;
  const changes = kinds.reduce((sum, [, some]) => sum + some, 0);
  return { phase, seconds: took, changes, kinds: kinds.slice(0, 6) };
}

function report(found: readonly Counted[], size: { readonly nodes: number; readonly pods: number }): void {
  for (const { phase, seconds, changes, kinds } of found) {
    const most = kinds.map(([key, some]) => `${key} ${(some / seconds).toFixed(1)}`).join(', ');
    process.stdout.write(`${phase.padEnd(9)} ${(changes / seconds).toFixed(1)} changes/s   (${most})\n`);
  }
  const [atRest = 0, rollouts = 0, jobs = 0] = found.map(({ changes, seconds }) => rounded(changes / seconds));
  process.stdout.write(`${JSON.stringify({ bench: 'rates', ...size, atRest, rollouts, jobs })}\n`);
}

/** Waits until that many Pods run. */
async function running(database: Database, pods: number): Promise<void> {
  const count = `SELECT count(*) FROM object o JOIN kind k ON k.id = o.kind JOIN body b USING (id)
    WHERE k.key = 'pods' AND b.body ->> '$.status.phase' = 'Running'`;
  for (let seconds = 0; Number(database.statement(count).get()?.[0]) < pods; seconds += 1) {
    if (seconds > 600) throw new Error('the Pods do not run');
    await sleep(1000);
  }
  // Controllers still write statuses.
  await sleep(15_000);
}

async function create(plane: ControlPlane, items: readonly object[]): Promise<void> {
  await plane.kubectl(['create', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
}

function node(index: number): object {
  const size = { cpu: '32', memory: '256Gi', pods: '110' };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: `node-${index}`, labels: { 'kubernetes.io/hostname': `node-${index}` } },
    status: { allocatable: size, capacity: size },
  };
}

const podOf = (name: string, more: object): object => ({
  metadata: { labels: { app: name } },
  spec: { containers: [{ name: 'main', image: 'example/main:1' }], ...more },
});

function deployment(name: string): object {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: 'default' },
    spec: { replicas: deploymentPods, selector: { matchLabels: { app: name } }, template: podOf(name, {}) },
  };
}

function cronJob(index: number): object {
  const name = `job-${index}`;
  const template = podOf(name, { restartPolicy: 'Never' });
  return {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: { name, namespace: 'default' },
    spec: { schedule: '* * * * *', jobTemplate: { spec: { template } } },
  };
}
