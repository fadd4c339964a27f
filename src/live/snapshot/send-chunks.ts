/**
 * Sends a shared snapshot to one live list, chunk by chunk.
 *
 *   next chunk: kept, or read now -> may the caller still see the same rows? -> message -> the client takes it -> next chunk
 */
import type { LiveMessage } from '../cohort/cohort-batch.ts';
import type { SharedSnapshot, SharedSnapshots, SnapshotChunk, TakenSnapshot } from './shared-snapshots.ts';

export interface ChunkSender<T extends TakenSnapshot> {
  readonly snapshots: SharedSnapshots;
  readonly shared: SharedSnapshot<T>;
  /** The most objects in one message. */
  readonly most: number;
  /** Called before each chunk. It throws to end the list. */
  check(): void;
  isStopped(): boolean;
  /** May the caller see the same rows at this revision? Another list may have read the chunk. */
  seesTheSame(revision: number): Promise<boolean>;
  /** Reads the matches from `from` to `end`; null if they cannot be read any more. */
  read(from: number, end: number): Promise<SnapshotChunk | null>;
}

/** False if a chunk cannot be read any more, if the caller may see other rows, or if the list was stopped. */
export async function* sendChunks<T extends TakenSnapshot>(
  sender: ChunkSender<T>,
): AsyncGenerator<LiveMessage, boolean, undefined> {
  const { snapshots, shared, most } = sender;
  let last: SnapshotChunk | null = null;
  for (let from = 0; from < shared.taken.objects.length; ) {
    sender.check();
    const begin = from;
    const reading: Promise<SnapshotChunk | null> = snapshots.chunk(shared, begin, { last, most }, (end) =>
      sender.read(begin, end),
    );
    const chunk: SnapshotChunk | null = await reading.catch((error: unknown) => {
      if (sender.isStopped()) return null;
      throw error;
    });
    if (chunk === null || sender.isStopped()) return false;
    if (!(await sender.seesTheSame(chunk.revision)) || sender.isStopped()) return false;
    yield chunk.message;
    from = chunk.end;
    last = chunk;
  }
  return true;
}
