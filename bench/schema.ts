/**
 * Cost of a schema of many kinds, and the time for which it blocks the thread that answers requests.
 *
 * The kinds are real: those of the simulated cluster, and the CustomResourceDefinitions of a folder. A process with an engine and the
 * real server (schema.child.ts) reads the store that this one writes:
 *
 *   empty -> all kinds at once: a swap -> introspection over HTTP -> one kind changes, several times -> heap
 *
 * Pothos builds the static part of the schema. It is measured beside graphql-js, which builds the types of kinds (schema.pothos.ts).
 *
 * A block is the longest time between two looks of a timer. Its processor time is measured too, because other processes on the machine
 * do not lengthen that. Every figure is the median of the runs; the least is printed beside it.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { getIntrospectionQuery } from 'graphql';
import { must } from '../src/base/must.ts';
import { describeResource } from '../src/catalog/describe/describe.ts';
import { resourceOfCrd } from '../src/catalog/describe/from-crd.ts';
import type { DescribedResource } from '../src/catalog/resources/catalog.ts';
import { openWriter } from '../src/store/write/writer.ts';
import { crdFolder, loadCrds } from '../test/kit/crds.ts';
import { describeSimulatedKinds } from '../test/kit/simulated-kinds.ts';
import type { Built, Heap, Refreshed, SchemaOrder } from './schema.child.ts';
import type { BuilderFigures } from './schema.pothos.ts';
import { inFolder } from './support/folder.ts';
import type { LongestTurn } from './support/loop-turns.ts';
import { median, startServed } from './support/page-load.ts';

export const about = 'building a schema of real CRDs, what it and introspection block; --help tells its options';

export const help = `Usage: PORTOLAN_CRDS=FOLDER npm run bench -- schema [options]

  --runs N       processes that are measured, for few kinds and for many (3)
  --few N        kinds of the smaller schema (120)
  --changes N    changes of one kind in each process (5)

The folder holds CustomResourceDefinitions as YAML, JSON or .tar.xz.
`;

const cluster = 'bench';

interface Options {
  readonly runs: number;
  readonly few: number;
  readonly changes: number;
}

/** The measurements of one process. */
interface Run {
  readonly swap: Refreshed & LongestTurn;
  readonly introspection: LongestTurn & { readonly bytes: number; readonly answeredMs: number };
  readonly changes: readonly Refreshed[];
  /** The longest turns in further changes. */
  readonly changeTurns: readonly LongestTurn[];
  readonly built: Built;
  readonly heap: Heap;
}

export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      runs: { type: 'string', default: '3' },
      few: { type: 'string', default: '120' },
      changes: { type: 'string', default: '5' },
    },
  });
  if (crdFolder === null) {
    process.stderr.write('Name a folder of CustomResourceDefinitions with PORTOLAN_CRDS.\n');
    process.exitCode = 2;
    return;
  }
  const options = { runs: Number(values.runs), few: Number(values.few), changes: Number(values.changes) };
  const described = await describeAll();
  const few: Run[] = [];
  const many: Run[] = [];
  for (let turn = 0; turn < options.runs; turn += 1) {
    few.push(await measure(described.slice(0, options.few), options));
    many.push(await measure(described, options));
  }
  report(few, many, await buildersBeside());
}

async function buildersBeside(): Promise<BuilderFigures> {
  const child = fork(new URL('./schema.pothos.ts', import.meta.url), ['10'], { execArgv: process.execArgv });
  const lost = lossOf(child);
  const [figures] = await Promise.race([once(child, 'message'), lost]);
  return figures as BuilderFigures;
}

/** The built-in kinds, then the CRDs: those in files of their own before those in archives. */
async function describeAll(): Promise<readonly DescribedResource[]> {
  const builtIn = await describeSimulatedKinds({ objects: 'empty' }, cluster);
  const crds = loadCrds().toSorted((a, b) => Number(isArchived(a.source)) - Number(isArchived(b.source)));
  const custom = crds.map(({ source, crd }) => {
    const resource = must(resourceOfCrd(crd), `${source} has names`);
    return describeResource({ cluster, resource, crd });
  });
  return [...builtIn, ...custom];
}

