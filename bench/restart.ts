/**
 * A warm restart: a store with 100,000 Pods on disk, and a gateway that starts on it. Time runs from the start of its process to a
 * whole first page; the server that it follows counts the collection LISTs, of which there must be none. Beside it stands how long
 * a process takes here that only loads the same modules: on a busy machine that is most of it.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startPodServer } from './support/pod-server.ts';

export const about = 'warm restart with 100,000 Pods on disk: time to the first page, LISTs sent (--objects N)';

const query = `{ pods(first: 50, orderBy: [{ path: "metadata.creationTimestamp", direction: DESC }]) {
  totalCount nodes { metadata { namespace name } status { phase } spec { nodeName } } } }`;
/** How long the started gateway is watched for LISTs that come late. */
const watchedMs = 3000;

export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({ args: [...args], options: { objects: { type: 'string', default: '100000' } } });
  const objects = Number(values.objects);
  const directory = mkdtempSync(join(tmpdir(), 'portolan-bench-'));
  const kubeconfig = join(directory, 'kubeconfig');
  const server = await startPodServer(objects, kubeconfig);
  try {
    const files = [kubeconfig, join(directory, 'store.db')];
    const filled = fork(fileURLToPath(new URL('./sync.child.ts', import.meta.url)), files);
    await once(filled, 'exit');
    const before = await server.state();

    const loadedMs = await loadOnly();
    const started = performance.now();
    const child = fork(fileURLToPath(new URL('./restart.child.ts', import.meta.url)), files);
    const exited = once(child, 'exit');
    const lost = exited.then(() => Promise.reject(new Error('the gateway ended before its first page')));
    lost.catch(() => {});
    const [url] = (await Promise.race([once(child, 'message'), lost])) as [string];
    const listeningMs = performance.now() - started;
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query }),
    });
    const page = (await answer.json()) as { data?: { pods: { totalCount: number; nodes: unknown[] } } };
    const firstPageMs = performance.now() - started;
    if (page.data?.pods.totalCount !== objects || page.data.pods.nodes.length !== Math.min(50, objects)) {
      throw new Error(`the first page is not whole: ${JSON.stringify(page).slice(0, 400)}`);
    }
    await sleep(watchedMs);
    const after = await server.state();
    child.disconnect();
    await exited;
    report({ firstPageMs, listeningMs, loadedMs }, after.lists - before.lists, after.watches - before.watches);
  } finally {
    await server.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

async function loadOnly(): Promise<number> {
  const started = performance.now();
  const child = fork(fileURLToPath(new URL('./restart.child.ts', import.meta.url)), []);
  const exited = once(child, 'exit');
  await once(child, 'message');
  const loadedMs = performance.now() - started;
  await exited;
  return loadedMs;
}

interface Times {
  readonly firstPageMs: number;
  readonly listeningMs: number;
  readonly loadedMs: number;
}

function report({ firstPageMs, listeningMs, loadedMs }: Times, lists: number, watches: number): void {
  const rows: readonly (readonly [string, string, string, boolean])[] = [
    ['first page after start', `${firstPageMs.toFixed(0)} ms`, '< 1000 ms', firstPageMs < 1000],
    ['collection LISTs', String(lists), '0', lists === 0],
    ['watches resumed', String(watches), '>= 1', watches > 0],
  ];
  for (const [what, value, bound, kept] of rows) {
    process.stdout.write(`${what.padEnd(28)} ${value.padEnd(28)} ${bound.padEnd(12)} ${kept ? 'kept' : 'MISSED'}\n`);
  }
  process.stdout.write(`${'listening after start'.padEnd(28)} ${listeningMs.toFixed(0)} ms\n`);
  process.stdout.write(`${'modules alone'.padEnd(28)} ${loadedMs.toFixed(0)} ms\n`);
  process.stdout.write(
    `${JSON.stringify({ bench: 'restart', firstPageMs: Math.round(firstPageMs), lists, listeningMs: Math.round(listeningMs), loadedMs: Math.round(loadedMs) })}\n`,
  );
  if (rows.some(([, , , kept]) => !kept)) process.exitCode = 1;
}
