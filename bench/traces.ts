/**
 * The cost of traces: pages a second without tracing, with 10 % and with 100 % of the traces exported. Each gateway is a process of its own
 * over the same store. The collector is in this process and drops what it gets.
 *
 *   round -> three new gateways -> they are asked in turns, again and again -> they end
 *
 * There are several rounds, because two processes of the same program differ by more than 10 % of the traces cost. A ratio is the median of
 * those of each turn.
 */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { must } from '../src/base/must.ts';
import { listQuery } from './support/list-query.ts';
import { type Load, load, median, medianLoad, type Served, startServed } from './support/page-load.ts';

export const about =
  'pages a second with traces: none, 10 %, 100 % exported [--objects N] [--rounds N] [--turns N] [--seconds N]';

const connections = 8;
const warmUpSeconds = 5;
const least10 = 0.95;

/** The measured gateways, by the share of the traces that is exported. */
const cases = [
  { name: 'off', ratio: null, title: 'no traces' },
  { name: 'ten', ratio: '0.1', title: '10 % of the traces' },
  { name: 'all', ratio: '1', title: 'every trace' },
] as const;

type Loads = Readonly<Record<(typeof cases)[number]['name'], Load[]>>;

export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      objects: { type: 'string', default: '20000' },
      rounds: { type: 'string', default: '3' },
      turns: { type: 'string', default: '30' },
      seconds: { type: 'string', default: '0.3' },
    },
  });
  const directory = mkdtempSync(join(tmpdir(), 'portolan-bench-'));
  let [exports, bytes] = [0, 0];
  const collector = createServer((request, response) => {
    exports += 1;
    request.on('data', (piece: Buffer) => {
      bytes += piece.length;
    });
    request.on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'));
  });
  collector.listen(0, '127.0.0.1');
  await once(collector, 'listening');
  const url = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
  const loads: Loads = { off: [], ten: [], all: [] };
  try {
    const file = join(directory, 'pods.db');
    await (await startServed(new URL('list.child.ts', import.meta.url), [file, values.objects])).stop();
    for (let round = 0; round < Number(values.rounds); round += 1) {
      await measure(loads, file, url, { round, turns: Number(values.turns), seconds: Number(values.seconds) });
    }
  } finally {
    collector.close();
    collector.closeAllConnections();
    rmSync(directory, { recursive: true, force: true });
  }
  for (const { name, title } of cases) {
    const { perSecond, p99Ms, cpuMs } = medianLoad(loads[name]);
    const cells = [
      `${perSecond.toFixed(0)}/s`,
      `p99 ${p99Ms.toFixed(2)} ms`,
      `${cpuMs.toFixed(3)} ms of processor time`,
    ];
    process.stdout.write(`${title.padEnd(24)} ${cells.map((cell) => cell.padEnd(16)).join('')}\n`);
  }
  process.stdout.write(`${exports} exports with ${(bytes / 1e6).toFixed(1)} MB\n`);
  const ratio = (of: readonly Load[], figure: 'perSecond' | 'cpuMs'): number =>
    Number(median(of.map((each, turn) => each[figure] / must(loads.off[turn], 'a turn')[figure])).toFixed(3));
  const figures = {
    ratio10: ratio(loads.ten, 'perSecond'),
    ratio100: ratio(loads.all, 'perSecond'),
    cpu10: ratio(loads.ten, 'cpuMs'),
    cpu100: ratio(loads.all, 'cpuMs'),
  };
  process.stdout.write(`${JSON.stringify({ bench: 'traces', ...figures })}\n`);
  if (!(figures.ratio10 >= least10)) process.exitCode = 1;
}

interface Round {
  readonly round: number;
  readonly turns: number;
  readonly seconds: number;
}

async function measure(loads: Loads, file: string, collector: string, { round, turns, seconds }: Round): Promise<void> {
  const page = JSON.stringify({ query: listQuery, variables: { after: null } });
  const program = new URL('traces.child.ts', import.meta.url);
  const served = new Map<string, Served>();
  try {
    for (const { name, ratio } of turned(cases, round)) {
      served.set(name, await startServed(program, ratio === null ? [file] : [file, ratio, collector]));
    }
    // Code that runs for every tenth request is optimised late.
    for (const gateway of served.values()) await load(gateway, page, warmUpSeconds, connections);
    for (let turn = 0; turn < turns; turn += 1) {
      for (const { name } of turned(cases, turn)) {
        loads[name].push(await load(must(served.get(name), name), page, seconds, connections));
      }
    }
    await Promise.all([...served.values()].map((each) => each.stop()));
  } finally {
    for (const { child } of served.values()) if (child.exitCode === null) child.kill('SIGKILL');
  }
}

/** The list with another beginning each time, so that no case always follows the same one. */
function turned<T>(list: readonly T[], times: number): readonly T[] {
  const at = times % list.length;
  return [...list.slice(at), ...list.slice(0, at)];
}
