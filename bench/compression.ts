/**
 * Compressed pages: a page of Pods from the real server, asked with each content coding and without, in turns. Beside the bytes stand
 * the pages a second; a ratio is the median of those of each turn.
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { inFolder } from './support/folder.ts';
import { listQuery } from './support/list-query.ts';
import { type Load, load, median, medianLoad, startServed } from './support/page-load.ts';

export const about = 'bytes and pages a second of lists with gzip, Brotli and zstd, beside lists without';

export const help = `Usage: npm run bench -- compression [options]

  --objects N    Pods in the list (10000)
  --turns N      how often everything is asked in turn (5)
  --seconds N    how long each load lasts (1)
`;

const connections = 8;
const codings = ['identity', 'gzip', 'br', 'zstd'] as const;

const pages = { page50: listQuery, page500: listQuery.replace(/first: \d+/, 'first: 500') } as const;

export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      objects: { type: 'string', default: '10000' },
      turns: { type: 'string', default: '5' },
      seconds: { type: 'string', default: '1' },
    },
  });
  const [turns, seconds] = [Number(values.turns), Number(values.seconds)];
  await inFolder(async (directory) => {
    const gateway = await startServed(new URL('./list.child.ts', import.meta.url), [
      join(directory, 'store.db'),
      values.objects,
    ]);
    try {
      const figures: Record<string, object> = {};
      for (const [page, query] of Object.entries(pages)) {
        const body = JSON.stringify({ query });
        const loads = Object.fromEntries(codings.map((coding) => [coding, [] as Load[]]));
        for (let turn = 0; turn < turns; turn += 1) {
          for (const coding of codings)
            loads[coding]?.push(await load(gateway, body, seconds, connections, { 'accept-encoding': coding }));
        }
        const ratio = (coding: string): number =>
          median(
            (loads[coding] ?? []).map((each, turn) => each.perSecond / (loads['identity']?.[turn]?.perSecond ?? 1)),
          );
        figures[page] = Object.fromEntries(
          codings.map((coding) => {
            const { bytes, perSecond, p50Ms, cpuMs } = medianLoad(loads[coding] ?? []);
            process.stdout.write(
              `${page.padEnd(11)} ${coding.padEnd(9)} ${String(bytes).padStart(7)} bytes ${perSecond.toFixed(0).padStart(6)}/s  p50 ${p50Ms.toFixed(2)} ms  ${cpuMs.toFixed(2)} ms of processor time  ${ratio(coding).toFixed(2)} of plain\n`,
            );
            return [coding, { bytes, perSecond: Math.round(perSecond), ratio: Number(ratio(coding).toFixed(2)) }];
          }),
        );
      }
      process.stdout.write(
        `${JSON.stringify({ bench: 'compression', objects: Number(values.objects), ...figures })}\n`,
      );
    } finally {
      await gateway.stop();
    }
  });
}
