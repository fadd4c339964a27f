/**
 * First sync of a large collection: Pods of about 5 kB, served over loopback by a process of the bench. The real ingest thread
 * writes them into a store with every index on, alone and with a parse thread beside it. The reference is JSON.parse alone over the
 * same objects. It is timed before and after each of them, because the speed of a shared machine varies. The informer of
 * @kubernetes/client-node is measured too. Everything is done in turns; a ratio is the median of those of each turn.
 *
 * Time runs from the first LIST that the server sees to the watch that follows the commit of the last page.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { inFolder } from './support/folder.ts';
import { median } from './support/page-load.ts';
import { startPodServer } from './support/pod-server.ts';
import { podItem } from './support/pods.ts';

export const about =
  'first sync of 100,000 Pods: its rate beside JSON.parse, memory, the serve thread (--objects N, --turns N, --no-client)';

/** The figures of a measured process. */
export interface SyncedProcess {
  readonly objects: number;
  /** Of a processor: the ingest thread's, or all of the informer's process. */
  readonly cpuSeconds: number;
  /** Peak of its resident anonymous memory. */
  readonly rssMb: number;
  readonly loopP99Ms: number;
}

interface Measured extends SyncedProcess {
  readonly perSecond: number;
  /** JSON.parse alone, around it. */
  readonly parse: Parsed;
  /** Of the rate of JSON.parse. */
  readonly ratio: number;
  /** By processor time: says the same where the machine is idle, and still something where it is not. */
  readonly cpuRatio: number;
}

const parsedAtOnce = 5000;

export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      objects: { type: 'string', default: '100000' },
      turns: { type: 'string', default: '3' },
      'no-client': { type: 'boolean', default: false },
    },
  });
  const [objects, turns] = [Number(values.objects), Number(values.turns)];
  for (const [name, value] of Object.entries({ objects, turns })) {
    if (!Number.isInteger(value) || value < 1) throw new Error(`--${name} takes a whole number above 0`);
  }
  await inFolder(async (directory) => {
    let before = parseAlone(objects);
    const between = async (measured: () => Promise<Synced>): Promise<Measured> => {
      const synced = await measured();
      const after = parseAlone(objects);
      const parse = {
        perSecond: (before.perSecond + after.perSecond) / 2,
        cpuSeconds: (before.cpuSeconds + after.cpuSeconds) / 2,
      };
      before = after;
      const { perSecond, cpuSeconds } = synced;
      return {
        ...synced,
        parse,
        ratio: perSecond / parse.perSecond,
        cpuRatio: (parse.cpuSeconds * objects) / cpuSeconds,
      };
    };
    const [one, two] = [[] as Measured[], [] as Measured[]];
    for (let turn = 0; turn < turns; turn += 1) {
      one.push(await between(() => measure('sync.child.ts', objects, directory, [])));
      two.push(await between(() => measure('sync.child.ts', objects, directory, [], 'true')));
    }
    const client = values['no-client']
      ? null
      : await between(() => measure('sync.informer.ts', objects, directory, ['--max-old-space-size=12000']));
    report(one, two, client);
  });
}

/** The rate of first syncs with relations, beside those without; the median of pairs. With a parse thread, as the gateway has it. */
export async function compareSyncs(objects: number, turns: number): Promise<number> {
  return inFolder(async (directory) => {
    const ratios: number[] = [];
    for (let turn = 0; turn < turns; turn += 1) {
      const without = await measure('sync.child.ts', objects, directory, [], 'true');
      const related = await measure('sync.child.ts', objects, directory, [], 'true', 'true');
      ratios.push(related.perSecond / without.perSecond);
    }
    return median(ratios);
  });
}

type Synced = SyncedProcess & Pick<Measured, 'perSecond'>;

interface Parsed {
  readonly perSecond: number;
  /** Seconds of a processor for one object. */
  readonly cpuSeconds: number;
}

/** How fast JSON.parse reads the objects here, one text at a time, as ingest has them. */
function parseAlone(objects: number): Parsed {
  let [ms, cpu] = [0, 0];
  let parsed = 0;
  for (; parsed < Math.max(objects / 4, parsedAtOnce); parsed += parsedAtOnce) {
    const texts = Array.from({ length: parsedAtOnce }, (_, index) =>
      // Flat, as it is when it comes out of a buffer.
      Buffer.from(podItem(parsed + index, 'Running', 1_000_000)).toString('utf8'),
    );
    const [started, used] = [performance.now(), process.threadCpuUsage()];
    for (const text of texts) JSON.parse(text);
    const { user, system } = process.threadCpuUsage(used);
    ms += performance.now() - started;
    cpu += (user + system) / 1e6;
  }
  return { perSecond: (parsed * 1000) / ms, cpuSeconds: cpu / parsed };
}

