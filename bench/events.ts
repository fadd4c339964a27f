/**
 * A steady stream of watch events through the real ingest thread. Measured are the age of an event when another connection reads
 * its row, and the cost of the ingest thread. Log and memory must stay bounded, and no event may be lost.
 *
 * Memory counts from `settleSeconds` after the first event on, when caches and heap have got their size.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { withMeasured } from './support/measured-process.ts';

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

function stream(seconds: number, perSecond: number, relations: boolean): Promise<Streamed> {
  const program = { program: 'events.child.ts', objects, given: [String(relations)] };
  return withMeasured(program, async ({ server, child, answer }) => {
    await answer(null);
    const churned = server.churn({ perSecond, seconds });
    await sleep(Math.min(settleSeconds, seconds / 2) * 1000);
    child.send('begin');
    const sent = await churned;
    const figures = await answer<EventFigures>('end');
    const { versions } = await server.state();
    const rows = new Map(figures.rows);
    const stale = versions.filter(([key, version]) => rows.get(key) !== version).length;
    return { figures, sent, stale: stale + Math.max(0, rows.size - versions.length) };
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
