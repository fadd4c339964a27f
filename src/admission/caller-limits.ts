/**
 * Limits of one caller, over all doors, so that a caller who asks too much does not harm the others.
 *
 *   a query              in flight from `enter` until it leaves
 *   its requested cost   counted for a minute
 *   a write              counted for a minute
 *   a subscription       counted while it runs
 *   a WebSocket          counted while it is open
 *   a log                counted while it is read
 *   bytes of logs        counted while a subscription holds them in memory
 *
 * A user is one caller, with whatever token. A restricted user (src/access/caller.ts) is a caller of its own for each extra. So a
 * restricted token cannot use up the limits of its user. All restricted callers of one name together have `restrictedOfName` times as much,
 * because a user may get ever other tokens.
 *
 * The bytes of logs have a bound over all callers too. One name has at most half of it, with whatever tokens. While it is reached, a caller
 * who holds little goes on.
 *
 * A gateway without authentication does not tell its callers apart: it has no such limits. Readers serve waiting callers in turn besides
 * (src/store/read/lease-queue.ts).
 */
import { type Caller, isRestricted, type UserInfo, userKey } from '../access/caller.ts';
import { PortolanError } from '../base/errors.ts';
import type { HeldBytes } from '../operation/operation-source.ts';

/** The most that one caller may have. */
export interface CallerBounds {
  /** Queries in flight. */
  readonly requests: number;
  /** Requested values in a minute. */
  readonly costPerMinute: number;
  readonly subscriptions: number;
  readonly connections: number;
  /** Containers whose logs are read. */
  readonly logs: number;
  /** Bytes that subscriptions of logs hold in memory. */
  readonly logBytes: number;
}

export const defaultBounds: CallerBounds = {
  requests: 100,
  costPerMinute: 50_000_000,
  subscriptions: 1000,
  connections: 200,
  logs: 200,
  logBytes: 64 * 1024 * 1024,
};

/** The kinds of work that a caller has in flight. */
export type Counted = 'requests' | 'subscriptions' | 'connections' | 'logs';

interface Use {
  readonly counts: Record<Counted, number>;
  logBytes: number;
  /** Values that were requested in this minute. */
  cost: number;
  /** Writes of this minute. */
  writes: number;
  minute: number;
}

const words: Readonly<Record<Counted, string>> = {
  requests: 'queries in flight',
  subscriptions: 'subscriptions',
  connections: 'WebSockets',
  logs: 'logs that are read',
};
const minuteMs = 60_000;
/** Restricted callers with one name that may use their bounds to the full at a time. */
const restrictedOfName = 4;

/** The uses that are counted against a bound. */
interface Account {
  readonly use: Use;
  /** The bound in bounds of one caller. */
  readonly times: number;
}

interface LogAccount {
  readonly use: Pick<Use, 'logBytes'>;
  readonly times: number;
}

/** Callers who may hold as many bytes of logs as one caller may, at a time. */
const fullHolders = 3;
/** Of the bytes of logs that one caller may hold, what each may hold although all callers together are at their bound. */
const fairShare = 1 / 8;

export class CallerLimits {
  readonly #bounds: CallerBounds;
  readonly #monotonic: () => number;
  /** Only of callers that have something in flight, or that asked within the last minute. */
  readonly #uses = new Map<string, Use>();
  /** Bytes that all callers together hold, those without a user too. */
  readonly #all = { logBytes: 0 };
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

