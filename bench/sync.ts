/**
 * First sync of a large collection: Pods of about 5 kB, served over loopback by a process of the bench, into a store with every
 * index on, by the real ingest thread: alone, and with a parse thread beside it. The reference is JSON.parse alone over the same objects, timed before and after in the same
 * run; beside it stands the informer of @kubernetes/client-node.
 *
 * Time runs from the first LIST that the server sees to the watch that follows the commit of the last page.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startPodServer } from './support/pod-server.ts';
import { podItem } from './support/pods.ts';

export const about =
  'first sync of 100,000 Pods: its rate beside JSON.parse, memory, the serve thread (--objects N, --no-client)';

/** What a measured process says of itself. */
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
}

const parsedAtOnce = 5000;

export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { objects: { type: 'string', default: '100000' }, 'no-client': { type: 'boolean', default: false } },
  });
  const objects = Number(values.objects);
  if (!Number.isInteger(objects) || objects < 1) throw new Error('--objects takes a whole number above 0');
  const directory = mkdtempSync(join(tmpdir(), 'portolan-bench-'));
  try {
    const before = parseAlone(objects);
    const portolan = await measure('sync.child.ts', objects, directory, []);
    const twoThreads = await measure('sync.child.ts', objects, directory, [], 'two', 'true');
    const after = parseAlone(objects);
    const client = values['no-client']
      ? null
      : await measure('sync.informer.ts', objects, directory, ['--max-old-space-size=12000']);
    report(portolan, twoThreads, before, after, client);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

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
  directory: string,
  execArgv: readonly string[],
  name = 'store',
  parseThread = 'false',
): Promise<Measured> {
  const kubeconfig = join(directory, `${program}.kubeconfig`);
  const server = await startPodServer(objects, kubeconfig);
  const file = join(directory, `${name}.db`);
  const child = fork(fileURLToPath(new URL(program, import.meta.url)), [kubeconfig, file, parseThread], {
    execArgv: [...execArgv],
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
  }
}

function report(
  portolan: Measured,
  twoThreads: Measured,
  before: Parsed,
  after: Parsed,
  client: Measured | null,
): void {
  const parse = (before.perSecond + after.perSecond) / 2;
  // Of processor time: says the same where the machine is idle, and still something where it is not.
  const cpuRatio = ({ cpuSeconds, objects }: Measured): number =>
    (((before.cpuSeconds + after.cpuSeconds) / 2) * objects) / cpuSeconds;
  const ratio = portolan.perSecond / parse;
  const ratioTwo = twoThreads.perSecond / parse;
  const rssMb = Math.max(portolan.rssMb, twoThreads.rssMb);
  const loopP99Ms = Math.max(portolan.loopP99Ms, twoThreads.loopP99Ms);
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
    ['first sync', `${portolan.objects} Pods at ${portolan.perSecond.toFixed(0)}/s`],
    ['JSON.parse alone', `${parse.toFixed(0)}/s`],
    ['by processor time', `${cpuRatio(portolan).toFixed(3)} of JSON.parse`],
    ['  with a parse thread', `${cpuRatio(twoThreads).toFixed(3)} in the ingest thread`],
  ];
  if (client !== null) {
    more.push(
      [
        'informer of client-node',
        `${client.perSecond.toFixed(0)}/s, ${(client.perSecond / parse).toFixed(3)} of JSON.parse`,
      ],
      ['  its peak memory', `${client.rssMb.toFixed(0)} MB`],
      ['  its event-loop delay p99', `${client.loopP99Ms.toFixed(1)} ms`],
    );
  }
  for (const [what, value] of more) process.stdout.write(`${what.padEnd(28)} ${value}\n`);
  const clientNode =
    client === null
      ? null
      : {
          ratio: round(client.perSecond / parse, 3),
          cpuRatio: round(cpuRatio(client), 3),
          rssMB: round(client.rssMb, 0),
          loopP99Ms: round(client.loopP99Ms, 2),
        };
  process.stdout.write(
    `${JSON.stringify({
      bench: 'sync',
      ratio: round(ratio, 3),
      ratioTwoThreads: round(ratioTwo, 3),
      cpuRatio: round(cpuRatio(portolan), 3),
      cpuRatioTwoThreads: round(cpuRatio(twoThreads), 3),
      rssMB: round(rssMb, 0),
      loopP99Ms: round(loopP99Ms, 2),
      objects: portolan.objects,
      perSecond: round(portolan.perSecond, 0),
      parsePerSecond: round(parse, 0),
      clientNode,
    })}\n`,
  );
  if (rows.some(([, , , kept]) => !kept)) process.exitCode = 1;
}

function round(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}
