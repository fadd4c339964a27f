/** The options of a writer, each with its default. */
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import type { startCheckpointer } from '../file/checkpointer.ts';
import type { SealMemory } from '../file/file-seal.ts';
import type { OpenStoreOptions } from '../file/open-store.ts';
import type { LogBounds } from '../rows/change-log.ts';
import type { WriteBounds } from '../rows/write-budget.ts';

export interface WriterOptions
  extends Pick<OpenStoreOptions, 'lockWaitMs' | 'cacheKib' | 'boot' | 'lost' | 'ownProcessOnly'> {
  readonly log?: Logger;
  readonly clock?: Clock;
  readonly newEpoch?: () => string;
  /** Bounds of one transaction; default 10 ms and 2 MiB. */
  readonly bounds?: WriteBounds;
  /** Bounds of the change log; default 256 MiB and one hour, and 16 MiB while the store is tight. */
  readonly changeLog?: Partial<LogBounds>;
  /** Most differences of a replace that are committed in one transaction with a change for each; default 2,000. */
  readonly maxDifferences?: number;
  /** Checkpoints run in a thread (default), or in the writer (`inline`), where commits wait for them. */
  readonly checkpoints?: 'thread' | 'inline';
  /** Starts the checkpoint thread. Tests replace it with a stalled one. */
  readonly startCheckpointer?: typeof startCheckpointer;
  /** Shared with the readers of the file, so that they know when they may not read it. */
  readonly seal?: SealMemory;
  /** Size of the WAL above which it is restarted; default 32 MiB. Use the same size for the readers' gate. */
  readonly walGateBytes?: number;
  /** Most bytes of all files of the store together; no limit by default. */
  readonly maxDiskBytes?: number | null;
  /** The store follows the log of another one (Writer.followed): entries and deletions come from there alone. */
  readonly follows?: boolean;
  /** Paths that are searched in addition to names, labels and images. */
  readonly searchPaths?: readonly string[];
  /** Paths that the configuration promotes, as `resource=path`. */
  readonly promote?: readonly string[];
}