function isArchived(source: string): boolean {
  return source.endsWith('.tar.xz');
}

async function measure(described: readonly DescribedResource[], { changes }: Options): Promise<Run> {
  return inFolder(async (directory) => {
    const file = join(directory, 'store.db');
    const writer = openWriter(file);
    writer.openCluster(cluster, cluster);
    const gateway = await startGateway(file);
    try {
      for (const each of described) writer.declare(each);
      const swap = await watched(gateway, () => published(gateway));
      if (swap.kinds !== described.length) throw new Error(`only ${swap.kinds} kinds are in the schema`);
      const introspection = await watched(gateway, () => introspect(gateway));
      const measured: Refreshed[] = [];
      const turns: LongestTurn[] = [];
      for (let change = 0; change < changes; change += 1) {
        // Kinds from all over the list; not the first, which share definitions.
        const kind = must(described[Math.floor((described.length * (change + 1)) / (changes + 1))], 'a kind');
        writer.declare({ ...kind, description: `Change ${change}.` });
        measured.push(await published(gateway));
        writer.declare(kind);
        turns.push(await watched(gateway, () => published(gateway)));
      }
      const heap = await gateway.order<Heap>('heap');
      const built = await gateway.order<Built>('build');
      return { swap, introspection, changes: measured, changeTurns: turns, built, heap };
    } finally {
      await gateway.stop();
      writer.close();
    }
  });
}

const published = (gateway: Gateway): Promise<Refreshed> => gateway.order<Refreshed>('refresh');

/** The result of `work`, with the longest turns meanwhile. */
async function watched<T extends object>(gateway: Gateway, work: () => Promise<T>): Promise<T & LongestTurn> {
  await gateway.order('watch');
  const done = await work();
  return { ...done, ...(await gateway.order<LongestTurn>('unwatch')) };
}

async function introspect(gateway: Gateway): Promise<{ readonly bytes: number; readonly answeredMs: number }> {
  const began = performance.now();
  const sent = request(gateway.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'accept-encoding': 'br' },
  }).end(JSON.stringify({ query: getIntrospectionQuery() }));
  const [response] = await once(sent, 'response');
  const { length } = await buffer(response);
  const answeredMs = performance.now() - began;
  if (response.statusCode !== 200) throw new Error(`introspection was answered with ${response.statusCode}`);
  return { bytes: length, answeredMs };
}

/** Rejects when the process ends. */
function lossOf(child: ChildProcess): Promise<never> {
  const lost = once(child, 'exit').then(() => Promise.reject(new Error('the measured process ended before its time')));
  lost.catch(() => {});
  return lost;
}

interface Gateway {
  readonly url: string;
  order<A>(order: SchemaOrder): Promise<A>;
  stop(): Promise<void>;
}

async function startGateway(file: string): Promise<Gateway> {
  const { url, child, stop } = await startServed(new URL('./schema.child.ts', import.meta.url), [file]);
  const lost = lossOf(child);
  return {
    url,
    stop,
    async order<A>(order: SchemaOrder) {
      child.send(order);
      const [answer] = await Promise.race([once(child, 'message'), lost]);
      return answer as A;
    },
  };
}

/** A figure over all runs. */
interface Figure {
  readonly what: string;
  readonly unit: string;
  readonly values: readonly number[];
  readonly most?: number;
}

