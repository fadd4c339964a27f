/** The bounds of callers by the options of the command line. */
import { type CallerBounds, defaultBounds } from '../../admission/caller-limits.ts';
import type { Config } from '../../config/options.ts';

type BoundsConfig = Pick<
  Config,
  'callerRequests' | 'callerCost' | 'callerSubscriptions' | 'callerConnections' | 'callerLogs'
>;

/** Bytes of lines that one subscription may hold (src/logs/stream/log-merge.ts). */
const leastLogBytes = 4 * 1024 * 1024;

/**
 * Read at each use, because a running gateway takes changed bounds from its configuration file. The memory for logs is shared by the
 * processes of a gateway, down to `leastLogBytes`; each process has the other bounds for itself.
 * @param processes the number of those that answer requests, read at each use
 */
export function boundsOf(config: BoundsConfig, processes: () => number): CallerBounds {
  return {
    get requests() {
      return config.callerRequests;
    },
    get costPerMinute() {
      return config.callerCost;
    },
    get subscriptions() {
      return config.callerSubscriptions;
    },
    get connections() {
      return config.callerConnections;
    },
    get logs() {
      return config.callerLogs;
    },
    get logBytes() {
      const { logBytes } = defaultBounds;
      return Math.max(leastLogBytes, Math.floor(logBytes / processes()));
    },
  };
}
