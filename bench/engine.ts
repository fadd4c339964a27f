/**
 * The store under load. A writer commits 1,000 changes a second, and three readers are never idle. Runaway scans are cancelled,
 * and SIGTERM comes during one. Everything runs in a child process (engine.child.ts), so that its end can be timed.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inFolder } from './support/folder.ts';

export const about = 'WAL size, commit latency, cancelling and stopping of the store under writes and busy readers';

/** Measurements of the child. */
export interface EngineFigures {
  readonly synced: number;
  readonly syncPerSecond: number;
  readonly changes: number;
  readonly changesPerSecond: number;
  readonly commitP50: number;
  readonly commitP99: number;
  readonly commitMax: number;
  readonly walMaxMb: number;
  readonly leases: number;
  readonly leasesCut: number;
  readonly cancelMedian: number;
  readonly cancelMax: number;
  /** The time for which an almost idle thread waits for the processor, p99. It tells the machine's part of the figures above. */
  readonly idleWaitP99: number;
}

export async function run(): Promise<void> {
  await inFolder(async (directory) => {
    const child = fork(fileURLToPath(new URL('./engine.child.ts', import.meta.url)), [join(directory, 'store.db')]);
    // The child says its figures, begins a runaway scan, and waits for its end.
    const [figures] = (await Promise.race([
      once(child, 'message', { signal: AbortSignal.timeout(60_000) }),
      once(child, 'exit').then(() => Promise.reject(new Error('the measured process ended before its time'))),
    ])) as [EngineFigures];
    const asked = performance.now();
    child.kill('SIGTERM');
    const [code, signal] = (await once(child, 'exit', { signal: AbortSignal.timeout(30_000) })) as [
      number,
      string | null,
    ];
    const exitMs = performance.now() - asked;
    report(figures, exitMs, code === 0 ? 'in order' : `code ${code}, signal ${signal}`);
  });
}

function report(figures: EngineFigures, exitMs: number, exit: string): void {
  const rows: readonly (readonly [string, string, string, boolean])[] = [
    ['largest WAL', `${figures.walMaxMb.toFixed(1)} MB`, '< 64 MB', figures.walMaxMb < 64],
    ['commit p99', `${figures.commitP99.toFixed(2)} ms`, '< 20 ms', figures.commitP99 < 20],
    ['cancel of a scan, slowest', `${figures.cancelMax.toFixed(2)} ms`, '< 50 ms', figures.cancelMax < 50],
    ['exit on SIGTERM', `${exitMs.toFixed(0)} ms (${exit})`, '< 2000 ms', exitMs < 2000 && exit === 'in order'],
    ['changes committed', `${figures.changesPerSecond.toFixed(0)}/s`, '>= 950/s', figures.changesPerSecond >= 950],
  ];
  const more: readonly (readonly [string, string])[] = [
    ['first sync', `${figures.synced} Pods at ${figures.syncPerSecond.toFixed(0)}/s`],
    ['commit p50, slowest', `${figures.commitP50.toFixed(2)} ms, ${figures.commitMax.toFixed(1)} ms`],
    ['leases', `${figures.leases}, ${figures.leasesCut} of them cut`],
    ['cancel of a scan, median', `${figures.cancelMedian.toFixed(2)} ms`],
    ['an idle thread waits, p99', `${figures.idleWaitP99.toFixed(2)} ms (the machine's share in the above)`],
  ];
  for (const [what, value, bound, kept] of rows) {
    process.stdout.write(`${what.padEnd(28)} ${value.padEnd(28)} ${bound.padEnd(12)} ${kept ? 'kept' : 'MISSED'}\n`);
  }
  for (const [what, value] of more) process.stdout.write(`${what.padEnd(28)} ${value}\n`);
  process.stdout.write(`${JSON.stringify({ bench: 'engine', ...figures, exitMs: Math.round(exitMs), exit })}\n`);
  if (rows.some(([, , , kept]) => !kept)) process.exitCode = 1;
}
