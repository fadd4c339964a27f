import { constants, setPriority } from 'node:os';

/**
 * Lowers the priority of the thread that calls it, so that it takes no processor from the threads that write and serve. On Linux a
 * priority belongs to one thread (setpriority(2)). Elsewhere it would apply to the whole process, so nothing happens there.
 */
export function lowerPriority(): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // A sandbox may refuse it; the thread then keeps its normal priority.
  }
}
