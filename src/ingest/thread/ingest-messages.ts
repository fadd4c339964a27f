/**
 * What the ingest thread and its parent say to each other.
 *
 *   thread: opened | failed -> wake, progress, catalog, ... -> (the thread ends)
 *   parent: close, damaged, promote
 *
 * `wake` says which part of the change log is new and which kinds it is about. It is sent once for all commits of a turn of the
 * event loop. Objects and revisions that clients get are read from the tables, never from this message.
 */
import type { ErrorCode } from '../../base/errors.ts';
import type { CommittedChanges } from '../../store/types/change.ts';
import type { PathUse } from '../../store/types/kind-layout.ts';
import type { FileDamage } from '../../store/types/store-fault.ts';
import type { IngestProgress } from '../context/progress.ts';

export type IngestMessage =
  | { readonly type: 'opened' }
  | { readonly type: 'failed'; readonly code: ErrorCode; readonly error: string }
  | { readonly type: 'wake'; readonly committed: CommittedChanges }
  | { readonly type: 'progress'; readonly progress: IngestProgress }
  | { readonly type: 'catalog' };

export type ParentMessage =
  | { readonly type: 'close' }
  /** A reader found the file with this inode damaged. */
  | ({ readonly type: 'damaged' } & FileDamage)
  /** Queries need a column for this path, or use the one that it has. */
  | { readonly type: 'promote'; readonly use: PathUse };
