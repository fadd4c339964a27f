/**
 * Turns V8's memory saver mode off while the process has its usual size.
 *
 *   start, first sync   on: from the command line
 *   synced              off: V8 keeps optimized code and young generations, so pages are made faster
 *   96 MiB above usual  on: each collection gives memory back to the system
 *   below it again      off
 *
 * The usual size is the smallest seen since the first sync. It follows a process that stays larger by 1 MiB a second.
 */
import { setFlagsFromString } from 'node:v8';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';

const mebibyte = 2 ** 20;
/** How much larger than usual the process may be. */
const slackBytes = 96 * mebibyte;
/** How much the usual size may grow from one look to the next. */
const growthBytes = mebibyte;
const lookMs = 1000;

/** Decides from the sizes of the process, one a second. */
export class MemorySaver {
  #usual = Number.POSITIVE_INFINITY;

  /** Should the mode be on? @param bytes the memory that the process occupies now */
  look(bytes: number): boolean {
    this.#usual = Math.min(bytes, this.#usual + growthBytes);
    return bytes > this.#usual + slackBytes;
  }
}

/** Looks each second until the signal. Never rejects. */
export async function saveMemory(clock: Pick<Clock, 'sleep'>, signal: AbortSignal, log: Logger): Promise<void> {
  const saver = new MemorySaver();
  let isOn: boolean | null = null;
  while (!signal.aborted) {
    const bytes = process.memoryUsage.rss();
    const wanted = saver.look(bytes);
    if (wanted !== isOn) {
      // V8 reads this flag at each collection, in all threads.
      setFlagsFromString(wanted ? '--memory-saver-mode' : '--no-memory-saver-mode');
      log.debug({ isOn: wanted, megabytes: Math.round(bytes / mebibyte) }, 'the memory saver of V8');
    }
    isOn = wanted;
    await clock.sleep(lookMs, signal).catch(() => {});
  }
}
