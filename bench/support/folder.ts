/** The folder of a benchmark and the programs that it starts. Both are gone after it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Served, startServed } from './page-load.ts';

/** Starts a program of the directory `bench`. */
export type Start = (program: string, ...given: readonly string[]) => Promise<Served>;

/** Does work in a new folder. Programs of `start` that still run afterwards are killed. */
export async function inFolder<T>(work: (directory: string, start: Start) => Promise<T>): Promise<T> {
  const directory = mkdtempSync(join(tmpdir(), 'portolan-bench-'));
  const served: Served[] = [];
  try {
    return await work(directory, async (program, ...given) => {
      const started = await startServed(new URL(`../${program}`, import.meta.url), given);
      served.push(started);
      return started;
    });
  } finally {
    for (const { child } of served) if (child.exitCode === null) child.kill('SIGKILL');
    rmSync(directory, { recursive: true, force: true });
  }
}
