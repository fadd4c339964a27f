/**
 * Turns V8's memory saver mode on while the process needs it. In this mode each collection gives memory back to the system. Outside of it,
 * V8 keeps optimized code and larger young generations, so pages are made faster.
 *
 *   start                off, so that threads that start find what the compile cache has: the mode is a part of the cache's key
 *   first sync           on
 *   synced               off at the usual size; on above it by 32 MiB, until it is above it by less than 16 MiB
 *   end                  off, so that the compile cache is written with its own key
 *
 * The usual size is the smallest seen since the first sync. It follows a process that stays larger by 1 MiB a second.
 */
import { setFlagsFromString } from 'node:v8';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';

const mebibyte = 2 ** 20;
/** How much larger than usual the process may be. */
const slackBytes = 32 * mebibyte;
/** How much the usual size may grow from one look to the next. */
const growthBytes = mebibyte;
const lookMs = 1000;

/** Decides from the sizes of the process, one a second. */
export class MemorySaver {
  #usual = Number.POSITIVE_INFINITY;
  #isOn = false;

  /** Should the mode be on? @param bytes the memory that the process occupies now */
  look(bytes: number): boolean {
    this.#usual = Math.min(bytes, this.#usual + growthBytes);
    this.#isOn = bytes > this.#usual + (this.#isOn ? slackBytes / 2 : slackBytes);
    return this.#isOn;
  }
}

/** Looks each second until the signal. Never rejects. @param synced the first sync */
export async function saveMemory(
  clock: Pick<Clock, 'sleep'>,
  signal: AbortSignal,
  log: Logger,
  synced: Promise<void>,
): Promise<void> {
  const saver = new MemorySaver();
  let isSynced = false;
  let isOn = false;
  const turn = (wanted: boolean, bytes: number): void => {
    if (wanted === isOn) return;
    isOn = wanted;
    // V8 reads this flag at each collection, in all threads.
    setFlagsFromString(isOn ? '--memory-saver-mode' : '--no-memory-saver-mode');
    log.debug({ isOn, megabytes: Math.round(bytes / mebibyte) }, 'the memory saver of V8');
  };
  synced.then(
    () => {
      isSynced = true;
    },
    () => {},
  );
  for (;;) {
    await clock.sleep(lookMs, signal).catch(() => {});
    const bytes = process.memoryUsage.rss();
    if (signal.aborted) return turn(false, bytes);
    turn(!isSynced || saver.look(bytes), bytes);
  }
}
