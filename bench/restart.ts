/**
 * A warm restart: a store with 100,000 Pods on disk, and `portolan serve` started on it again. Time runs from the start of its
 * process to a whole first page; the server that it follows counts the collection LISTs, of which there must be none. Beside it
 * stands the processor time of all its threads until then, which says more than the clock on a busy machine.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startPodServer } from './support/pod-server.ts';
import { cpuSecondsIn } from './support/thread-cpu.ts';

export const about = 'warm restart with 100,000 Pods on disk: time to the first page, LISTs sent (--objects N)';

const entry = fileURLToPath(new URL('../src/portolan.js', import.meta.url));
const query = `{ pods(first: 50, orderBy: [{ path: "metadata.creationTimestamp", direction: DESC }]) {
  totalCount nodes { metadata { namespace name } status { phase } spec { nodeName } } } }`;
/** How long the started gateway is watched for LISTs that come late. */
const watchedMs = 3000;
/** Milliseconds between two looks whether the first start has synced. */
const lookMs = 200;

export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({ args: [...args], options: { objects: { type: 'string', default: '100000' } } });
  const objects = Number(values.objects);
  const directory = mkdtempSync(join(tmpdir(), 'portolan-bench-'));
  const kubeconfig = join(directory, 'kubeconfig');
  const server = await startPodServer(objects, kubeconfig);
  try {
    const file = join(directory, 'store.db');
    const first = serve(kubeconfig, file);
    await synced(await urlOf(first));
    await end(first);
    const before = await server.state();

    const started = performance.now();
    const again = serve(kubeconfig, file);
    const url = await urlOf(again);
    const listeningMs = performance.now() - started;
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query }),
    });
    const page = (await answer.json()) as { data?: { pods: { totalCount: number; nodes: unknown[] } } };
    const firstPageMs = performance.now() - started;
    const cpuMs = 1000 * cpuSecondsIn(readFileSync(`/proc/${again.pid}/stat`, 'utf8'));
    if (page.data?.pods.totalCount !== objects || page.data.pods.nodes.length !== Math.min(50, objects)) {
      throw new Error(`the first page is not whole: ${JSON.stringify(page).slice(0, 400)}`);
    }
    await sleep(watchedMs);
    const after = await server.state();
    await end(again);
    report({ firstPageMs, listeningMs, cpuMs }, after.lists - before.lists, after.watches - before.watches);
  } finally {
    await server.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** The command as an operator starts it. */
function serve(kubeconfig: string, file: string): ChildProcess {
  const options = { kubeconfig, data: file, port: '0', kinds: 'pods', 'log-level': 'error' };
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

interface Times {
  readonly firstPageMs: number;
  readonly listeningMs: number;
  readonly cpuMs: number;
}

function report({ firstPageMs, listeningMs, cpuMs }: Times, lists: number, watches: number): void {
  const rows: readonly (readonly [string, string, string, boolean])[] = [
    ['first page after start', `${firstPageMs.toFixed(0)} ms`, '< 1000 ms', firstPageMs < 1000],
    ['collection LISTs', String(lists), '0', lists === 0],
    ['watches resumed', String(watches), '>= 1', watches > 0],
  ];
  for (const [what, value, bound, kept] of rows) {
    process.stdout.write(`${what.padEnd(28)} ${value.padEnd(28)} ${bound.padEnd(12)} ${kept ? 'kept' : 'MISSED'}\n`);
  }
  process.stdout.write(`${'listening after start'.padEnd(28)} ${listeningMs.toFixed(0)} ms\n`);
  process.stdout.write(`${'processor time until then'.padEnd(28)} ${cpuMs.toFixed(0)} ms\n`);
  const numbers = { firstPageMs, lists, listeningMs, cpuMs };
  const rounded = Object.entries(numbers).map(([name, value]) => [name, Math.round(value)]);
  process.stdout.write(`${JSON.stringify({ bench: 'restart', ...Object.fromEntries(rounded) })}\n`);
  if (rows.some(([, , , kept]) => !kept)) process.exitCode = 1;
}
