/**
 * For how long the event loop is blocked, and what processor time this thread takes meanwhile. Time that the system gives to other
 * processes counts as elapsed, and not as processor time.
 *
 * A timer of a millisecond looks at the clock. It does not keep the processor busy, since a thread that does waits longer for its next
 * turn on a busy machine.
 */
export interface LongestTurn {
  /** Milliseconds between two looks, without the millisecond of the timer. */
  readonly elapsedMs: number;
  readonly cpuMs: number;
}

const timerMs = 1;

/** Looks from now on, until the returned function is called; it gives the greatest of each. */
export function watchTurns(): () => LongestTurn {
  let [elapsedMs, cpuMs] = [0, 0];
  let [at, cpu] = [performance.now(), threadCpuMs()];
  const look = (): void => {
    const [now, spent] = [performance.now(), threadCpuMs()];
    elapsedMs = Math.max(elapsedMs, now - at - timerMs);
    cpuMs = Math.max(cpuMs, spent - cpu);
    [at, cpu] = [now, spent];
  };
  const timer = setInterval(look, timerMs);
  return () => {
    look();
    clearInterval(timer);
    return { elapsedMs, cpuMs };
  };
}

/** Milliseconds of processor time that this thread has taken. */
export function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
