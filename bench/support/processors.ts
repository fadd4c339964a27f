/** Gives processors to the threads of processes. */
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';

/**
 * The main threads of these processes share one processor, and all their other threads have a second one. So a client on this machine takes
 * no processor from the threads of its server, as if it were on another machine. It runs only while the thread that serves it waits.
 * @param processes their ids
 * @returns gives all processors back to all threads
 * @throws with one processor, or without taskset (util-linux)
 */
export function shareProcessors(processes: readonly number[]): () => void {
  const allowed = taskset(String(process.pid)).replace(/^.*: /s, '').trim();
  const [first, second] = processorsIn(allowed);
  if (second === undefined) throw new Error(`this needs two processors, and may use ${allowed}`);
  const place = (processorOf: (isMain: boolean) => string): void => {
    for (const id of processes)
      for (const thread of readdirSync(`/proc/${id}/task`)) taskset(processorOf(thread === String(id)), thread);
  };
  place((isMain) => String(isMain ? first : second));
  return () => place(() => allowed);
}

/** @param list as taskset prints it, for instance `0-2,7` */
function processorsIn(list: string): readonly number[] {
  return list.split(',').flatMap((range) => {
    const [from = Number.NaN, to = from] = range.split('-').map(Number);
    return Array.from({ length: to - from + 1 }, (_, index) => from + index);
  });
}

/** Sets or prints the processors of a thread. A thread that has ended meanwhile is no error. */
function taskset(...args: readonly string[]): string {
  const { error, stdout, stderr } = spawnSync('taskset', ['-cp', ...args], { encoding: 'utf8' });
  if (error !== undefined) throw new Error(`this needs taskset (util-linux): ${error.message}`);
  if (stderr !== '' && !stderr.includes('No such process')) throw new Error(stderr.trim());
  return stdout;
}
