/**
 * A warm restart: a store with 100,000 Pods on disk, and `portolan serve` started on it again. Time runs from the start of its
 * process to a whole first page. The server that it follows counts the collection LISTs: there must be none. The bundle
 * (`npm run build`, made here anew) and the sources are started in turns, and medians compared. Beside the time stands the processor
 * time of all threads until then, which says more than the clock on a busy machine.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { writeBundle } from '../deploy/bundle.ts';
import { inFolder } from './support/folder.ts';
import { startPodServer } from './support/pod-server.ts';
import { cpuSecondsIn } from './support/thread-cpu.ts';

export const about =
  'warm restart with 100,000 Pods on disk: time to the first page, LISTs sent (--objects N, --starts N of bundle and of sources)';

const sources = fileURLToPath(new URL('../src/portolan.js', import.meta.url));
/** Inside the project, where the bundle finds the package that it does not hold. */
const bundled = fileURLToPath(new URL('../node_modules/.cache/bench-bundle/', import.meta.url));
const query = `{ pods(first: 50, orderBy: [{ path: "metadata.creationTimestamp", direction: DESC }]) {
  totalCount nodes { metadata { namespace name } status { phase } spec { nodeName } } } }`;
/** How long the started gateway is watched for LISTs that come late. */
const watchedMs = 3000;
/** Milliseconds between two looks whether the first start has synced. */
const lookMs = 200;

export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { objects: { type: 'string', default: '100000' }, starts: { type: 'string', default: '5' } },
  });
  const objects = Number(values.objects);
  await inFolder(async (directory) => {
    const kubeconfig = join(directory, 'kubeconfig');
    const server = await startPodServer(objects, kubeconfig);
    try {
      await writeBundle(bundled);
      const bundle = join(bundled, 'src', 'portolan.js');
      const flags = { kubeconfig, data: join(directory, 'store.db') };
      // The first start of each fills the store, and what Node keeps compiled.
      for (const entry of [bundle, sources]) {
        const first = serve(entry, flags);
        await synced(await urlOf(first));
        await end(first);
      }
      const before = await server.state();
      const taken: Record<'bundle' | 'source', Start[]> = { bundle: [], source: [] };
      for (let turn = 0; turn < Number(values.starts); turn++) {
        taken.bundle.push(await startAgain(bundle, flags, objects));
        taken.source.push(await startAgain(sources, flags, objects));
      }
      const after = await server.state();
      report(medians(taken.bundle), medians(taken.source), after.lists - before.lists, after.watches - before.watches);
    } finally {
      await server.close();
    }
  });
}

interface Start {
  readonly firstPageMs: number;
  readonly listeningMs: number;
  readonly cpuMs: number;
}

async function startAgain(entry: string, flags: Flags, objects: number): Promise<Start> {
  const started = performance.now();
  const gateway = serve(entry, flags);
  const url = await urlOf(gateway);
  const listeningMs = performance.now() - started;
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  });
  const page = (await answer.json()) as { data?: { pods: { totalCount: number; nodes: unknown[] } } };
  const firstPageMs = performance.now() - started;
  const cpuMs = 1000 * cpuSecondsIn(readFileSync(`/proc/${gateway.pid}/stat`, 'utf8'));
  if (page.data?.pods.totalCount !== objects || page.data.pods.nodes.length !== Math.min(50, objects)) {
    throw new Error(`the first page is not whole: ${JSON.stringify(page).slice(0, 400)}`);
  }
  await sleep(watchedMs);
  await end(gateway);
  return { firstPageMs, listeningMs, cpuMs };
}

function medians(starts: readonly Start[]): Start {
  const of = (key: keyof Start): number => {
    const sorted = starts.map((start) => start[key]).toSorted((a, b) => a - b);
    return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  };
  return { firstPageMs: of('firstPageMs'), listeningMs: of('listeningMs'), cpuMs: of('cpuMs') };
}

interface Flags {
  readonly kubeconfig: string;
  readonly data: string;
}

/** The command as an operator starts it. */
function serve(entry: string, { kubeconfig, data }: Flags): ChildProcess {
  const options = { kubeconfig, data, port: '0', kinds: 'pods', 'log-level': 'error' };
  const flags = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]);
  return spawn(process.execPath, [entry, 'serve', ...flags], { stdio: ['ignore', 'pipe', 'ignore'] });
}

async function urlOf({ stdout }: ChildProcess): Promise<string> {
  if (stdout === null) throw new Error('the output is not piped');
  for await (const line of createInterface({ input: stdout })) return line.slice('Playground: '.length);
  throw new Error('the gateway ended before it listened');
}

async function synced(url: string): Promise<void> {
  while ((await fetch(new URL('/readyz', url))).status !== 200) await sleep(lookMs);
}

async function end(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  await exited;
}

function report(bundle: Start, source: Start, lists: number, watches: number): void {
  const rows: readonly (readonly [string, string, string, boolean])[] = [
    ['first page after start', `${bundle.firstPageMs.toFixed(0)} ms`, '< 1000 ms', bundle.firstPageMs < 1000],
    ['collection LISTs', String(lists), '0', lists === 0],
    ['watches resumed', String(watches), '>= 1', watches > 0],
  ];
  for (const [what, value, bound, kept] of rows) {
    process.stdout.write(`${what.padEnd(28)} ${value.padEnd(28)} ${bound.padEnd(12)} ${kept ? 'kept' : 'MISSED'}\n`);
  }
  const ratio = bundle.firstPageMs / source.firstPageMs;
  for (const [what, value] of [
    ['listening after start', `${bundle.listeningMs.toFixed(0)} ms`],
    ['processor time until then', `${bundle.cpuMs.toFixed(0)} ms`],
    ['from the sources', `${source.firstPageMs.toFixed(0)} ms, processor ${source.cpuMs.toFixed(0)} ms`],
    ['bundle to sources', ratio.toFixed(2)],
  ] as const) {
    process.stdout.write(`${what.padEnd(28)} ${value}\n`);
  }
  const rounded = (start: Start) =>
    Object.fromEntries(Object.entries(start).map(([name, value]) => [name, Math.round(value)]));
  const line = {
    bench: 'restart',
    ...rounded(bundle),
    lists,
    ratio: Number(ratio.toFixed(2)),
    sources: rounded(source),
  };
  process.stdout.write(`${JSON.stringify(line)}\n`);
  if (rows.some(([, , , kept]) => !kept)) process.exitCode = 1;
}
