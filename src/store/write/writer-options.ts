/** The options of a writer, each with its default. */
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import type { startCheckpointer } from '../file/checkpointer.ts';
import type { OpenStoreOptions } from '../file/open-store.ts';
import type { LogBounds } from '../rows/change-log.ts';
import type { WriteBounds } from '../rows/write-budget.ts';

export interface WriterOptions extends Pick<OpenStoreOptions, 'lockWaitMs' | 'slowMs' | 'boot'> {
  readonly log?: Logger;
  readonly clock?: Clock;
  readonly newEpoch?: () => string;
  /** Bounds of one transaction; default 10 ms and 2 MiB. */
  readonly bounds?: WriteBounds;
  /** Bounds of the change log; default 256 MiB and an hour, of which 16 MiB stay when room is short. */
  readonly changeLog?: Partial<LogBounds>;
  /** Differences of a replace that are committed as one transaction with a change each; default 2,000. */
  readonly maxDifferences?: number;
  /** Milliseconds until a bookmark is persisted without a commit; default 30,000. */
  readonly bookmarkMs?: number;
  /** Checkpoints by a thread of their own (default), or by the writer itself: simpler, and commits wait for them. */
  readonly checkpoints?: 'thread' | 'inline';
  /** How the checkpoint thread is started: tests stall it. */
  readonly startCheckpointer?: typeof startCheckpointer;
  /** Size of the WAL above which all of it is written back, so that it begins anew; default 32 MiB. Readers hold back at the same size. */
  readonly walGateBytes?: number;
  /** Bytes that all files of the store together may take; default no bound of its own. */
  readonly maxDiskBytes?: number | null;
  /** Paths that search looks at beside names, labels and images. */
  readonly searchPaths?: readonly string[];
  /** `resource=path`: what the configuration promotes. */
  readonly promote?: readonly string[];
}
