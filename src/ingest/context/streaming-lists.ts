/**
 * Which collections of a cluster are asked for as a stream, and which are listed because the server could not do it.
 *
 *   nobody knows yet: one reflector at a time tries, the others list meanwhile
 *     it worked  -> all stream
 *     refused, or failed twice -> nobody tries for an hour
 *   it has worked once: who is refused, or fails twice, lists for an hour, alone; after three refusals in a row all do
 *
 * So a server that refuses the parameter costs one request, and one that ignores it two deadlines, however many resources there are.
 */
import type { Clock } from '../../base/clock.ts';
import { type Failure, failureOf } from '../flow/failure.ts';

const rememberedMs = 3_600_000;
/** Statuses of a server that does not take the request as it is. */
const refusals = new Set([400, 405, 406, 422]);
const failuresAllowed = 2;
const refusalsAllowed = 3;

/** One attempt; ends with one of the last three. */
export interface StreamTurn {
  /** The server has accepted the request: what goes wrong from now on may be the stream's doing. */
  opened(): void;
  worked(): void;
  /** What it failed with. True: list instead, at once; false: what failed would have failed a list too. */
  failed(error: unknown): boolean;
  /** It came to no end. */
  left(): void;
}

export class StreamingLists {
  readonly #clock: Clock;
  readonly #enabled: boolean;
  readonly #resources = new Map<string, { failures: number; until: number }>();
  #proved = false;
  #trying = false;
  #until = Number.NEGATIVE_INFINITY;
  /** Failures before anything has worked; refusals in a row after. */
  #failures = 0;
  #refusals = 0;

  constructor(clock: Clock, enabled: boolean) {
    this.#clock = clock;
    this.#enabled = enabled;
  }

  /** `key` tells a collection from the others. Null: list it. */
  begin(key: string): StreamTurn | null {
    const now = this.#clock.monotonic();
    if (!this.#enabled || now < this.#until || now < (this.#resources.get(key)?.until ?? now)) return null;
    const scouting = !this.#proved;
    if (scouting && this.#trying) return null;
    if (scouting) this.#trying = true;
    const left = (): void => {
      if (scouting) this.#trying = false;
    };
    let opened = false;
    return {
      left,
      opened: () => {
        opened = true;
      },
      worked: () => {
        left();
        this.#proved = true;
        this.#failures = 0;
        this.#refusals = 0;
        this.#resources.delete(key);
      },
      failed: (error) => {
        left();
        return this.#failed(key, failureOf(error), opened);
      },
    };
  }

  #failed(key: string, { kind, status }: Failure, opened: boolean): boolean {
    // Who may list but not watch is refused one resource; that says nothing of the server.
    if (status === 403) return this.#avoid(key);
    if (refusals.has(status)) {
      this.#refusals += 1;
      if (!this.#proved || this.#refusals >= refusalsAllowed) this.#avoidAll();
      return this.#avoid(key);
    }
    // An outage would have failed a list too.
    const ofStream = opened ? kind === 'server' || kind === 'network' || kind === 'protocol' : status === 500;
    if (!ofStream) return false;
    const failures = (this.#resources.get(key)?.failures ?? 0) + 1;
    this.#resources.set(key, { failures, until: 0 });
    if (!this.#proved) {
      this.#failures += 1;
      if (this.#failures >= failuresAllowed) this.#avoidAll();
    }
    return this.#clock.monotonic() < this.#until || failures >= failuresAllowed ? this.#avoid(key) : false;
  }

  #avoid(key: string): true {
    this.#resources.set(key, { failures: 0, until: this.#clock.monotonic() + rememberedMs });
    return true;
  }

  #avoidAll(): void {
    this.#proved = false;
    this.#failures = 0;
    this.#refusals = 0;
    this.#until = this.#clock.monotonic() + rememberedMs;
  }
}
