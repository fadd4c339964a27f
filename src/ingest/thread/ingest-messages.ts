/**
 * The messages between the ingest thread and its parent.
 *
 *   thread: opened -> wake, progress, catalog, registered, ... -> (the thread ends after `close`)
 *           failed: the store cannot be opened, at the start or after damage, or --kinds has a mistake -> (the thread ends, or is closed)
 *   parent: close, damaged, promote, register, abstract
 *
 * `wake` contains the new range of the change log and the kinds in it. One message covers all commits of one turn of the event loop.
 * It contains no objects: clients get objects and revisions from the tables.
 */

import type { ErrorCode } from '../../base/errors.ts';
import type { RegisteredCluster } from '../../kube/discovery/cluster-secret.ts';
import type { CommittedChanges } from '../../store/types/change.ts';
import type { PathUse } from '../../store/types/kind-layout.ts';
import type { FileDamage } from '../../store/types/store-fault.ts';
import type { AbstractKindsDocument } from '../context/declared-abstract-kinds.ts';
import type { IngestProgress } from '../context/progress.ts';

export type IngestMessage =
  | { readonly type: 'opened' }
  | { readonly type: 'failed'; readonly code: ErrorCode; readonly error: string }
  | { readonly type: 'wake'; readonly committed: CommittedChanges }
  | { readonly type: 'progress'; readonly progress: IngestProgress }
  | { readonly type: 'catalog' }
  /** The `register` with this number was done, or a later one. */
  | { readonly type: 'registered'; readonly round: number };

export type ParentMessage =
  | { readonly type: 'close' }
  /** A reader found the file with this inode damaged. */
  | ({ readonly type: 'damaged' } & FileDamage)
  /** All clusters that came after the start and are still registered; null if they cannot be known yet. `started` names the others. */
  | {
      readonly type: 'register';
      readonly round: number;
      readonly clusters: readonly RegisteredCluster[] | null;
      readonly started: readonly string[];
    }
  /** The file with the abstract kinds has changed. */
  | { readonly type: 'abstract'; readonly document: AbstractKindsDocument }
  /** Queries use this path. It gets a column, or its column stays in use. */
  | { readonly type: 'promote'; readonly use: PathUse };
