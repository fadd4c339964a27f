/**
 * A change feed over a store with two kinds, for its tests. It counts what the feed reads, makes reads fail, and joins subscribers.
 */
import { expect, onTestFinished } from 'vitest';
import { allRows } from '../../src/access/scope.ts';
import { silentLogger } from '../../src/base/log.ts';
import { must } from '../../src/base/must.ts';
import type { CohortBatch } from '../../src/live/cohort/cohort-batch.ts';
import type { Cohort } from '../../src/live/cohort/cohorts.ts';
import { ChangeFeed, type FeedOptions, type Membership } from '../../src/live/feed/change-feed.ts';
import type { FeedPosition, FeedReads } from '../../src/live/feed/log-reads.ts';
import { everything } from '../../src/query/plan/filter.ts';
import { changesOfKind } from '../../src/store/read/changes.ts';
import { readLayouts } from '../../src/store/read/layout.ts';
import { type CommittedChanges, joinCommits } from '../../src/store/types/change.ts';
import type { Lease, Reader } from '../../src/store/types/lease.ts';
import type { WriterOptions } from '../../src/store/write/writer-options.ts';
import { describedCrd, engineFixture, made } from './engine-fixture.ts';
import { eventually } from './eventually.ts';

const properties = { spec: { type: 'object', properties: { size: { type: 'integer' } } } };
export const things = 'things.example.com';
export const others = 'others.example.com';

/** A wake of the feed: with a commit signal that names the changed kinds, or without. */
export type Wakes = 'commit signals' | 'bare wakes';

export interface Setup {
  readonly feed: ChangeFeed;
  /** Leases that the feed has taken. */
  leases(): number;
  /** Changes and bodies that these leases read from the log, counted by the test. */
  readLog(): Omit<FeedReads, 'leases' | 'now'>;
  /** Leases of the feed that are not over. */
  running(): number;
  /** Makes every lease fail with this until it is null. */
  failWith(error: Error | null): void;
  /** From now on, leases and commits have this epoch of the store file. */
  beginEpoch(epoch: string): void;
  readonly thing: number;
  readonly other: number;
  readonly signal: AbortSignal;
  abort(): void;
  revision(): Promise<FeedPosition>;
  /** Wakes the feed for all commits since the last call. */
  wake(): void;
  write(key: string, name: string): void;
  readonly fixture: ReturnType<typeof engineFixture>;
}

export async function setUp(
  wakes: Wakes,
  options: FeedOptions = {},
  writer: WriterOptions = {},
  readsNow = false,
): Promise<Setup> {
  const fixture = engineFixture({ writer });
  await fixture.declare(
    describedCrd({ kind: 'Thing', plural: 'things', properties }),
    describedCrd({ kind: 'Other', plural: 'others', properties }),
  );
  await fixture.sync(things, []);
  await fixture.sync(others, []);
  let leases = 0;
  let running = 0;
  let failure: Error | null = null;
  let anotherEpoch: string | null = null;
  const log = { changes: 0, bodies: 0 };
  const counted = (lease: Lease): Lease => ({
    revision: lease.revision,
    epoch: anotherEpoch ?? lease.epoch,
    layoutVersion: lease.layoutVersion,
    fill: (statements, limit) => lease.fill(statements, limit),
    async all(statement) {
      const rows = await lease.all(statement);
      if (statement.sql === changesOfKind) {
        log.changes += rows.length;
        for (const row of rows) log.bodies += row.slice(-2).filter((body) => body !== null).length;
      }
      return rows;
    },
  });
  const reader: Reader = {
    open: (leaseOptions) => fixture.reader.open(leaseOptions),
    close: () => fixture.reader.close(),
    async lease(work, leaseOptions) {
      leases += 1;
      if (failure !== null) throw failure;
      running += 1;
      try {
        return await fixture.reader.lease((lease) => work(counted(lease)), leaseOptions);
      } finally {
        running -= 1;
      }
    },
  };
  const pages = readsNow ? fixture.pages : null;
  const feed = new ChangeFeed(reader, silentLogger, { ...options, pages });
  onTestFinished(() => feed.close());
  let unsent: CommittedChanges | null = null;
  fixture.writer().onCommit((each) => {
    const commit = { ...each, epoch: anotherEpoch ?? each.epoch };
    unsent = unsent === null ? commit : joinCommits(unsent, commit);
  });
  const wake = (): void => {
    const committed = unsent;
    unsent = null;
    if (wakes === 'bare wakes') feed.wake();
    else if (committed !== null) feed.wake(committed);
  };
  const layouts = await fixture.reader.lease((lease) => readLayouts(lease));
  const stop = new AbortController();
  return {
    fixture,
    feed,
    leases: () => leases,
    readLog: () => ({ ...log }),
    running: () => running,
    failWith: (error) => {
      failure = error;
    },
    beginEpoch: (epoch) => {
      anotherEpoch = epoch;
    },
    thing: layouts.get(things)?.kindId ?? 0,
    other: layouts.get(others)?.kindId ?? 0,
    signal: stop.signal,
    abort: () => stop.abort(),
    revision: () =>
      fixture.reader.lease(async ({ epoch, revision }) => ({ epoch: anotherEpoch ?? epoch, sequence: revision })),
    wake,
    write(key, name) {
      fixture.apply(key, 'ADDED', made({ name }));
      wake();
    },
  };
}

const joined = new WeakMap<ChangeFeed, Map<number, Cohort>>();

/** One more subscriber to all objects of the kind. */
export function join(feed: ChangeFeed, kindId: number): Membership {
  const membership = feed.join(kindId, { key: `kind ${kindId}`, filter: everything, scope: allRows });
  joined.set(feed, (joined.get(feed) ?? new Map<number, Cohort>()).set(kindId, membership.cohort));
  return membership;
}

export async function next(
  feed: ChangeFeed,
  kindId: number,
  position: FeedPosition,
  seen: number,
  signal: AbortSignal,
): Promise<CohortBatch> {
  const cohort = must(joined.get(feed)?.get(kindId), 'a cohort');
  return (await feed.next(cohort, { ...position, count: null }, seen, signal)).batch;
}

export function names(batch: CohortBatch): readonly string[] | string {
  if (batch.kind === 'gap') return 'gap';
  return batch.messages.flatMap(({ changes }) => changes.map(({ identity }) => identity.name));
}

/** Waits until the subscribers that were started before wait for changes, and nothing of the feed reads any more. */
export function settled({ feed, running }: Setup, waiting = 1): Promise<void> {
  return eventually(() => expect([feed.waiting, running()]).toEqual([waiting, 0]));
}
