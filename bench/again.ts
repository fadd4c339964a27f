/**
 * The same question again: two gateways over one store, one that keeps answers in memory and one that reads each from the store. Both get
 * every question in turns; a ratio is the median of the ratios of each turn. Beside them, bare node:http sends the same bytes: no
 * answer over HTTP can be faster.
 *
 * The goal is for the processor time of the gateway. The answers per second depend on the client as well, which needs as much processor time
 * for an answer as bare node:http.
 */
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { inFolder } from './support/folder.ts';
import { countedQuery, listQuery } from './support/list-query.ts';
import { ask, type Load, load, median, medianLoad, type Served } from './support/page-load.ts';

export const about =
  'the same question again, from memory and from the store [--objects N] [--turns N] [--seconds N] [--changes N]';

const connections = 8;
const goal = 5;
/** Commits a second of another kind, in the second half of each turn. */
const defaultChanges = '50';

const groups = '{ pods { aggregate { groups(by: ["status.phase", "spec.nodeName"]) { keys aggregate { count } } } } }';
const facets = '{ pods { facets(paths: ["status.phase", "metadata.namespace"]) { path values { value count } } } }';
const columns = listQuery.replace('nodes {', 'nodes { raw');

const questions: readonly (readonly [name: string, what: string, query: string, coding: string])[] = [
  ['page', 'a page of 50 Pods', listQuery, ''],
  ['compressed', 'the same, compressed with zstd', listQuery, 'zstd'],
  ['counted', 'the same with totalCount', countedQuery, ''],
  ['raw', 'the same with whole objects', columns, ''],
  ['groups', 'groups by phase and node', groups, ''],
  ['facets', 'facets of phase and namespace', facets, ''],
];

export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      objects: { type: 'string', default: '20000' },
      turns: { type: 'string', default: '7' },
      seconds: { type: 'string', default: '0.5' },
      changes: { type: 'string', default: defaultChanges },
    },
  });
  await inFolder(async (directory, start) => {
    const file = join(directory, 'pods.db');
    const asking = (...given: string[]): Promise<Served> => start('again.child.ts', ...given);
    await (await start('list.child.ts', file, values.objects)).stop();
    const writer = new Worker(new URL('again.writer.ts', import.meta.url), {
      workerData: { file, perSecond: Number(values.changes) },
    });
    await once(writer, 'message');
    const [store, memory] = [await asking(file, '0'), await asking(file, '33554432')];
    const answer = join(directory, 'answer.json');
    writeFileSync(answer, await ask(store.url, bodyOf(listQuery)));
    const bare = await asking('constant', answer);
    const measured = await measure({ store, memory, bare, writer }, Number(values.turns), Number(values.seconds));
    writer.postMessage('close');
    report(measured, Number(values.objects));
  });
}

interface Measured {
  readonly store: Load[];
  readonly memory: Load[];
  /** From memory, while another kind changes. */
  readonly busy: Load[];
  readonly bare: Load[];
}

async function measure(
  servers: Readonly<Record<'store' | 'memory' | 'bare', Served>> & { readonly writer: Worker },
  turns: number,
  seconds: number,
): Promise<ReadonlyMap<string, Measured>> {
  const { writer, store, memory, bare } = servers;
  const measured = new Map(
    questions.map(([name]): [string, Measured] => [name, { store: [], memory: [], busy: [], bare: [] }]),
  );
  for (let turn = -1; turn < turns; turn += 1) {
    for (const [name, , query, coding] of questions) {
      const of = (from: Served): Promise<Load> =>
        load(from, bodyOf(query), seconds, connections, { 'accept-encoding': coding });
      const loads = [await of(store), await of(memory), await of(bare)] as const;
      writer.postMessage('change');
      const busy = await of(memory);
      writer.postMessage('rest');
      // The first turn warms up.
      if (turn < 0) continue;
      const kept = measured.get(name);
      kept?.store.push(loads[0]);
      kept?.memory.push(loads[1]);
      kept?.bare.push(loads[2]);
      kept?.busy.push(busy);
    }
  }
  return measured;
}

function report(measured: ReadonlyMap<string, Measured>, objects: number): void {
  const figures: Record<string, number> = {};
  for (const [name, what] of questions) {
    const found = measured.get(name);
    if (found === undefined) continue;
    const ratio = ratioOf(found.store, found.memory, 'cpuMs');
    const busy = ratioOf(found.store, found.busy, 'cpuMs');
    const perSecond = ratioOf(found.memory, found.store, 'perSecond');
    figures[name] = Number(ratio.toFixed(2));
    figures[`${name}Busy`] = Number(busy.toFixed(2));
    figures[`${name}PerSecond`] = Number(perSecond.toFixed(2));
    const cells = [shown('store', found.store), shown('memory', found.memory), shown('busy', found.busy)];
    process.stdout.write(`${what.padEnd(32)}${ratio.toFixed(2).padStart(8)} times   ${cells.join(' ')}\n`);
  }
  const page = measured.get('page');
  const ceiling = page === undefined ? Number.NaN : ratioOf(page.bare, page.store, 'perSecond');
  const ratio = figures['page'] ?? 0;
  const verdict = ratio >= goal ? 'kept' : 'MISSED';
  process.stdout.write(`${'the page from bare node:http'.padEnd(54)}${shown('bare', page?.bare ?? [])}\n`);
  process.stdout.write(`the page by processor time: ${ratio.toFixed(2)} >= ${goal} ${verdict}\n`);
  process.stdout.write(
    `${JSON.stringify({ bench: 'again', ...figures, ceilingPerSecond: Number(ceiling.toFixed(2)), objects })}\n`,
  );
  if (verdict === 'MISSED') process.exitCode = 1;
}

function ratioOf(some: readonly Load[], others: readonly Load[], figure: 'perSecond' | 'cpuMs'): number {
  return median(some.map((each, turn) => each[figure] / (others[turn]?.[figure] ?? Number.NaN)));
}

function shown(name: string, loads: readonly Load[]): string {
  const { perSecond, cpuMs } = medianLoad(loads);
  return `${name} ${perSecond.toFixed(0)}/s ${cpuMs.toFixed(3)} ms cpu`.padEnd(30);
}

function bodyOf(query: string): string {
  return JSON.stringify({ query });
}
