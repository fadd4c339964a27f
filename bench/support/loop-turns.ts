/**
 * How long the event loop's turns last, and what processor time they take in this thread. A turn that is long blocks all others. Time
 * that the system gives to other processes counts as elapsed, and not as processor time.
 */
export interface LongestTurn {
  readonly elapsedMs: number;
  readonly cpuMs: number;
}

/** Watches every turn from now on, until the returned function is called; gives the greatest of each. */
export function watchTurns(): () => LongestTurn {
  let [elapsedMs, cpuMs, over] = [0, 0, false];
  let [at, cpu] = [performance.now(), threadCpuMs()];
  const turn = (): void => {
    const [now, spent] = [performance.now(), threadCpuMs()];
    elapsedMs = Math.max(elapsedMs, now - at);
    cpuMs = Math.max(cpuMs, spent - cpu);
    [at, cpu] = [now, spent];
    if (!over) setImmediate(turn);
  };
  setImmediate(turn);
  return () => {
    turn();
    over = true;
    return { elapsedMs, cpuMs };
  };
}

/** Milliseconds of processor time that this thread has taken. */
export function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
