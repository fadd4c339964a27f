/**
 * Pages of a long list over HTTP: 50 Pods with 15 leaves, filtered by phase and ordered by creation, from the real server. Three others get
 * the same load. Two are on bare node:http: hand-written SQL with JSON.stringify, and an array of all Pods, as an informer has. The third
 * is a gateway without prepared answers. Everything is asked in turns, again and again; a ratio is the median of those of
 * each turn. Under changes, the client shares a processor with the thread that serves it, and the writer has another one.
 */
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { messageOf } from '../src/base/errors.ts';
import { inFolder, type Start } from './support/folder.ts';
import { countedQuery, listQuery, otherQueries, restartsQuery } from './support/list-query.ts';
import { ask, type Load, load, median, medianLoad, type Served } from './support/page-load.ts';
import { startPodServer } from './support/pod-server.ts';
import { shareProcessors } from './support/processors.ts';

export const about =
  'pages of a long list: beside bare SQL, an array, at depth, under changes; --help tells its options';

export const help = `Usage: npm run bench -- list [options]

  --objects N    Pods in the list (100000)
  --million N    Pods in the larger list that is paged at depth; 0 leaves it out (1000000)
  --depth N      rows before the deep page, at most half of the list (50000)
  --turns N      how often everything is asked in turn (9)
  --seconds N    how long each load lasts (2)
  --stores DIR   keeps the filled stores in this folder and begins with those that are there
  --no-client    leaves out the list from an API server that is filtered in the client

A run under a minute: --objects 10000 --million 0 --turns 3 --seconds 0.5 --no-client
`;

const connections = 8;

interface Options {
  readonly objects: number;
  readonly million: number;
  readonly depth: number;
  readonly turns: number;
  readonly seconds: number;
  readonly client: boolean;
}

export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    allowNegative: true,
    options: {
      objects: { type: 'string', default: '100000' },
      million: { type: 'string', default: '1000000' },
      depth: { type: 'string', default: '50000' },
      turns: { type: 'string', default: '9' },
      seconds: { type: 'string', default: '2' },
      stores: { type: 'string' },
      client: { type: 'boolean', default: true },
    },
  });
  const options = {
    objects: Number(values.objects),
    million: Number(values.million),
    depth: Number(values.depth),
    turns: Number(values.turns),
    seconds: Number(values.seconds),
    client: values.client,
  };
  await inFolder(async (directory, start) => {
    const stores = values.stores ?? directory;
    mkdirSync(stores, { recursive: true });
    await measure(options, directory, stores, start);
  });
}

async function measure(options: Options, directory: string, stores: string, start: Start): Promise<void> {
  const { objects, million, turns, seconds } = options;
  const storeOf = (count: number): string => join(stores, `${count}.db`);
  const gateway = await start('list.child.ts', storeOf(objects), String(objects));
  const large = million > 0 ? await start('list.child.ts', storeOf(million), String(million)) : null;
  const plain = await start('list.plain.ts', 'sql', storeOf(objects));
  const array = await start('list.plain.ts', 'array', String(objects));
  const executor = await start('list.executor.ts', storeOf(objects));
  const first = body(null);
  const deep = body(await cursorAt(gateway.url, Math.min(options.depth, objects >> 1)));
  const deepest = large === null ? '' : body(await cursorAt(large.url, Math.min(options.depth, million >> 1)));

  const counted = body(null, countedQuery);
  const restarts = JSON.stringify({ query: restartsQuery });

  const loads = Object.fromEntries(everyAsked.map((asked) => [asked, [] as Load[]])) as Loads;
  for (let turn = 0; turn < turns; turn += 1) {
    // The two that are compared closest follow each other, each of them first as often as the other.
    const ours = async (): Promise<unknown> => loads.ours.push(await load(gateway, first, seconds, connections));
    const bare = async (): Promise<unknown> => loads.bare.push(await load(plain, first, seconds, connections));
    for (const one of turn % 2 === 0 ? [ours, bare] : [bare, ours]) await one();
    loads.counted.push(await load(gateway, counted, seconds, connections));
    loads.deep.push(await load(gateway, deep, seconds, connections));
    if (large !== null) loads.large.push(await load(large, deepest, seconds, connections));
    loads.restarts.push(await load(gateway, restarts, seconds, 1));
    loads.executed.push(await load(executor, first, seconds, connections));
    // One connection keeps its one thread busy; more would only queue.
    loads.array.push(await load(array, first, seconds, 1));
  }
  await Promise.all([array.stop(), executor.stop(), large?.stop()]);

  const churn = await loadUnderChanges({ gateway, plain }, first, options, loads);
  await plain.stop();
  const others = await askOthers(gateway, seconds);
  await gateway.stop();
  const client = options.client ? await listInClient(objects, directory, start) : null;

  report(options, loads, churn, { client, others });
}

