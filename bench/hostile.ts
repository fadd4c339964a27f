/**
 * A caller beside hostile callers. Measured before and during each attack: the times of a query for one row and of /healthz, and the
 * gateway's memory. The gateway runs as `portolan serve --auth token` does in its container. The attackers have a processor of their
 * own.
 */
import { fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startSimCluster } from '../sim/sim-cluster.ts';
import { gadgetCrd } from '../test/kit/gadget-crd.ts';
import { type GatewayProcess, startGatewayProcess } from '../test/kit/gateway-process.ts';
import { attacks } from './hostile.attacks.ts';
import type { AttackOrder } from './hostile.child.ts';
import { inFolder } from './support/folder.ts';

export const about =
  'another caller beside hostile ones: times, /healthz and memory for each attack; --help tells its options';

export const help = `Usage: npm run bench -- hostile [options]

  --pods N       Pods in the cluster (5000)
  --seconds N    how long each attack lasts (8)
  --attacks A,B  only attacks whose names contain one of these words

A run under two minutes: --seconds 3
`;

/** The bounds of the figures. The time of the query may instead be `timesIdle` times its time without attackers. */
const bounds = { p99Ms: 200, timesIdle: 4, healthMs: 200, rssGrowthMb: 300 };

const users = [
  { token: 'gateway', user: 'gateway', groups: ['system:masters'] },
  { token: 'olga', user: 'olga', groups: ['system:masters'] },
  { token: 'mallory', user: 'mallory', groups: ['system:masters'] },
  { token: 'trudy', user: 'trudy', groups: ['system:masters'] },
];

interface Seen {
  readonly attack: string;
  readonly count: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly healthMs: number;
  readonly rssMb: number;
  readonly failures: number;
}

export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      pods: { type: 'string', default: '5000' },
      seconds: { type: 'string', default: '8' },
      attacks: { type: 'string', default: '' },
    },
  });
  const seconds = Number(values.seconds);
  const words = values.attacks.split(',');
  const chosen = Object.keys(attacks).filter((name) => words.some((word) => name.includes(word)));
  await inFolder(async (directory) => {
    const sim = await startSimCluster({
      objects: 'demo',
      pods: Number(values.pods),
      crds: [gadgetCrd({ any: { 'x-kubernetes-preserve-unknown-fields': true } })],
      features: { users },
    });
    const list = Array.from({ length: 20_000 }, (_, index) => `element-${index}`);
    sim.create({
      apiVersion: 'two.portolan.example/v1',
      kind: 'Gadget',
      metadata: { name: 'long', namespace: 'default' },
      spec: { any: { list } },
    });
    const kubeconfig = join(directory, 'kubeconfig');
    writeFileSync(kubeconfig, sim.kubeconfig());
    const given = [
      '--kubeconfig',
      kubeconfig,
      '--auth',
      'token',
      '--data',
      join(directory, 'store.db'),
      '--log-level',
      'warn',
    ];
    const gateway = await startGatewayProcess(given);
    const attackers = fork(fileURLToPath(new URL('./hostile.child.ts', import.meta.url)), [], {
      execArgv: [...process.execArgv],
    });
    const ended = once(attackers, 'exit').then(([code]) =>
      Promise.reject(new Error(`the attackers ended with ${code}`)),
    );
    ended.catch(() => {});
    try {
      await Promise.race([once(attackers, 'message'), ended]);
      spawnSync('taskset', ['-acp', '1', String(attackers.pid)]);
      const ready = new URL('/readyz', gateway.url);
      while ((await fetch(ready)).status !== 200) await sleep(200);
      await watched(gateway, 'warm up', async () => sleep(5000));
      const idle = await watched(gateway, 'nobody', async () => sleep(seconds * 1000));
      const seen: Seen[] = [];
      for (const attack of chosen) {
        const target = { port: Number(new URL(gateway.url).port), tokens: ['mallory', 'trudy'] as const, seconds };
        const during = await watched(gateway, attack, async () => {
          attackers.send({ attack, target } satisfies AttackOrder);
          const [{ count }] = (await Promise.race([once(attackers, 'message'), ended])) as [{ count: number }];
          return count;
        });
        print(during);
        seen.push(during);
        await sleep(2000);
      }
      report(idle, seen);
    } finally {
      if (attackers.connected) attackers.disconnect();
      await gateway.close();
      await sim.close();
    }
  });
}

