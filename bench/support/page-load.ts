/** Servers in processes of their own, and requests for pages from them. Measured are their rate, their time and their cost. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { cpuSecondsIn } from './thread-cpu.ts';

export interface Load {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Processor time of the server for one answer. */
  readonly cpuMs: number;
  /** Of the body of an answer, as it was sent. */
  readonly bytes: number;
}

export interface Served {
  readonly url: string;
  readonly child: ChildProcess;
  /** Resolves when the process is gone. */
  stop(): Promise<void>;
}

/** Starts a program of this directory that sends `{ url }` when it listens, and ends when it is disconnected. */
export async function startServed(program: URL, given: readonly string[]): Promise<Served> {
  const child = fork(program, given, { execArgv: [...process.execArgv, '--max-old-space-size=8000'] });
  const lost = once(child, 'exit').then(() => Promise.reject(new Error(`${program.pathname} ended before its time`)));
  lost.catch(() => {});
  const [{ url }] = (await Promise.race([once(child, 'message'), lost])) as [{ url: string }];
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null) return;
    const over = once(child, 'exit');
    child.disconnect();
    await over;
  };
  return { url, child, stop };
}

/**
 * Asks for that many seconds over so many connections, each as soon as its last answer is there; each connection asks at least once.
 * Answers are not decoded. @param headers sent besides
 */
export async function load(
  { url, child }: Served,
  text: string,
  seconds: number,
  connections: number,
  headers: Readonly<Record<string, string>> = {},
): Promise<Load> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const times: number[] = [];
  const { length } = await answerTo(url, text, agent, headers);
  const cpu = cpuSeconds(child);
  const began = performance.now();
  const until = began + seconds * 1000;
  const loop = async (): Promise<void> => {
    do {
      const before = performance.now();
      await answerTo(url, text, agent, headers);
      times.push(performance.now() - before);
    } while (performance.now() < until);
  };
  await Promise.all(Array.from({ length: connections }, loop));
  const took = (performance.now() - began) / 1000;
  const cpuMs = ((cpuSeconds(child) - cpu) * 1000) / times.length;
  agent.destroy();
  times.sort((a, b) => a - b);
  const at = (share: number): number => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
  return { perSecond: times.length / took, p50Ms: at(0.5), p99Ms: at(0.99), cpuMs, bytes: length };
}

/** The answer's text; fails for one that is no answer. */
export async function ask(url: string, text: string, agent?: Agent): Promise<string> {
  return (await answerTo(url, text, agent, {})).toString();
}

function answerTo(
  url: string,
  text: string,
  agent: Agent | undefined,
  more: Readonly<Record<string, string>>,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
      'accept-encoding': '',
      ...more,
    };
    const sent = request(url, { method: 'POST', agent: agent ?? false, headers }, (response) => {
      const pieces: Buffer[] = [];
      response.on('data', (piece: Buffer) => pieces.push(piece));
      response.on('end', () => {
        const answer = Buffer.concat(pieces);
        if (response.statusCode === 200 && !answer.includes('"errors"')) resolve(answer);
        else reject(new Error(`no answer but ${response.statusCode}: ${answer.toString().slice(0, 1000)}`));
      });
    });
    sent.on('error', reject);
    sent.end(text);
  });
}

/** Of each figure the middle one of several loads. */
export function medianLoad(loads: readonly Load[]): Load {
  const of = (figure: keyof Load): number => median(loads.map((each) => each[figure]));
  return { perSecond: of('perSecond'), p50Ms: of('p50Ms'), p99Ms: of('p99Ms'), cpuMs: of('cpuMs'), bytes: of('bytes') };
}

export function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}

/** Processor time of all threads of the process. */
export function cpuSeconds({ pid }: ChildProcess): number {
  return cpuSecondsIn(readFileSync(`/proc/${pid}/stat`, 'utf8'));
}