interface Churn {
  changes: number;
  seconds: number;
  walMb: number;
}

/** One connection, idle and under changes. */
async function loadUnderChanges(
  { gateway, plain }: { readonly gateway: Served; readonly plain: Served },
  first: string,
  { seconds, turns }: Options,
  loads: Loads,
): Promise<Churn> {
  const churn: Churn = { changes: 0, seconds: 0, walMb: 0 };
  const whileChanging = async (asked: () => Promise<void>): Promise<void> => {
    const over = once(gateway.child, 'message');
    gateway.child.send({ changesMs: (seconds + 1) * 1000 });
    await asked();
    const [told] = (await over) as [{ changes: number; walMb: number; seconds: number }];
    churn.changes += told.changes;
    churn.seconds += told.seconds;
    churn.walMb = Math.max(churn.walMb, told.walMb);
  };
  const giveBack = shareProcessors([process.pid, ...[gateway, plain].flatMap(({ child }) => child.pid ?? [])]);
  for (let turn = 0; turn < turns; turn += 1) {
    loads.idle.push(await load(gateway, first, seconds, 1));
    await whileChanging(async () => void loads.busy.push(await load(gateway, first, seconds, 1)));
    loads.bareIdle.push(await load(plain, first, seconds, 1));
    await whileChanging(async () => void loads.bareBusy.push(await load(plain, first, seconds, 1)));
  }
  giveBack();
  return churn;
}

interface Extra {
  readonly client: Load | null;
  readonly others: readonly (readonly [string, Load | string])[];
}

/** Prints the bounds, the loads and the line of figures. */
function report({ objects, million }: Options, loads: Loads, churn: Churn, { client, others }: Extra): void {
  const ratios = (of: Asked, to: Asked, figure: keyof Load): number | null =>
    loads[of].length === 0
      ? null
      : median(loads[of].map((each, turn) => each[figure] / (loads[to][turn]?.[figure] ?? Number.NaN)));
  const figures = {
    ratio: ratios('ours', 'bare', 'perSecond'),
    cpuRatio: ratios('bare', 'ours', 'cpuMs'),
    withCount: ratios('ours', 'counted', 'perSecond'),
    overArray: ratios('ours', 'array', 'perSecond'),
    preparedOverExecutor: ratios('ours', 'executed', 'perSecond'),
    preparedOverExecutorCpu: ratios('executed', 'ours', 'cpuMs'),
    depth: ratios('deep', 'ours', 'p50Ms'),
    million: ratios('large', 'ours', 'p50Ms'),
    churn: ratios('busy', 'idle', 'p99Ms'),
    bareChurn: ratios('bareBusy', 'bareIdle', 'p99Ms'),
    restartsMs: medianLoad(loads.restarts).p50Ms,
    walMb: churn.walMb,
  };
  const bounds: readonly Bound[] = [
    { what: 'of the pages a second of bare SQL and JSON.stringify', value: figures.ratio, least: 0.9 },
    { what: 'times as long with totalCount', value: figures.withCount, most: 1.5 },
    { what: 'times those of an array in memory', value: figures.overArray, least: 10 },
    { what: 'p50 at depth, beside page one', value: figures.depth, most: 1.3 },
    { what: `p50 at depth of ${million}, beside page one`, value: figures.million, most: 1.3 },
    { what: 'p99 under changes, beside idle', value: figures.churn, most: 1.8 },
    { what: 'first page by restarts, in milliseconds', value: figures.restartsMs, most: 10 },
    { what: 'largest WAL in MB', value: churn.walMb, most: 64 },
  ];
  for (const bound of bounds) print(bound);
  process.stdout.write('\n');
  const named: readonly (readonly [string, Load | string])[] = [
    [`page one of ${objects} Pods`, medianLoad(loads.ours)],
    ['the same with totalCount', medianLoad(loads.counted)],
    ['the same by SQL and JSON.stringify', medianLoad(loads.bare)],
    ['the same from an array, one connection', medianLoad(loads.array)],
    ['the same listed and filtered in the client', client ?? '-'],
    ['the same by the executor of graphql-js', medianLoad(loads.executed)],
    ['page at depth', medianLoad(loads.deep)],
    [`page at depth of ${million} Pods`, loads.large.length === 0 ? '-' : medianLoad(loads.large)],
    ['page one, one connection, idle', medianLoad(loads.idle)],
    ['page one by restarts, one connection', medianLoad(loads.restarts)],
    [`page one, one connection, ${Math.round(churn.changes / churn.seconds)} changes/s`, medianLoad(loads.busy)],
    ['page one by SQL, one connection, idle', medianLoad(loads.bareIdle)],
    ['page one by SQL, one connection, under changes', medianLoad(loads.bareBusy)],
    ...others,
  ];
  for (const [what, each] of named)
    process.stdout.write(`${what.padEnd(46)} ${typeof each === 'string' ? each : shown(each)}\n`);
  const rounded = Object.fromEntries(
    Object.entries(figures).map(([name, value]) => [name, value === null ? null : Number(value.toFixed(2))]),
  );
  process.stdout.write(`${JSON.stringify({ bench: 'list', ...rounded, objects, millionObjects: million })}\n`);
  if (bounds.some((bound) => isKept(bound) === false)) process.exitCode = 1;
}

