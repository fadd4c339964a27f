/**
 * A steady stream of watch events through the real ingest thread: how old an event is when another connection reads its row, what
 * the ingest thread costs, whether log and memory stay bounded, and whether anything is lost.
 *
 * Memory counts from `settleSeconds` after the first event on, when caches and heap have got their size.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { inFolder } from './support/folder.ts';
import { startPodServer } from './support/pod-server.ts';

export const about =
  '2,000 watch events a second for two minutes: latency, CPU, WAL, memory, losses (--seconds N, --rate N)';

/** What the measured process found. */
export interface EventFigures {
  readonly changes: number;
  /** Milliseconds from the event's sending to when a reader found its change. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** Of one processor, by the ingest thread alone. */
  readonly cpuShare: number;
  readonly walMaxMb: number;
  /** Of the change log: the body before, and the entry. */
  readonly logBytesPerChange: number;
  readonly logMb: number;
  readonly rssMb: number;
  readonly rssGrowthMb: number;
  /** `namespace/name` and resourceVersion of every row. */
  readonly rows: readonly (readonly [string, string])[];
}

const objects = 10_000;
const settleSeconds = 10;

export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { seconds: { type: 'string', default: '120' }, rate: { type: 'string', default: '2000' } },
  });
  const [seconds, perSecond] = [Number(values.seconds), Number(values.rate)];
  const { figures, sent, stale } = await stream(seconds, perSecond, true);
  report(figures, sent, stale, seconds);
}

/** The share of a processor that events take with relations, beside their share without. */
export async function compareEvents(seconds: number, perSecond: number): Promise<number> {
  const without = await stream(seconds, perSecond, false);
  const related = await stream(seconds, perSecond, true);
  return related.figures.cpuShare / without.figures.cpuShare;
}

interface Streamed {
  readonly figures: EventFigures;
  readonly sent: number;
  /** Rows that are not those of the server. */
  readonly stale: number;
}

async function stream(seconds: number, perSecond: number, relations: boolean): Promise<Streamed> {
  return inFolder(async (directory) => {
    const kubeconfig = join(directory, 'kubeconfig');
    const server = await startPodServer(objects, kubeconfig);
    const child = fork(fileURLToPath(new URL('./events.child.ts', import.meta.url)), [
      kubeconfig,
      join(directory, 'store.db'),
      String(relations),
    ]);
    const exited = once(child, 'exit');
    const lost = exited.then(() => Promise.reject(new Error('the measured process ended before its time')));
    lost.catch(() => {});
    try {
      await Promise.race([once(child, 'message'), lost]);
      const churned = server.churn({ perSecond, seconds });
      await sleep(Math.min(settleSeconds, seconds / 2) * 1000);
      child.send('begin');
      const sent = await churned;
      const told = once(child, 'message');
      child.send('end');
      const [figures] = (await Promise.race([told, lost])) as [EventFigures];
      const { versions } = await server.state();
      const rows = new Map(figures.rows);
      const stale = versions.filter(([key, version]) => rows.get(key) !== version).length;
      child.disconnect();
      await exited;
      return { figures, sent, stale: stale + Math.max(0, rows.size - versions.length) };
    } finally {
      child.kill('SIGKILL');
      await server.close();
    }
  });
}

function report(figures: EventFigures, sent: number, stale: number, seconds: number): void {
  const missing = Math.max(stale, sent - figures.changes);
  const rows: readonly (readonly [string, string, string, boolean])[] = [
    ['events lost', String(missing), '0', missing === 0],
    ['largest WAL', `${figures.walMaxMb.toFixed(1)} MB`, '< 64 MB', figures.walMaxMb < 64],
    ['change log', `${figures.logMb.toFixed(0)} MB`, '< 280 MB', figures.logMb < 280],
    ['growth of anonymous memory', `${figures.rssGrowthMb.toFixed(0)} MB`, '< 50 MB', figures.rssGrowthMb < 50],
  ];
  for (const [what, value, bound, kept] of rows) {
    process.stdout.write(`${what.padEnd(28)} ${value.padEnd(28)} ${bound.padEnd(12)} ${kept ? 'kept' : 'MISSED'}\n`);
  }
  const more: readonly (readonly [string, string])[] = [
    ['event to row p50, p99, max', [figures.p50Ms, figures.p99Ms, figures.maxMs].map((ms) => ms.toFixed(1)).join(', ')],
    ['events', `${sent} in ${seconds} s; ${figures.changes} changes`],
    ['change log for each event', `${figures.logBytesPerChange.toFixed(0)} bytes`],
    ['ingest thread', `${(figures.cpuShare * 100).toFixed(0)} % of a processor`],
    ['anonymous memory', `${figures.rssMb.toFixed(0)} MB`],
  ];
  for (const [what, value] of more) process.stdout.write(`${what.padEnd(28)} ${value}\n`);
  process.stdout.write(
    `${JSON.stringify({
      bench: 'events',
      p99Ms: Number(figures.p99Ms.toFixed(2)),
      rssGrowthMB: Math.round(figures.rssGrowthMb),
      lost: missing,
      p50Ms: Number(figures.p50Ms.toFixed(2)),
      cpuShare: Number(figures.cpuShare.toFixed(3)),
      walMaxMB: Math.round(figures.walMaxMb),
      logBytesPerChange: Math.round(figures.logBytesPerChange),
      sent,
      seconds,
    })}\n`,
  );
  if (rows.some(([, , , kept]) => !kept)) process.exitCode = 1;
}
