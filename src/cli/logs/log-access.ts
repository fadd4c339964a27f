/** Counts the logs that are read, and their bytes in memory: for each caller, and for all. */
import type { CallerLimits } from '../../admission/caller-limits.ts';
import { PortolanError } from '../../base/errors.ts';
import type { LogAccess } from '../../operation/operation-source.ts';

/** Callers who may have as many logs as one caller may, at a time. */
const fullCallers = 10;

/** @param perCaller the most that one caller may read */
export function logAccess(limits: CallerLimits, perCaller: () => number): LogAccess {
  let all = 0;
  return {
    enter(caller) {
      const most = perCaller() * fullCallers;
      if (all >= most) {
        throw new PortolanError(
          'TOO_MANY_REQUESTS',
          `All callers together read ${all} logs, the most that this gateway reads; try again later.`,
          {
            details: { limit: most },
          },
        );
      }
      const leave = limits.enter(caller, 'logs');
      all += 1;
      let left = false;
      return () => {
        if (!left) all -= 1;
        left = true;
        leave();
      };
    },
    charge: (caller, values) => limits.charge(caller, values),
    hold: (caller) => limits.holdLogs(caller),
  };
}
