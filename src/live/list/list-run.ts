/** A live list that runs: its cohort, its end, and its first read of the store. */
import type { CallerRights } from '../../access/rights.ts';
import { isSameScope, type Scope, type Scopes } from '../../access/scope.ts';
import { PortolanError } from '../../base/errors.ts';
import { requireReady } from '../../query/read/readiness.ts';
import { readView, type View } from '../../query/sql/view.ts';
import type { Lease } from '../../store/types/lease.ts';
import type { LiveMessage, Shown } from '../cohort/cohort-batch.ts';
import type { Cohort } from '../cohort/cohorts.ts';
import type { ChangeFeed, Membership } from '../feed/change-feed.ts';
import { encodeLiveCursor, type LiveCursor } from '../log/live-cursor.ts';
import type { LiveRequest, LiveStart } from './live-request.ts';

export type Messages<T> = AsyncGenerator<LiveMessage, T, undefined>;

/** A live list that runs. */
export interface Run {
  readonly feed: ChangeFeed;
  /** With the rights in the clusters of the filter. */
  readonly request: LiveRequest;
  /** The rights in all clusters. */
  readonly whole: CallerRights;
  readonly joined: JoinedCohort;
  /** A digest of the filter and the projection. */
  readonly question: string;
}

/** The cohort that a live list has joined in the feed. The id of its kind changes when the store file is rebuilt. */
export class JoinedCohort {
  readonly #feed: ChangeFeed;
  readonly #shown: Omit<Shown, 'scope'>;
  #membership: Membership | null = null;

  constructor(feed: ChangeFeed, shown: Omit<Shown, 'scope'>) {
    this.#feed = feed;
    this.#shown = shown;
  }

  join(kindId: number, scope: Scope): Cohort {
    const before = this.#membership;
    const isSame = before?.cohort.kindId === kindId && isSameScope(before.cohort.shown.scope, scope);
    if (isSame) return before.cohort;
    // First in, then out: the feed forgets a kind without subscribers.
    this.#membership = this.#feed.join(kindId, { ...this.#shown, scope });
    before?.leave();
    return this.#membership.cohort;
  }

  leave(): void {
    this.#membership?.leave();
    this.#membership = null;
  }
}

export function stopped({ feed, request }: Run): boolean {
  return request.signal.aborted || feed.closed;
}

/** @param visible the rows that the caller may see */
export function message(
  phase: LiveMessage['phase'],
  { epoch, sequence }: LiveCursor,
  visible: Scope,
  rest: Partial<Pick<LiveMessage, 'totalCount' | 'changes' | 'reset'>> = {},
): LiveMessage {
  return {
    phase,
    reset: false,
    cursor: encodeLiveCursor({ epoch, sequence }, visible),
    totalCount: null,
    changes: [],
    ...rest,
  };
}

/** Waits until the kind is synced, then reads and joins the kind in the feed. Null when the list was stopped. */
export async function whenReady<T>(
  run: Run,
  start: LiveStart,
  read: (lease: Lease, view: View, kindId: number, scopes: Scopes) => Promise<T>,
): Promise<T | null> {
  const { feed, request, joined } = run;
  const { key } = request.kind;
  while (!stopped(run)) {
    const seen = feed.wakes;
    request.check(start);
    try {
      const work = async (lease: Lease) => {
        if (request.clusters?.length !== 0) await requireReady(lease, [key], request.clusters ?? undefined);
        const scopes = await request.rights.at(lease);
        const view = await readView(lease, scopes);
        const kindId = view.get(key)?.kindId;
        if (kindId !== undefined) {
          return { kindId, visible: scopes.of(key, 'watch'), value: await read(lease, view, kindId, scopes) };
        }
        throw new PortolanError('CACHE_NOT_READY', `${key} has not been synced yet; try again in a moment.`);
      };
      const leased = (): ReturnType<typeof work> => feed.lease(work, request.signal);
      // Many snapshots at once must not take all readers.
      const reading = start.at === 'snapshot' ? feed.snapshots.read(leased, request.signal) : leased();
      const found = await orStopped(run, reading);
      if (found === null) return null;
      joined.join(found.kindId, found.visible);
      return found.value;
    } catch (error) {
      if (!(error instanceof PortolanError && error.code === 'CACHE_NOT_READY')) throw error;
    }
    await feed.changed(seen, request.signal);
  }
  return null;
}

/** What is read; null when the list was stopped meanwhile. */
export async function orStopped<T>(run: Run, reading: Promise<T>): Promise<T | null> {
  try {
    return await reading;
  } catch (error) {
    if (stopped(run)) return null;
    throw error;
  }
}
