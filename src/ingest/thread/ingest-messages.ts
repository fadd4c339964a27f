/**
 * What the ingest thread and its parent say to each other.
 *
 *   thread: opened | failed -> wake, progress, catalog, ... -> (the thread ends)
 *   parent: close, damaged, promote
 *
 * `wake` says only that there is something new: it is sent once for all commits of a turn of the event loop, and its revision is
 * never to be reported to anybody; whoever hears it reads the tables.
 */
import type { ErrorCode } from '../../base/errors.ts';
import type { PathUse } from '../../store/types/kind-layout.ts';
import type { FileDamage } from '../../store/types/store-fault.ts';
import type { IngestProgress } from '../context/progress.ts';

export type IngestMessage =
  | { readonly type: 'opened' }
  | { readonly type: 'failed'; readonly code: ErrorCode; readonly error: string }
  | { readonly type: 'wake'; readonly revision: number }
  | { readonly type: 'progress'; readonly progress: IngestProgress }
  | { readonly type: 'catalog' };

export type ParentMessage =
  | { readonly type: 'close' }
  /** A reader found the file with this inode damaged. */
  | ({ readonly type: 'damaged' } & FileDamage)
  /** Queries need a column for this path, or use the one that it has. */
  | { readonly type: 'promote'; readonly use: PathUse };