const everyAsked = [
  'ours',
  'counted',
  'bare',
  'array',
  'executed',
  'deep',
  'large',
  'idle',
  'busy',
  'bareIdle',
  'bareBusy',
  'restarts',
] as const;

type Asked = (typeof everyAsked)[number];

type Loads = Record<Asked, Load[]>;

interface Bound {
  readonly what: string;
  /** Null where it was not measured. */
  readonly value: number | null;
  readonly least?: number;
  readonly most?: number;
}

/** Null where nothing was measured. */
function isKept({ value, least = Number.NEGATIVE_INFINITY, most = Number.POSITIVE_INFINITY }: Bound): boolean | null {
  return value === null ? null : value >= least && value <= most;
}

function print(bound: Bound): void {
  const { what, value, least, most } = bound;
  const wanted = least === undefined ? `<= ${most}` : `>= ${least}`;
  const kept = isKept(bound);
  const verdict = kept === null ? 'not measured' : kept ? 'kept' : 'MISSED';
  process.stdout.write(`${what.padEnd(54)} ${(value?.toFixed(2) ?? '-').padStart(8)} ${wanted.padEnd(8)} ${verdict}\n`);
}

function shown({ perSecond, p50Ms, p99Ms, cpuMs }: Load): string {
  const cells = [
    `${perSecond.toFixed(perSecond < 10 ? 2 : 0)}/s`,
    `p50 ${p50Ms.toFixed(2)} ms`,
    `p99 ${p99Ms.toFixed(2)} ms`,
  ];
  return `${cells.map((cell) => cell.padEnd(16)).join('')}${cpuMs.toFixed(2)} ms of processor time`;
}

function body(after: string | null, query = listQuery): string {
  return JSON.stringify({ query, variables: { after } });
}

/** The cursor of a row that far down the list. */
async function cursorAt(url: string, depth: number): Promise<string> {
  const query = listQuery.replace(/first: \d+/, 'first: 500').replace(/nodes \{.*\}\n/, '');
  let after: string | null = null;
  for (let row = 0; row < depth; row += 500) {
    const answer = JSON.parse(await ask(url, JSON.stringify({ query, variables: { after } })));
    after = answer.data.pods.pageInfo.endCursor as string;
  }
  if (after === null) throw new Error('the list is not so long');
  return after;
}

/** Other questions about the list, by name; for one that was refused, with which code. */
async function askOthers(gateway: Served, seconds: number): Promise<readonly (readonly [string, Load | string])[]> {
  const indexed = once(gateway.child, 'message');
  gateway.child.send({ index: true });
  await indexed;
  const asked: (readonly [string, Load | string])[] = [];
  for (const [what, query] of otherQueries) {
    try {
      asked.push([what, await load(gateway, JSON.stringify({ query }), seconds, 1)]);
    } catch (error) {
      const [, code] = /"code":"(\w+)"/.exec(messageOf(error)) ?? [];
      if (code === undefined) throw error;
      asked.push([what, code]);
    }
  }
  return asked;
}

/** The whole list from an API server, filtered, ordered and cut in the client: what the page costs without a gateway. */
async function listInClient(objects: number, directory: string, start: Start): Promise<Load> {
  const server = await startPodServer(objects, join(directory, 'kubeconfig'));
  try {
    const client = await start('list.plain.ts', 'api', server.url);
    const measured = await load(client, body(null), 0, 1);
    await client.stop();
    return measured;
  } finally {
    await server.close();
  }
}
