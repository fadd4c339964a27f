/** The parts that live lists of one kind and of several kinds share: their end, the wait for their kinds, and their snapshots. */
import { PortolanError } from '../../base/errors.ts';
import type { Lease } from '../../store/types/lease.ts';
import type { LiveMessage } from '../cohort/cohort-batch.ts';
import { type ChunkSender, sendChunks } from '../snapshot/send-chunks.ts';
import type { SharedSnapshot, TakenSnapshot } from '../snapshot/shared-snapshots.ts';
import type { ChangeFeed } from './change-feed.ts';

/** Yields the messages of a live list, and returns T. */
export type Messages<T> = AsyncGenerator<LiveMessage, T, undefined>;

interface RunningList {
  readonly feed: ChangeFeed;
  readonly request: { readonly signal: AbortSignal };
}

export function stopped({ feed, request }: RunningList): boolean {
  return request.signal.aborted || feed.closed;
}

/** The result of the read; null when the list was stopped meanwhile. An error of the read is ignored then. */
export async function orStopped<T>(run: RunningList, reading: Promise<T>): Promise<T | null> {
  try {
    return await reading;
  } catch (error) {
    if (stopped(run)) return null;
    throw error;
  }
}

interface ReadyRead<T> {
  /** Called before each attempt. It throws to end the list. */
  check(): void;
  /** Is a snapshot read? Few of them are read at a time, so that they do not take all readers. */
  readonly ofSnapshot: boolean;
  /** @throws PortolanError CACHE_NOT_READY while a kind is not synced */
  read(lease: Lease): Promise<T>;
}

/** Reads once the kinds of the list are synced. Null when the list was stopped. */
export async function whenReady<T>(run: RunningList, { check, ofSnapshot, read }: ReadyRead<T>): Promise<T | null> {
  const { feed, request } = run;
  while (!stopped(run)) {
    const seen = feed.wakes;
    check();
    try {
      const leased = (): Promise<T> => feed.lease(read, request.signal);
      return await orStopped(run, ofSnapshot ? feed.snapshots.read(leased, request.signal) : leased());
    } catch (error) {
      if (!(error instanceof PortolanError && error.code === 'CACHE_NOT_READY')) throw error;
    }
    await feed.changed(seen, request.signal);
  }
  return null;
}

/** The error while the store has no tables of a kind. */
export function notYetSynced(key: string): PortolanError {
  return new PortolanError('CACHE_NOT_READY', `${key} has not been synced yet; try again in a moment.`);
}

/** Of one list that sends a shared snapshot. */
export type SnapshotSender<T extends TakenSnapshot> = Omit<ChunkSender<T>, 'snapshots' | 'shared' | 'isStopped'>;

/**
 * Sends the SNAPSHOT messages; the caller sends SYNCED. If a snapshot cannot be sent to its end, another one is sent. The log may no longer
 * reach back to it, or the caller may see other rows.
 * @param join joins or takes a snapshot; null when the list was stopped
 * @param senderOf tells how the chunks of the joined snapshot are sent
 * @returns the result of `join` for the snapshot that was sent; null when the list was stopped
 */
export async function* sendSnapshot<T extends TakenSnapshot, J extends { readonly shared: SharedSnapshot<T> }>(
  run: RunningList,
  join: () => Promise<J | null>,
  senderOf: (joined: J) => SnapshotSender<T>,
): Messages<J | null> {
  const { snapshots } = run.feed;
  for (;;) {
    const joined = await join();
    if (joined === null) return null;
    const { shared } = joined;
    snapshots.enter(shared);
    try {
      const isWhole = yield* sendChunks({ ...senderOf(joined), snapshots, shared, isStopped: () => stopped(run) });
      if (stopped(run)) return null;
      if (isWhole) return joined;
      snapshots.close(shared);
    } finally {
      snapshots.leave(shared);
    }
  }
}
