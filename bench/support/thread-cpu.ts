/** The processor time of a thread or a process; Linux counts it in hundredths of a second. */
import { readdirSync, readFileSync } from 'node:fs';

const ticksPerSecond = 100;

/** Seconds of processor time, the kernel's for it included, of all threads with this name. */
export function threadCpuSeconds(name: string): number {
  const stats = readdirSync('/proc/self/task').map((task) => readFileSync(`/proc/self/task/${task}/stat`, 'utf8'));
  const named = stats.filter((stat) => stat.includes(`(${name})`));
  if (named.length === 0) throw new Error(`there is no thread called ${name} to be seen: run this on Linux`);
  return named.reduce((sum, stat) => sum + cpuSecondsIn(stat), 0);
}

/**
 * Bytes that a thread has written to files and sockets. SQLite's checkpointer has a thread of its own, so these are about the bytes of the
 * write-ahead log.
 * @param of the name of a thread, or its number
 */
export function threadWrittenBytes(of: string): number {
  const tasks = readdirSync('/proc/self/task').filter(
    (task) => task === of || readFileSync(`/proc/self/task/${task}/stat`, 'utf8').includes(`(${of})`),
  );
  return tasks.reduce((sum, task) => {
    const written = /^wchar: (\d+)$/m.exec(readFileSync(`/proc/self/task/${task}/io`, 'utf8'));
    return sum + Number(written?.[1] ?? Number.NaN);
  }, 0);
}

/** Seconds of processor time, the kernel's included, in the text of a `stat` file of /proc. */
export function cpuSecondsIn(stat: string): number {
  // The name may hold anything, so fields count from its bracket: utime and stime are the 12th and 13th behind it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}
