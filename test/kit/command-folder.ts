/** Commands as child processes in a folder that each test of a file gets anew. No process and no folder outlives its test. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach } from 'vitest';
import { programs } from './programs.ts';
import { sharedDirectory } from './temporary-directory.ts';

export interface CommandFolder {
  /** Working directory, home and temporary folder of every process of the running test. */
  folder(): string;
  /** Starts a command. */
  portolan(args: readonly string[], environment?: Readonly<Record<string, string>>): ChildProcess;
  /** Runs a command to its end. */
  run(args: readonly string[], environment?: Readonly<Record<string, string>>): Promise<Ended>;
  /** Writes a kubeconfig that leads to `server`, and returns its path. */
  kubeconfig(server: string): string;
}

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Called once, at the top of a test file. */
export function commandFolder(): CommandFolder {
  let folder: string;
  let started: ChildProcess[];

  beforeEach(() => {
    folder = sharedDirectory('cli');
    started = [];
  });

  afterEach(async () => {
    for (const child of started) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    rmSync(folder, { recursive: true, force: true });
  });

  function portolan(args: readonly string[], environment: Readonly<Record<string, string>> = {}): ChildProcess {
    const child = spawn(process.execPath, [programs.portolan, ...args], {
      cwd: folder,
      env: { PATH: process.env['PATH'], HOME: folder, TMPDIR: folder, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    started.push(child);
    return child;
  }

  return {
    folder: () => folder,
    portolan,
    run: (args, environment) => ending(portolan(args, environment)),
    kubeconfig(server) {
      const path = join(folder, 'kubeconfig.yaml');
      writeFileSync(
        path,
        JSON.stringify({
          apiVersion: 'v1',
          kind: 'Config',
          clusters: [{ name: 'c', cluster: { server } }],
          users: [{ name: 'u', user: { token: 'not-a-real-token' } }],
          contexts: [{ name: 'somewhere', context: { cluster: 'c', user: 'u' } }],
          'current-context': 'somewhere',
        }),
      );
      return path;
    },
  };
}

/** Waits until a command ends, and gives its exit code and its output. */
export async function ending(child: ChildProcess): Promise<Ended> {
  const { stdout, stderr } = child;
  if (stdout === null || stderr === null) throw new Error('the output is not piped');
  const [[code], out, err] = await Promise.all([once(child, 'exit'), text(stdout), text(stderr)]);
  return { code: code as number | null, out, err };
}

/** The first line of standard output; rejects with what was complained about when there is none. */
export async function firstLine(child: ChildProcess): Promise<string> {
  const { stdout, stderr } = child;
  if (stdout === null || stderr === null) throw new Error('the output is not piped');
  const complaint = text(stderr);
  for await (const line of createInterface({ input: stdout })) return line;
  throw new Error(await complaint);
}
