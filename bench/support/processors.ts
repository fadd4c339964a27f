/** Gives the threads of processes to processors. */
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';

/**
 * The main threads of these processes take turns on one processor, and all their other threads have a second one. So a client on this
 * machine is like one on another: it runs only while the thread that serves it waits, and takes no processor from the threads beside it.
 * @returns gives all processors back to all threads
 * @throws on a machine with one processor, or without taskset (util-linux)
 */
export function shareProcessors(processes: readonly number[]): () => void {
  const before = processorsOf(process.pid);
  const place = (processorOf: (isMain: boolean) => string): void => {
    for (const process of processes)
      for (const thread of readdirSync(`/proc/${process}/task`))
        execFileSync('taskset', ['-cp', processorOf(thread === String(process)), thread]);
  };
  place((isMain) => (isMain ? '0' : '1'));
  return () => place(() => before);
}

/** As taskset lists them, for instance `0-3`. */
function processorsOf(process: number): string {
  const text = execFileSync('taskset', ['-cp', String(process)]).toString();
  return text.slice(text.lastIndexOf(':') + 1).trim();
}
