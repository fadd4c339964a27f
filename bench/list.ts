/**
 * Pages of a large list over HTTP: 50 Pods with 15 leaves, filtered by phase and ordered by creation, from the real server. Beside it, on
 * bare node:http and behind the same load: the same page by hand-written SQL, and from an array in memory. Every figure compares
 * inside one run, in turns.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { listQuery } from './support/list-query.ts';

export const about =
  'pages of a long list: beside bare SQL, an array, at depth, under changes (--objects N, --million N, --seconds N)';

const connections = 8;
/** Every pair of servers is loaded in so many turns; the best of each counts, since other work of the machine only takes away. */
const turns = 3;

interface Load {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Processor time of the server for one answer. */
  readonly cpuMs: number;
}

interface Served {
  readonly url: string;
  readonly child: ChildProcess;
}

export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      objects: { type: 'string', default: '100000' },
      million: { type: 'string', default: '1000000' },
      seconds: { type: 'string', default: '4' },
    },
  });
  const [objects, million, seconds] = [Number(values.objects), Number(values.million), Number(values.seconds)];
  const directory = mkdtempSync(join(tmpdir(), 'portolan-bench-'));
  const served: Served[] = [];
  const start = async (program: string, ...given: string[]): Promise<Served> => {
    const child = fork(fileURLToPath(new URL(program, import.meta.url)), given, {
      execArgv: ['--max-old-space-size=8000'],
    });
    const lost = once(child, 'exit').then(() => Promise.reject(new Error(`${program} ended before its time`)));
    lost.catch(() => {});
    const [{ url }] = (await Promise.race([once(child, 'message'), lost])) as [{ url: string }];
    served.push({ url, child });
    return { url, child };
  };
  const stop = async ({ child }: Served): Promise<void> => {
    const over = once(child, 'exit');
    child.disconnect();
    await over;
  };
  try {
    const file = join(directory, 'store.db');
    const gateway = await start('list.child.ts', file, String(objects));
    const plain = await start('list.plain.ts', 'sql', file);
    const first = body(null);
    const [ours, bare] = await inTurns([gateway, first], [plain, first], seconds);
    await stop(plain);
    const array = await start('list.plain.ts', 'array', String(objects));
    const overArray = await load(array, first, seconds);
    await stop(array);
    const deep = body(await cursorAt(gateway.url, Math.min(50_000, objects >> 1)));
    const [pageOne, atDepth] = await inTurns([gateway, first], [gateway, deep], seconds);

    const idle = await load(gateway, first, seconds, 1);
    const changed = once(gateway.child, 'message');
    gateway.child.send((seconds + 1) * 1000);
    const busy = await load(gateway, first, seconds, 1);
    const [{ changes, walMb }] = (await changed) as [{ changes: number; walMb: number }];

    let atMillion: Load | null = null;
    let beside: Load | null = null;
    if (million > 0) {
      const large = await start('list.child.ts', join(directory, 'large.db'), String(million));
      const deepest = body(await cursorAt(large.url, Math.min(50_000, million >> 1)));
      [beside, atMillion] = await inTurns([gateway, first], [large, deepest], seconds);
      await stop(large);
    }
    await stop(gateway);

    const figures = {
      ratio: ours.perSecond / bare.perSecond,
      cpuRatio: bare.cpuMs / ours.cpuMs,
      overArray: ours.perSecond / overArray.perSecond,
      depth: atDepth.p50Ms / pageOne.p50Ms,
      million: atMillion === null || beside === null ? null : atMillion.p50Ms / beside.p50Ms,
      churn: busy.p99Ms / idle.p99Ms,
      walMb,
    };
    const rows: readonly (readonly [string, number | null, string, boolean])[] = [
      ['beside bare SQL and JSON.stringify', figures.ratio, '>= 0.9', figures.ratio >= 0.9],
      ['beside an array in memory', figures.overArray, '>= 10', figures.overArray >= 10],
      ['p50 at depth, beside page one', figures.depth, '<= 1.3', figures.depth <= 1.3],
      [`p50 at depth of ${million}`, figures.million, '<= 1.3', (figures.million ?? 0) <= 1.3],
      ['p99 under 1,000 changes/s, beside idle', figures.churn, '<= 2', figures.churn <= 2],
      ['largest WAL in MB', walMb, '< 64', walMb < 64],
    ];
    for (const [what, value, bound, kept] of rows) {
      const shown = value === null ? 'not measured' : value.toFixed(2);
      process.stdout.write(`${what.padEnd(40)} ${shown.padEnd(14)} ${bound.padEnd(8)} ${kept ? 'kept' : 'MISSED'}\n`);
    }
    const loads: readonly (readonly [string, Load])[] = [
      [`page of ${objects} Pods`, ours],
      ['bare SQL and JSON.stringify', bare],
      ['an array in memory', overArray],
      ['page at depth', atDepth],
      ['page, one connection, idle', idle],
      [`page, one connection, ${Math.round(changes / (seconds + 1))} changes/s`, busy],
    ];
    for (const [what, { perSecond, p50Ms, p99Ms, cpuMs }] of loads) {
      process.stdout.write(
        `${what.padEnd(40)} ${perSecond.toFixed(0).padStart(6)}/s  p50 ${p50Ms.toFixed(2)} ms  p99 ${p99Ms.toFixed(2)} ms  ${cpuMs.toFixed(2)} ms of processor time\n`,
      );
    }
    const rounded = Object.fromEntries(
      Object.entries(figures).map(([name, value]) => [name, value === null ? null : Number(value.toFixed(2))]),
    );
    process.stdout.write(`${JSON.stringify({ bench: 'list', ...rounded, objects, millionObjects: million })}\n`);
    if (rows.some(([, , , kept]) => !kept)) process.exitCode = 1;
  } finally {
    for (const { child } of served) if (child.exitCode === null) child.kill('SIGKILL');
    rmSync(directory, { recursive: true, force: true });
  }
}

