/**
 * Slots for the requests of one cluster that wait for its server: lists, and watches that open.
 *
 *   enter -> holds a slot -> no byte for `silentMs`: gives the slot back and goes on waiting -> leave
 *
 * So a part of the server that hangs holds a slot for a second, and no request of another part waits for it. The groups of the API take
 * turns. At most `silentAtOnce` requests wait without a slot; one more ends the request that has waited longest.
 */
import type { Clock } from '../../base/clock.ts';
import { type Leave, Semaphore } from '../../base/concurrency/semaphore.ts';
import { ApiError } from '../../kube/http/api-error.ts';
import { noAnswer } from './failure.ts';

/** Milliseconds without a byte after which a request gives its slot back. */
const silentMs = 1000;
/** Maximum requests that wait without a slot. */
const silentAtOnce = 64;

export class Slots {
  readonly #clock: Clock;
  readonly #places: Semaphore;
  /** Requests without a slot that have received nothing, oldest first. */
  readonly #silent = new Set<Slot>();

  constructor(clock: Clock, places: number) {
    this.#clock = clock;
    this.#places = new Semaphore(places);
  }

  /** Resolves with a slot. If the signal aborts first, rejects with its reason and holds no slot. */
  async enter(group: string, stop: AbortSignal): Promise<Slot> {
    return new Slot(this.#clock, await this.#places.enter(stop, group), this.#silent, stop);
  }
}

export class Slot {
  readonly #clock: Clock;
  readonly #giveBack: Leave;
  readonly #silent: Set<Slot>;
  readonly #stop: AbortSignal;
  readonly #left = new AbortController();
  readonly #cut = new AbortController();
  #lastByteAt: number;
  /** This side waits before it asks again, as the server requested. */
  resting = false;

  constructor(clock: Clock, giveBack: Leave, silent: Set<Slot>, stop: AbortSignal) {
    this.#clock = clock;
    this.#giveBack = giveBack;
    this.#silent = silent;
    this.#stop = stop;
    this.#lastByteAt = clock.monotonic();
    void this.#guard();
  }

  /** Aborts when the request must end: with `stop`, or because too many wait. Its reason is the failure. */
  get signal(): AbortSignal {
    return AbortSignal.any([this.#stop, this.#cut.signal]);
  }

  /** Milliseconds since the last byte. */
  get silentForMs(): number {
    return this.#clock.monotonic() - this.#lastByteAt;
  }

  /** The server has sent something. */
  received(): void {
    this.#lastByteAt = this.#clock.monotonic();
    this.#silent.delete(this);
  }

  /** Ends the request for this reason. */
  cut(reason: Error): void {
    this.#cut.abort(reason);
  }

  /** The request is over. Idempotent. */
  leave(): void {
    this.#left.abort();
    this.#silent.delete(this);
    this.#giveBack();
  }

  async #guard(): Promise<void> {
    const { signal } = this.#left;
    while (!signal.aborted) {
      const rest = silentMs - this.silentForMs;
      if (rest <= 0) return this.#wait();
      await this.#clock.sleep(rest, signal).catch(() => {});
    }
  }

  #wait(): void {
    if (this.#silent.size >= silentAtOnce) for (const oldest of [...this.#silent].slice(0, 1)) oldest.#crowdedOut();
    this.#silent.add(this);
    this.#giveBack();
  }

  #crowdedOut(): void {
    this.#silent.delete(this);
    const seconds = Math.round(this.silentForMs / 1000);
    this.cut(
      new ApiError({
        code: 'UPSTREAM_UNAVAILABLE',
        httpStatus: 0,
        reason: noAnswer,
        message: `The API server sent nothing for ${seconds} s, and more than ${silentAtOnce} requests wait: this one is sent again later.`,
      }),
    );
  }
}