/** Asks as another caller while `work` goes on. */
async function watched(gateway: GatewayProcess, attack: string, work: () => Promise<unknown>): Promise<Seen> {
  const agent = new Agent({ keepAlive: true });
  const [times, health]: [number[], number[]] = [[], []];
  let [failures, rss, over] = [0, gateway.resident(), false];
  const query = JSON.stringify({ query: '{ pods(first: 1) { nodes { metadata { name } } } }' });
  const repeat = async (pauseMs: number, ask: () => Promise<void>): Promise<void> => {
    while (!over) {
      await ask();
      await sleep(pauseMs);
    }
  };
  const url = new URL(gateway.url);
  const asking = [
    repeat(20, async () => {
      const began = performance.now();
      if (!(await answered(url, agent, query))) failures += 1;
      times.push(performance.now() - began);
    }),
    repeat(100, async () => {
      const began = performance.now();
      if (!(await answered(new URL('/healthz', url), agent, null))) failures += 1;
      health.push(performance.now() - began);
      rss = Math.max(rss, gateway.resident());
    }),
  ];
  const count = Number((await work()) ?? 0);
  over = true;
  await Promise.all(asking);
  agent.destroy();
  return {
    attack,
    count,
    p50Ms: percentile(times, 0.5),
    p99Ms: percentile(times, 0.99),
    healthMs: percentile(health, 0.99),
    rssMb: rss / 1e6,
    failures,
  };
}

/** Was the answer right? */
function answered(url: URL, agent: Agent, body: string | null): Promise<boolean> {
  const headers = { authorization: 'Bearer olga', 'content-type': 'application/json' };
  return new Promise((resolve) => {
    const sent = request(url, { agent, method: body === null ? 'GET' : 'POST', headers }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (piece: string) => {
        text += piece;
      });
      response.once('close', () => resolve(response.statusCode === 200 && !text.includes('"errors"')));
    });
    sent.once('error', () => resolve(false));
    sent.end(body ?? undefined);
  });
}

function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

function print({ attack, count, p50Ms, p99Ms, healthMs, rssMb, failures }: Seen): void {
  const figures = [p50Ms, p99Ms, healthMs].map((each) => `${each.toFixed(1)} ms`.padStart(11)).join('');
  process.stdout.write(
    `${attack.padEnd(36)}${String(count).padStart(7)}${figures}${`${rssMb.toFixed(0)} MB`.padStart(10)}${failures === 0 ? '' : `  ${failures} FAILED`}\n`,
  );
}

function report(idle: Seen, seen: readonly Seen[]): void {
  print(idle);
  const worst = (of: (each: Seen) => number): number => Math.max(...seen.map(of));
  const p99Ms = worst((each) => each.p99Ms);
  const healthMs = worst((each) => each.healthMs);
  const rssGrowthMb = worst((each) => each.rssMb) - idle.rssMb;
  const failures = seen.reduce((sum, each) => sum + each.failures, 0);
  const kept =
    p99Ms <= Math.max(bounds.p99Ms, bounds.timesIdle * idle.p99Ms) &&
    healthMs <= bounds.healthMs &&
    rssGrowthMb <= bounds.rssGrowthMb &&
    failures === 0;
  if (!kept) process.exitCode = 1;
  const rounded = (value: number): number => Number(value.toFixed(1));
  const line = {
    bench: 'hostile',
    p99Ms: rounded(p99Ms),
    healthMs: rounded(healthMs),
    rssGrowthMb: rounded(rssGrowthMb),
    attacks: seen.length,
    idleP99Ms: rounded(idle.p99Ms),
    failures,
  };
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
