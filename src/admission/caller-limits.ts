/**
 * Limits of one caller, over all doors, so that a caller who asks too much harms nobody else.
 *
 *   a query              in flight from `enter` until it leaves
 *   its requested cost   counted for a minute
 *   a subscription       counted while it runs
 *   a WebSocket          counted while it is open
 *
 * A user is one caller, with whatever token. A restricted user (src/access/caller.ts) is a caller of its own for each extra, so that a
 * restricted token cannot use up what its user has. All restricted callers of one name together have `restrictedOfName` times as much,
 * because a user may get ever other tokens.
 *
 * A gateway without authentication does not tell its callers apart: it has no such limits. Readers serve waiting callers in turn besides
 * (src/store/read/lease-queue.ts).
 */
import { type Caller, isRestricted, type UserInfo, userKey } from '../access/caller.ts';
import { PortolanError } from '../base/errors.ts';

/** The most that one caller may have. */
export interface CallerBounds {
  /** Queries in flight. */
  readonly requests: number;
  /** Requested values in a minute. */
  readonly costPerMinute: number;
  readonly subscriptions: number;
  readonly connections: number;
}

export const defaultBounds: CallerBounds = {
  requests: 100,
  costPerMinute: 50_000_000,
  subscriptions: 1000,
  connections: 200,
};

/** What a caller has in flight. */
export type Counted = 'requests' | 'subscriptions' | 'connections';

interface Use {
  readonly counts: Record<Counted, number>;
  /** Values that were requested in this minute. */
  cost: number;
  minute: number;
}

const words: Readonly<Record<Counted, string>> = {
  requests: 'queries in flight',
  subscriptions: 'subscriptions',
  connections: 'WebSockets',
};
const minuteMs = 60_000;
/** Restricted callers with one name that may use their bounds to the full at a time. */
const restrictedOfName = 4;

/** What is counted against a bound. */
interface Account {
  readonly use: Use;
  /** The bound in bounds of one caller. */
  readonly times: number;
}

export class CallerLimits {
  readonly #bounds: CallerBounds;
  readonly #monotonic: () => number;
  /** Only of callers that have something in flight, or that asked within the last minute. */
  readonly #uses = new Map<string, Use>();
  #sweptAt = 0;

  constructor(bounds: CallerBounds, monotonic: () => number) {
    this.#bounds = bounds;
    this.#monotonic = monotonic;
  }

  /** Accounts on which something is counted. */
  get size(): number {
    return this.#uses.size;
  }

  /**
   * Counts one more until the returned function is called.
   * @throws PortolanError TOO_MANY_REQUESTS at the bound.
   */
  enter(caller: Caller, what: Counted): () => void {
    if (caller.user === null) return () => {};
    const accounts = this.#accountsOf(caller.user);
    for (const { use, times } of accounts) {
      const limit = this.#bounds[what] * times;
      if (use.counts[what] < limit) continue;
      throw new PortolanError(
        'TOO_MANY_REQUESTS',
        `You have ${use.counts[what]} ${words[what]}, the most that one caller may have; end some of them first.`,
        { details: { limit } },
      );
    }
    for (const { use } of accounts) use.counts[what] += 1;
    let left = false;
    return () => {
      if (!left) for (const { use } of accounts) use.counts[what] -= 1;
      left = true;
    };
  }

  /** Counts requested values. @throws PortolanError TOO_MANY_REQUESTS if they exceed what is left of this minute. */
  charge(caller: Caller, cost: number): void {
    if (caller.user === null) return;
    const accounts = this.#accountsOf(caller.user);
    for (const { use, times } of accounts) {
      const limit = this.#bounds.costPerMinute * times;
      // A single query within the bound of all queries is never refused by itself.
      if (use.cost === 0 || use.cost + cost <= limit) continue;
      const seconds = Math.ceil(((use.minute + 1) * minuteMs - this.#monotonic()) / 1000);
      throw new PortolanError(
        'TOO_MANY_REQUESTS',
        `Your queries of this minute ask for ${use.cost} values, and this one for ${cost} more; one caller may ask for ${limit}. Send it again in ${seconds} s, or ask for smaller pages.`,
        { details: { limit, retryAfterSeconds: seconds } },
      );
    }
    addCost(accounts, cost);
  }

  /** Counts values that an answer turned out to cost. They are not refused, but later ones may be. */
  add(caller: Caller, cost: number): void {
    if (caller.user === null) return;
    addCost(this.#accountsOf(caller.user), cost);
  }

  #accountsOf(info: UserInfo): readonly Account[] {
    if (!isRestricted(info)) return [{ use: this.#useOf(`user ${info.user}`), times: 1 }];
    return [
      { use: this.#useOf(`caller ${userKey(info)}`), times: 1 },
      { use: this.#useOf(`restricted ${info.user}`), times: restrictedOfName },
    ];
  }

  #useOf(key: string): Use {
    const now = this.#monotonic();
    const minute = Math.floor(now / minuteMs);
    this.#sweep(now, minute);
    const known = this.#uses.get(key) ?? {
      counts: { requests: 0, subscriptions: 0, connections: 0 },
      cost: 0,
      minute,
    };
    if (known.minute !== minute) {
      known.minute = minute;
      known.cost = 0;
    }
    this.#uses.set(key, known);
    return known;
  }

  /** Forgets callers who have nothing in flight. */
  #sweep(now: number, minute: number): void {
    if (now - this.#sweptAt < minuteMs) return;
    this.#sweptAt = now;
    for (const [key, { counts, minute: last }] of this.#uses) {
      const isIdle = counts.requests + counts.subscriptions + counts.connections === 0;
      if (isIdle && last !== minute) this.#uses.delete(key);
    }
  }
}

function addCost(accounts: readonly Account[], cost: number): void {
  for (const { use } of accounts) use.cost += cost;
}