  /** Opens an account of bytes that a subscription of logs holds in memory. */
  holdLogs(caller: Caller): HeldBytes {
    const own = caller.user === null ? [] : this.#logAccountsOf(caller.user);
    const all: LogAccount = { use: this.#all, times: fullHolders };
    const accounts = [...own, all];
    const { logBytes } = this.#bounds;
    const full = (): LogAccount | undefined => {
      const found = accounts.find(({ use, times }) => use.logBytes >= logBytes * times);
      const hasLittle = own.length > 0 && own.every(({ use }) => use.logBytes < logBytes * fairShare);
      return found === all && hasLittle ? undefined : found;
    };
    let held = 0;
    const add = (bytes: number): void => {
      held += bytes;
      for (const { use } of accounts) use.logBytes += bytes;
    };
    let isOver = false;
    return {
      get isFull() {
        return full() !== undefined;
      },
      requireRoom: () => {
        const account = full();
        if (account === undefined) return;
        const message =
          account === all
            ? `The subscriptions of logs of all callers hold ${account.use.logBytes} bytes, the most that this gateway holds; read the messages of yours, or try again later.`
            : `Your subscriptions of logs hold ${account.use.logBytes} bytes that wait for you, the most that you may have; read their messages, or end some of them.`;
        const limit = logBytes * account.times;
        throw new PortolanError('TOO_MANY_REQUESTS', message, { details: { limit } });
      },
      add: (bytes) => {
        if (!isOver) add(bytes);
      },
      release: () => {
        if (!isOver) add(-held);
        isOver = true;
      },
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
      const seconds = this.#secondsLeft(use);
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

  /**
   * Counts objects that are written.
   * @param perMinute the most that one caller may write
   * @throws PortolanError TOO_MANY_REQUESTS if they exceed what is left of this minute.
   */
  chargeWrites(caller: Caller, writes: number, perMinute: number): void {
    if (caller.user === null) return;
    const accounts = this.#accountsOf(caller.user);
    for (const { use, times } of accounts) {
      const limit = perMinute * times;
      if (use.writes + writes <= limit) continue;
      const seconds = this.#secondsLeft(use);
      throw new PortolanError(
        'TOO_MANY_REQUESTS',
        `You have written ${use.writes} objects in this minute, and these are ${writes} more; one caller may write ${limit}. Send them again in ${seconds} s, or fewer at once.`,
        { details: { limit, retryAfterSeconds: seconds } },
      );
    }
    for (const { use } of accounts) use.writes += writes;
  }

  #secondsLeft({ minute }: Use): number {
    return Math.ceil(((minute + 1) * minuteMs - this.#monotonic()) / 1000);
  }

  #accountsOf(info: UserInfo): readonly Account[] {
    if (!isRestricted(info)) return [{ use: this.#useOf(`user ${info.user}`), times: 1 }];
    return [
      { use: this.#useOf(`caller ${userKey(info)}`), times: 1 },
      { use: this.#useOf(`restricted ${info.user}`), times: restrictedOfName },
    ];
  }

  /** Of the caller, and of all callers with the name. */
  #logAccountsOf(info: UserInfo): readonly LogAccount[] {
    const ofName = { use: this.#useOf(`name ${info.user}`), times: fullHolders / 2 };
    return [...this.#accountsOf(info).slice(0, 1), ofName];
  }

  #useOf(key: string): Use {
    const now = this.#monotonic();
    const minute = Math.floor(now / minuteMs);
    this.#sweep(now, minute);
    const known = this.#uses.get(key) ?? {
      counts: { requests: 0, subscriptions: 0, connections: 0, logs: 0 },
      logBytes: 0,
      cost: 0,
      writes: 0,
      minute,
    };
    if (known.minute !== minute) {
      known.minute = minute;
      known.cost = 0;
      known.writes = 0;
    }
    this.#uses.set(key, known);
    return known;
  }

  /** Forgets callers who have nothing in flight. */
  #sweep(now: number, minute: number): void {
    if (now - this.#sweptAt < minuteMs) return;
    this.#sweptAt = now;
    for (const [key, { counts, logBytes, minute: last }] of this.#uses) {
      const isIdle = logBytes === 0 && Object.values(counts).every((count) => count === 0);
      if (isIdle && last !== minute) this.#uses.delete(key);
    }
  }
}

function addCost(accounts: readonly Account[], cost: number): void {
  for (const { use } of accounts) use.cost += cost;
}
