/**
 * The process of bench/day.ts: the demo for a day, compressed. The simulated cluster in its thread and the gateway over it are in one
 * process, as in `portolan demo`. The time of the demo world passes `--speed` times faster, so the gateway takes a day of changes in
 * `24 h / speed`.
 *
 * Printed at intervals: resident memory of the process, the size of the store's files, and how much of the world has changed. Retention by
 * time (the change log, Events) follows the real clock. So the store keeps more of the world's time than in a real day, and never less.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { spawnSimCluster } from '../sim/spawn-sim.ts';
import { createLogger } from '../src/base/create-logger.ts';
import { demoSizes, smallHeaps } from '../src/cli/demo.ts';
import { startGateway } from '../src/cli/gateway.ts';
import { loadConfig } from '../src/config/load-config.ts';
import { lateGrowth } from '../test/kit/gateway-process.ts';
import type { SubscribersOrder } from './day.subscribers.ts';
import { inFolder } from './support/folder.ts';
import { residentAnonymousMb } from './support/resident.ts';

/** Resident memory is bounded without subscribers. The growth is that between the third and the fourth quarter. */
const most = { residentMb: 400, fileMb: 100, lateGrowth: 0.05 };

interface Sample {
  readonly hours: number;
  readonly residentMb: number;
  readonly anonymousMb: number;
  readonly fileMb: number;
  readonly walMb: number;
  readonly writes: number;
  readonly pods: number;
  readonly events: number;
}

async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      hours: { type: 'string', default: '24' },
      speed: { type: 'string', default: '60' },
      pods: { type: 'string', default: '2000' },
      every: { type: 'string', default: '120' },
      subscribers: { type: 'string', default: '0' },
    },
  });
  const [hours, speed, pods, every] = [values.hours, values.speed, values.pods, values.every].map(Number) as [
    number,
    number,
    number,
    number,
  ];
  setFlagsFromString(smallHeaps);
  await inFolder(async (folder) => {
    const file = join(folder, 'portolan.db');
    const kubeconfig = join(folder, 'kubeconfig.yaml');
    const cluster = await spawnSimCluster({ objects: 'demo', pods, churn: true, worldSpeed: speed });
    try {
      writeFileSync(kubeconfig, cluster.kubeconfig, { mode: 0o600 });
      const config = loadConfig({ flags: { port: '0', logLevel: 'warn', data: file }, environment: {} });
      const gateway = await startGateway(config, [{ name: 'demo', kubeconfig }], createLogger('warn'), {
        sizes: demoSizes,
      });
      try {
        await gateway.synced;
        const day = { url: gateway.url, cluster: cluster.url, folder, hours, speed, every };
        const count = Number(values.subscribers);
        const watch = (): Promise<void> => watchDay(day, count);
        await (count === 0 ? watch() : withSubscribers({ url: gateway.url, count }, watch));
      } finally {
        await gateway.close();
      }
    } finally {
      await cluster.close();
    }
  });
}

/** Does the work once all subscribers have their first message. @throws if their process ends before */
async function withSubscribers(order: SubscribersOrder, work: () => Promise<void>): Promise<void> {
  const child = fork(fileURLToPath(new URL('./day.subscribers.ts', import.meta.url)), [], { execArgv: [] });
  const ended = once(child, 'exit').then(([code]) => Promise.reject(new Error(`the subscribers ended with ${code}`)));
  ended.catch(() => {});
  try {
    child.send(order);
    await Promise.race([once(child, 'message'), ended]);
    await Promise.race([work(), ended]);
  } finally {
    if (child.connected) child.disconnect();
  }
}

interface Day {
  readonly url: string;
  readonly cluster: string;
  readonly folder: string;
  readonly hours: number;
  readonly speed: number;
  readonly every: number;
}

async function watchDay({ url, cluster, folder, hours, speed, every }: Day, subscribers: number): Promise<void> {
  const first = await revisionOf(cluster);
  const started = performance.now();
  const samples: Sample[] = [];
  const resident: number[] = [];
  const looks = setInterval(() => resident.push(process.memoryUsage().rss), 1000);
  process.stdout.write(`${row(['hours', 'resident', 'anonymous', 'file', 'wal', 'writes', 'pods', 'events'])}\n`);
  for (let due = 0; due <= hours * 60; due += every) {
    await sleep(Math.max(0, started + (due * 60_000) / speed - performance.now()));
    const { counted, rv } = await countsOf(url, cluster);
    const sample: Sample = {
      hours: due / 60,
      residentMb: process.memoryUsage().rss / 1e6,
      anonymousMb: residentAnonymousMb(),
      ...sizesOf(folder),
      writes: rv - first,
      ...counted,
    };
    samples.push(sample);
    const { residentMb, anonymousMb, fileMb, walMb, writes } = sample;
    const sizes = [residentMb, anonymousMb, fileMb, walMb].map((size) => `${size.toFixed(0)} MB`);
    process.stdout.write(`${row([sample.hours.toFixed(1), ...sizes, writes, counted.pods, counted.events])}\n`);
  }
  clearInterval(looks);
  const highest = (of: (sample: Sample) => number): number => Math.max(...samples.map(of));
  const residentMb = Math.round(highest((sample) => sample.residentMb));
  const fileMb = Math.round(highest((sample) => sample.fileMb));
  const writes = samples.at(-1)?.writes ?? 0;
  const growth = Number(lateGrowth(resident).toFixed(3));
  process.stdout.write(
    `${JSON.stringify({ bench: 'day', hours, subscribers, writes, residentMb, fileMb, lateGrowth: growth })}\n`,
  );
  const isSmall = subscribers > 0 || residentMb <= most.residentMb;
  const isKept = isSmall && fileMb <= most.fileMb && growth <= most.lateGrowth;
  if (!isKept) process.exitCode = 1;
}

const row = (cells: readonly (string | number)[]): string => cells.map((cell) => String(cell).padStart(10)).join('');

/** Sizes of the database with what belongs to it, and of its write-ahead log alone. */
function sizesOf(folder: string): { fileMb: number; walMb: number } {
  const sizes = readdirSync(folder)
    .filter((name) => name.startsWith('portolan.db'))
    .map((name) => [name, statSync(join(folder, name)).size / 1e6] as const);
  const wal = sizes.find(([name]) => name.endsWith('-wal'))?.[1] ?? 0;
  return { fileMb: sizes.reduce((sum, [, size]) => sum + size, 0) - wal, walMb: wal };
}

async function revisionOf(cluster: string): Promise<number> {
  const answer = await fetch(`${cluster}/api/v1/namespaces?limit=1`);
  const { metadata } = (await answer.json()) as { metadata: { resourceVersion: string } };
  return Number(metadata.resourceVersion);
}

async function countsOf(
  url: string,
  cluster: string,
): Promise<{ counted: { pods: number; events: number }; rv: number }> {
  const query = '{ pods { totalCount } events { totalCount } }';
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  });
  const { data } = (await answer.json()) as { data: Record<'pods' | 'events', { totalCount: number } | null> | null };
  return {
    counted: { pods: data?.pods?.totalCount ?? 0, events: data?.events?.totalCount ?? 0 },
    rv: await revisionOf(cluster),
  };
}

await run(process.argv.slice(2));