function report(few: readonly Run[], many: readonly Run[], builders: BuilderFigures): void {
  const swaps = (runs: readonly Run[]) => runs.map(({ swap }) => swap);
  const introspections = (runs: readonly Run[]) => runs.map(({ introspection }) => introspection);
  const changes = many.flatMap((each) => each.changes);
  const elapsed = (turns: readonly LongestTurn[]) => turns.map(({ elapsedMs }) => elapsedMs);
  const cpu = (turns: readonly LongestTurn[]) => turns.map(({ cpuMs }) => cpuMs);
  const kinds = (runs: readonly Run[]): string => `${runs[0]?.swap.kinds} kinds`;
  const figures: Record<string, Figure> = {
    buildMs: {
      what: `build of ${kinds(many)}, CPU`,
      unit: 'ms',
      values: many.map(({ built }) => built.cpuMs),
      most: 2000,
    },
    swapBlockMs: { what: `block in a swap of ${kinds(few)}`, unit: 'ms', values: elapsed(swaps(few)), most: 50 },
    swapBlockManyMs: { what: `block in a swap of ${kinds(many)}`, unit: 'ms', values: elapsed(swaps(many)), most: 150 },
    introspectionBlockFewMs: {
      what: `block in introspection, ${kinds(few)}`,
      unit: 'ms',
      values: elapsed(introspections(few)),
      most: 50,
    },
    introspectionBlockMs: {
      what: `block in introspection, ${kinds(many)}`,
      unit: 'ms',
      values: elapsed(introspections(many)),
      most: 150,
    },
    rebuildMs: {
      what: `one kind of ${kinds(many)} changes`,
      unit: 'ms',
      values: changes.map(({ publishedMs }) => publishedMs),
      most: 200,
    },
    heapMB: {
      what: 'heap with two generations',
      unit: 'MB',
      values: many.map(({ heap }) => heap.apartMb),
      most: 700,
    },
    buildElapsedMs: { what: 'the build, elapsed', unit: 'ms', values: many.map(({ built }) => built.elapsedMs) },
    swapMs: {
      what: `the swap of ${kinds(many)}, elapsed`,
      unit: 'ms',
      values: swaps(many).map(({ publishedMs }) => publishedMs),
    },
    swapBlockCpuMs: { what: `CPU of the block, ${kinds(few)}`, unit: 'ms', values: cpu(swaps(few)) },
    swapBlockManyCpuMs: { what: `CPU of the block, ${kinds(many)}`, unit: 'ms', values: cpu(swaps(many)) },
    introspectionBlockCpuMs: { what: 'CPU of its block', unit: 'ms', values: cpu(introspections(many)) },
    introspectionMs: {
      what: 'introspection, elapsed',
      unit: 'ms',
      values: introspections(many).map(({ answeredMs }) => answeredMs),
    },
    introspectionMB: {
      what: 'its answer with Brotli',
      unit: 'MB',
      values: introspections(many).map(({ bytes }) => bytes / 1e6),
    },
    rebuildCpuMs: { what: 'the change, CPU', unit: 'ms', values: changes.map(({ publishedCpuMs }) => publishedCpuMs) },
    rebuildBlockMs: {
      what: 'block in the change',
      unit: 'ms',
      values: elapsed(many.flatMap(({ changeTurns }) => changeTurns)),
    },
    heapSharedMB: {
      what: 'heap with two that share their kinds',
      unit: 'MB',
      values: many.map(({ heap }) => heap.sharedMb),
    },
  };
  for (const figure of Object.values(figures)) print(figure);
  const { types, pothosUs, rawUs, pothosOverRaw } = builders;
  const shown = `${pothosUs.toFixed(1)} µs by Pothos, ${rawUs.toFixed(1)} µs by graphql-js`;
  process.stdout.write(`a field of ${types} types: ${shown}\n`);
  const rounded = Object.entries(figures).map(([name, { values }]) => [name, Number(median([...values]).toFixed(1))]);
  process.stdout.write(
    `${JSON.stringify({ bench: 'schema', ...Object.fromEntries(rounded), pothosOverRaw: Number(pothosOverRaw.toFixed(1)) })}\n`,
  );
  if (Object.values(figures).some(isMissed)) process.exitCode = 1;
}

function print(figure: Figure): void {
  const { what, unit, values, most } = figure;
  const value = `${median([...values]).toFixed(1)} ${unit} (least ${Math.min(...values).toFixed(1)})`;
  const bound = most === undefined ? '' : `< ${most} ${unit}`.padEnd(12) + (isMissed(figure) ? 'MISSED' : 'kept');
  process.stdout.write(`${`${what.padEnd(38)} ${value.padEnd(28)} ${bound}`.trimEnd()}\n`);
}

function isMissed({ values, most }: Figure): boolean {
  return most !== undefined && median([...values]) >= most;
}
