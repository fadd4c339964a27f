/** A live list that runs: its cohort, its end, and its first read of the store. */
import type { CallerRights } from '../../access/rights.ts';
import { isSameScope, type Scope, type Scopes } from '../../access/scope.ts';
import { requireReady } from '../../query/read/readiness.ts';
import { readView, type View } from '../../query/sql/view.ts';
import type { Lease } from '../../store/types/lease.ts';
import type { CohortRows, LiveMessage } from '../cohort/cohort-batch.ts';
import type { Cohort } from '../cohort/cohorts.ts';
import type { ChangeFeed, Membership } from '../feed/change-feed.ts';
import { notYetSynced, whenReady } from '../feed/running-list.ts';
import { encodeLiveCursor, type LiveCursor } from '../log/live-cursor.ts';
import type { CellStart, LiveRequest } from './live-request.ts';

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
  readonly #rows: Omit<CohortRows, 'scope'>;
  #membership: Membership | null = null;

  constructor(feed: ChangeFeed, rows: Omit<CohortRows, 'scope'>) {
    this.#feed = feed;
    this.#rows = rows;
  }

  join(kindId: number, scope: Scope): Cohort {
    const before = this.#membership;
    const isSame = before?.cohort.kindId === kindId && isSameScope(before.cohort.rows.scope, scope);
    if (isSame) return before.cohort;
    // First in, then out: the feed forgets a kind without subscribers.
    this.#membership = this.#feed.join(kindId, { ...this.#rows, scope });
    before?.leave();
    return this.#membership.cohort;
  }

  leave(): void {
    this.#membership?.leave();
    this.#membership = null;
  }
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

/** @throws PortolanError CACHE_NOT_READY or RESOURCE_REFUSED if a list of the kind cannot begin */
export async function requireListed(
  lease: Lease,
  { kind: { key }, clusters }: Pick<LiveRequest, 'kind' | 'clusters'>,
): Promise<void> {
  if (clusters?.length !== 0) await requireReady([lease], [key], clusters ?? undefined);
}

/** Waits until the kind is synced, then reads and joins the kind in the feed. Null when the list was stopped. */
export async function readKind<T>(
  run: Run,
  start: CellStart,
  read: (lease: Lease, view: View, kindId: number, scopes: Scopes) => Promise<T>,
): Promise<T | null> {
  const { request, joined } = run;
  const { key } = request.kind;
  const found = await whenReady(run, {
    check: () => request.check(start),
    ofSnapshot: start.at === 'snapshot',
    async read(lease) {
      await requireListed(lease, request);
      const scopes = await request.rights.at(lease);
      const view = await readView(lease, scopes);
      const kindId = view.get(key)?.kindId;
      if (kindId === undefined) throw notYetSynced(key);
      return { kindId, visible: scopes.of(key, 'watch'), value: await read(lease, view, kindId, scopes) };
    },
  });
  if (found === null) return null;
  joined.join(found.kindId, found.visible);
  return found.value;
}