async function measure(
  program: string,
  objects: number,
  parent: string,
  execArgv: readonly string[],
  parseThread = 'false',
  relations = 'false',
): Promise<Synced> {
  const directory = mkdtempSync(join(parent, 'turn-'));
  const kubeconfig = join(directory, 'kubeconfig');
  const server = await startPodServer(objects, kubeconfig);
  const file = join(directory, 'store.db');
  const child = fork(fileURLToPath(new URL(program, import.meta.url)), [kubeconfig, file, parseThread, relations], {
    execArgv: [...process.execArgv, ...execArgv],
    // As the gateway starts (src/portolan.js): what Node compiles is kept.
    env: { ...process.env, NODE_COMPILE_CACHE: join(parent, 'compiled') },
  });
  const exited = once(child, 'exit');
  try {
    const lost = exited.then(() => Promise.reject(new Error(`${program} ended before it had synced`)));
    lost.catch(() => {});
    const [figures] = (await Promise.race([once(child, 'message'), lost])) as [SyncedProcess];
    await exited;
    if (figures.objects !== objects) throw new Error(`${program} has ${figures.objects} of ${objects} objects`);
    const { firstListAt, watchAt } = await server.state();
    if (firstListAt === null || watchAt === null) throw new Error(`${program} did not list and watch`);
    return { ...figures, perSecond: (objects * 1000) / (watchAt - firstListAt) };
  } finally {
    child.kill('SIGKILL');
    await server.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

function report(one: readonly Measured[], two: readonly Measured[], client: Measured | null): void {
  const of = (turns: readonly Measured[], figure: (each: Measured) => number): number => median(turns.map(figure));
  const ratio = of(one, (each) => each.ratio);
  const ratioTwo = of(two, (each) => each.ratio);
  const cpuRatio = of(one, (each) => each.cpuRatio);
  const cpuRatioTwo = of(two, (each) => each.cpuRatio);
  const perSecond = of(one, (each) => each.perSecond);
  const both = [...one, ...two];
  const parse = of(both, (each) => each.parse.perSecond);
  const rssMb = Math.max(...both.map((each) => each.rssMb));
  const loopP99Ms = Math.max(...both.map((each) => each.loopP99Ms));
  const rows: readonly (readonly [string, string, string, boolean])[] = [
    ['rate beside JSON.parse', ratio.toFixed(3), '>= 0.30', ratio >= 0.3],
    ['  with a parse thread', ratioTwo.toFixed(3), '>= 0.45', ratioTwo >= 0.45],
    ['peak anonymous memory', `${rssMb.toFixed(0)} MB`, '< 400 MB', rssMb < 400],
    ['serve thread delay p99', `${loopP99Ms.toFixed(2)} ms`, '< 20 ms', loopP99Ms < 20],
  ];
  for (const [what, value, bound, kept] of rows) {
    process.stdout.write(`${what.padEnd(28)} ${value.padEnd(28)} ${bound.padEnd(12)} ${kept ? 'kept' : 'MISSED'}\n`);
  }
  const more: (readonly [string, string])[] = [
    ['first sync', `${one[0]?.objects} Pods at ${perSecond.toFixed(0)}/s`],
    ['JSON.parse alone', `${parse.toFixed(0)}/s`],
    ['by processor time', `${cpuRatio.toFixed(3)} of JSON.parse`],
    ['  with a parse thread', `${cpuRatioTwo.toFixed(3)} in the ingest thread`],
  ];
  if (client !== null) {
    more.push(
      ['informer of client-node', `${client.perSecond.toFixed(0)}/s, ${client.ratio.toFixed(3)} of JSON.parse`],
      ['  its peak memory', `${client.rssMb.toFixed(0)} MB`],
      ['  its event-loop delay p99', `${client.loopP99Ms.toFixed(1)} ms`],
    );
  }
  for (const [what, value] of more) process.stdout.write(`${what.padEnd(28)} ${value}\n`);
  const clientNode =
    client === null
      ? null
      : {
          ratio: round(client.ratio, 3),
          cpuRatio: round(client.cpuRatio, 3),
          rssMB: round(client.rssMb, 0),
          loopP99Ms: round(client.loopP99Ms, 2),
        };
  process.stdout.write(
    `${JSON.stringify({
      bench: 'sync',
      ratio: round(ratio, 3),
      ratioTwoThreads: round(ratioTwo, 3),
      cpuRatio: round(cpuRatio, 3),
      cpuRatioTwoThreads: round(cpuRatioTwo, 3),
      rssMB: round(rssMb, 0),
      loopP99Ms: round(loopP99Ms, 2),
      objects: one[0]?.objects,
      turns: one.length,
      perSecond: round(perSecond, 0),
      parsePerSecond: round(parse, 0),
      clientNode,
    })}\n`,
  );
  if (rows.some(([, , , kept]) => !kept)) process.exitCode = 1;
}

function round(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}
