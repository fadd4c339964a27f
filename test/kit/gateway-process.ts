/** A gateway in a process of its own, as `npm start` starts it: its address, its log and its memory. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { programs } from './programs.ts';

/** One JSON line of the log. */
export interface LogEntry {
  /** 30 info, 40 warn, 50 error, as pino numbers them. */
  readonly level: number;
  /** Milliseconds since the epoch. */
  readonly time: number;
  readonly msg: string;
  readonly [field: string]: unknown;
}

export interface GatewayProcess {
  /** The GraphQL endpoint. */
  readonly url: string;
  readonly log: readonly LogEntry[];
  readonly pid: number;
  /** Resident memory in bytes. */
  resident(): number;
  /** The text of /metrics. */
  metrics(): Promise<string>;
  signal(name: 'SIGSTOP' | 'SIGCONT'): void;
  /** Ends it by SIGTERM. Rejects unless the exit code is 0. */
  close(): Promise<void>;
  /** Ends it by SIGKILL, in the middle of what it does. */
  kill(): Promise<void>;
}

/** The variables of glibc with which deploy/node.sh starts Portolan. */
export const mallocVariables: Readonly<Record<string, string>> = Object.fromEntries(
  [
    ...readFileSync(new URL('../../deploy/node.sh', import.meta.url), 'utf8').matchAll(
      /^ *export (MALLOC_\w+)="\$\{\1:-(\d+)\}"$/gm,
    ),
  ].map(([, name = '', value = '']) => [name, value]),
);

/**
 * Resolves when the gateway listens; rejects with its log when it does not start.
 * @param environment variables besides PATH and the folders of the user
 * @param program by default the one that all tests start
 */
export function startGatewayProcess(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  program = programs.portolan,
): Promise<GatewayProcess> {
  return startProcess('serve', args, environment, program);
}

/** The same of `portolan demo`. */
export function startDemoProcess(args: readonly string[]): Promise<GatewayProcess> {
  return startProcess('demo', args, {});
}

async function startProcess(
  command: 'serve' | 'demo',
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  program = programs.portolan,
): Promise<GatewayProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'portolan-process-'));
  const child = spawn(
    process.execPath,
    ['--v8-pool-size=1', '--max-semi-space-size=16', program, command, '--port', '0', ...args],
    {
      cwd: folder,
      env: { PATH: process.env['PATH'], HOME: folder, TMPDIR: folder, ...mallocVariables, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  const log: LogEntry[] = [];
  const others: string[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => {
    if (line.startsWith('{')) log.push(JSON.parse(line) as LogEntry);
    else others.push(line);
  });
  const url = await firstLine(child).catch(() => null);
  if (url === null) throw new Error([...others, ...log.map(({ msg }) => msg)].join('\n'));
  return {
    url,
    log,
    pid: child.pid ?? 0,
    resident() {
      const [, kib] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8')) ?? [];
      return Number(kib) * 1024;
    },
    metrics: async () => (await fetch(url.replace('/graphql', '/metrics'))).text(),
    signal: (name) => void child.kill(name),
    async close() {
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      const [code] = (await exited) as [number | null];
      rmSync(folder, { recursive: true, force: true });
      if (code !== 0) throw new Error(`the gateway ended with ${code}`);
    },
    async kill() {
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function firstLine(child: ChildProcess): Promise<string | null> {
  if (child.stdout === null) return null;
  for await (const line of createInterface({ input: child.stdout })) {
    const found = /^Playground: (\S+)$/.exec(line)?.[1];
    if (found !== undefined) return found;
  }
  return null;
}

/** The values of a gauge, by its labels, from the text of /metrics. */
export function samples(metrics: string, name: string): readonly { readonly labels: string; readonly value: number }[] {
  return metrics.split('\n').flatMap((line) => {
    const [, found, labels = '', value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    return found === name ? [{ labels, value: Number(value) }] : [];
  });
}

/** The growth between the third and the fourth quarter of a series: 0.02 for two percent. */
export function lateGrowth(series: readonly number[]): number {
  const quarter = Math.max(1, Math.floor(series.length / 4));
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  return mean(series.slice(-quarter)) / mean(series.slice(-2 * quarter, -quarter)) - 1;
}