function body(after: string | null): string {
  return JSON.stringify({ query: listQuery, variables: { after } });
}

async function inTurns(
  one: readonly [Served, string],
  other: readonly [Served, string],
  seconds: number,
): Promise<readonly [Load, Load]> {
  const best = (a: Load | null, b: Load): Load => (a === null || b.perSecond > a.perSecond ? b : a);
  let [left, right]: [Load | null, Load | null] = [null, null];
  for (let turn = 0; turn < turns; turn += 1) {
    left = best(left, await load(one[0], one[1], seconds));
    right = best(right, await load(other[0], other[1], seconds));
  }
  if (left === null || right === null) throw new Error('there is at least one turn');
  return [left, right];
}

/** Asks for that many seconds over so many connections, each as soon as its last answer is there. */
async function load({ url, child }: Served, text: string, seconds: number, over = connections): Promise<Load> {
  const agent = new Agent({ keepAlive: true, maxSockets: over });
  const times: number[] = [];
  await ask(url, text, agent);
  const cpu = cpuSeconds(child);
  const began = performance.now();
  const until = began + seconds * 1000;
  const loop = async (): Promise<void> => {
    while (performance.now() < until) {
      const before = performance.now();
      await ask(url, text, agent);
      times.push(performance.now() - before);
    }
  };
  await Promise.all(Array.from({ length: over }, loop));
  const took = (performance.now() - began) / 1000;
  const cpuMs = ((cpuSeconds(child) - cpu) * 1000) / times.length;
  agent.destroy();
  times.sort((a, b) => a - b);
  const at = (share: number): number => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
  return { perSecond: times.length / took, p50Ms: at(0.5), p99Ms: at(0.99), cpuMs };
}

/** Processor time of all threads of the process. */
function cpuSeconds({ pid }: ChildProcess): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** The answer's text; fails for one that is no answer. */
function ask(url: string, text: string, agent: Agent): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
    const sent = request(url, { method: 'POST', agent, headers }, (response) => {
      const pieces: Buffer[] = [];
      response.on('data', (piece: Buffer) => pieces.push(piece));
      response.on('end', () => {
        const answer = Buffer.concat(pieces).toString();
        if (response.statusCode === 200 && !answer.includes('"errors"')) resolve(answer);
        else reject(new Error(`no answer but ${response.statusCode}: ${answer.slice(0, 300)}`));
      });
    });
    sent.on('error', reject);
    sent.end(text);
  });
}

/** The cursor of a row that far down the list. */
async function cursorAt(url: string, depth: number): Promise<string> {
  const query = listQuery.replace(/first: \d+/, 'first: 500').replace(/nodes \{.*\}\n/, '');
  const agent = new Agent({ keepAlive: true });
  let after: string | null = null;
  for (let row = 0; row < depth; row += 500) {
    const answer = JSON.parse(await ask(url, JSON.stringify({ query, variables: { after } }), agent));
    after = answer.data.pods.pageInfo.endCursor as string;
  }
  agent.destroy();
  if (after === null) throw new Error('the list is not so long');
  return after;
}
