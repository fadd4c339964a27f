/**
 * The cost of a store that follows the change log of another one, beside the cost of the store that reads the API server.
 *
 *   Pods of a simulated server -> [feeder: ingest thread -> store -> publisher] -> batches -> [follower: the same tables and indexes]
 *
 * Both are processes. The follower begins with a copy of the feeder's file. At the end all rows are compared.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { PairFigures, PairOrder } from './follower.messages.ts';
import { withMeasured } from './support/measured-process.ts';
import { rounded } from './support/times.ts';

export const about =
  'a store that follows the log of another one, at 1,000, 2,000 and 4,000 changes a second (--seconds N, --objects N, --rates A,B)';

/** scale.md: bytes of the write-ahead log for a change, and processor time of a follower for a change, over that of its feeder. */
const reach = { walBytes: 8000, cpuRatio: 0.7 };

export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seconds: { type: 'string', default: '30' },
      objects: { type: 'string', default: '10000' },
      rates: { type: 'string', default: '1000,2000,4000' },
    },
  });
  const seconds = Number(values.seconds);
  const program = { program: 'follower.feeder.ts', objects: Number(values.objects), given: [] };
  const found = await withMeasured(program, async ({ server, answer }) => {
    await answer(null);
    const figures: (PairFigures & { readonly rate: number })[] = [];
    for (const rate of values.rates.split(',').map(Number)) {
      await answer('begin' satisfies PairOrder);
      const sent = await server.churn({ perSecond: rate, seconds });
      await sleep(500);
      const measured = await answer<PairFigures>('end' satisfies PairOrder);
      if (measured.changes !== sent)
        process.stdout.write(`${sent} events were sent, ${measured.changes} are changes\n`);
      figures.push({ rate, ...measured });
    }
    return figures;
  });
  report(found);
}

function report(found: readonly (PairFigures & { readonly rate: number })[]): void {
  const per = (seconds: number, changes: number): string => rounded((seconds * 1000) / changes).toFixed(2);
  process.stdout.write(
    'processor seconds for 1,000 changes, bytes of write-ahead log for a change, milliseconds from commit to commit\n',
  );
  for (const { rate, changes, feeder, follower, batchBytes, lagP50Ms, lagP99Ms, lost } of found) {
    process.stdout.write(
      `${rate}/s: feeder ${per(feeder.cpu, changes)} (ingest ${per(feeder.ingestCpu, changes)}, publisher ${per(feeder.publisherCpu, changes)}), ` +
        `follower ${per(follower.cpu, changes)} (writer ${per(follower.writerCpu, changes)}); ` +
        `WAL ${Math.round(feeder.walBytes / changes)} and ${Math.round(follower.walBytes / changes)}; ` +
        `${Math.round(batchBytes / changes)} bytes sent; lag p50 ${rounded(lagP50Ms)}, p99 ${rounded(lagP99Ms)}; lost ${lost}\n`,
    );
  }
  const last = found.at(-1);
  if (last === undefined) return;
  const followerCpuRatio = rounded(last.follower.cpu / last.feeder.cpu);
  const walBytes = Math.round(last.follower.walBytes / last.changes);
  const lost = found.reduce((sum, each) => sum + each.lost, 0);
  process.stdout.write(
    `${JSON.stringify({
      bench: 'follower',
      changesPerSecond: last.rate,
      followerCpuRatio,
      followerWalBytes: walBytes,
      feederWalBytes: Math.round(last.feeder.walBytes / last.changes),
      lagP50Ms: rounded(last.lagP50Ms),
      lagP99Ms: rounded(last.lagP99Ms),
      lost,
    })}\n`,
  );
  if (lost > 0 || walBytes > reach.walBytes || followerCpuRatio > reach.cpuRatio) process.exitCode = 1;
}
