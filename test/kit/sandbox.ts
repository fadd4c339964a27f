/** Runs a program in bubblewrap on a root file system of its own, as an ordinary user of it. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { must } from '../../src/base/must.ts';

/** The user of every sandbox: that of the image, too. */
export const sandboxUser = { uid: 65_532, gid: 65_532 } as const;

/** Why no sandbox can be made here; null when one can. */
export function missingSandbox(): string | null {
  if (process.platform !== 'linux') return 'bubblewrap runs on Linux only';
  if (process.getuid?.() !== 0) return 'file systems of other users are made by root only';
  const probe = spawnSync('bwrap', ['--ro-bind', '/', '/', '--unshare-all', 'true'], {
    ...sandboxUser,
    encoding: 'utf8',
  });
  if (probe.error !== undefined) return 'bwrap (Debian: bubblewrap) is not installed';
  return probe.status === 0 ? null : `users may not make namespaces: ${probe.stderr.trim()}`;
}

export interface Sandbox {
  readonly rootfs: string;
  readonly command: readonly string[];
  /** The working directory. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  /** Files and folders of this machine, by their place in the sandbox. */
  readonly readable?: Readonly<Record<string, string>>;
  readonly writable?: Readonly<Record<string, string>>;
  /** The command has the process id 1, as in a container. Otherwise bubblewrap has it. */
  readonly first?: boolean;
}

export interface Sandboxed {
  /** The lines of standard output and of standard error. */
  readonly out: readonly string[];
  readonly err: readonly string[];
  /** Resolves with the first line of standard output that matches; rejects with standard error when the process ends before. */
  line(pattern: RegExp): Promise<RegExpExecArray>;
  /** Sends the signal to all processes of the command, as a terminal does. */
  kill(signal: NodeJS.Signals): void;
  /** The exit code. */
  readonly ended: Promise<number | null>;
}

/** The sandbox has namespaces of its own, except that of the network: tests reach it by loopback. /tmp and /run are in memory. */
export async function runSandboxed(sandbox: Sandbox): Promise<Sandboxed> {
  const { rootfs, command, folder, env, readable = {}, writable = {}, first = false } = sandbox;
  const flags = [
    ...['--ro-bind', rootfs, '/', '--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp', '--tmpfs', '/run'],
    ...Object.entries(readable).flatMap(([place, source]) => ['--ro-bind', source, place]),
    ...Object.entries(writable).flatMap(([place, source]) => ['--bind', source, place]),
    ...['--unshare-all', '--share-net', '--die-with-parent', '--new-session', '--cap-drop', 'ALL'],
    ...(first ? ['--as-pid-1'] : []),
    ...['--clearenv', ...Object.entries(env).flatMap(([name, value]) => ['--setenv', name, value])],
    ...['--chdir', folder, '--info-fd', '3', '--', ...command],
  ];
  const child = spawn('bwrap', flags, { ...sandboxUser, cwd: '/', stdio: ['ignore', 'pipe', 'pipe', 'pipe'] });
  const ended = once(child, 'close').then(([code]) => code as number | null);
  const out: string[] = [];
  const err: string[] = [];
  const lines = createInterface({ input: must(child.stdout, 'standard output') }).on('line', (line) => out.push(line));
  createInterface({ input: must(child.stderr, 'standard error') }).on('line', (line) => err.push(line));
  let info = '';
  for await (const part of child.stdio[3] as Readable) info += String(part);
  // It leads a session of its own, so its process group has the same number.
  const pid = Number(/"child-pid": (\d+)/.exec(info)?.[1]);
  return {
    out,
    err,
    ended,
    async line(pattern) {
      for (;;) {
        const found = out.map((line) => pattern.exec(line)).find((match) => match !== null);
        if (found != null) return found;
        const code = await Promise.race([once(lines, 'line').then(() => null), ended.then(String)]);
        if (code !== null) throw new Error(`the process ended with ${code}:\n${err.join('\n')}`);
      }
    },
    kill: (signal) => process.kill(-pid, signal),
  };
}
