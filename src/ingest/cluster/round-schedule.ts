/**
 * When the next round of a cluster is due: at regular intervals, and after a failure with the delay of its backoff. A change of what is
 * served brings a round after about a second, and a few more behind it.
 */
import type { Clock, Random } from '../../base/clock.ts';
import { WakeTimer } from '../flow/wake-timer.ts';
import type { SupervisorSettings } from './supervisor-settings.ts';

/** Milliseconds between rounds that are made because a collection was not found. */
const missingMs = 10_000;

export class RoundSchedule {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #settings: SupervisorSettings;
  readonly #timer: WakeTimer;
  /** Milliseconds to rounds that are to follow, because servers take their time to serve what was defined. */
  #settling: number[] = [];

  constructor(clock: Clock, random: Random, settings: SupervisorSettings) {
    this.#clock = clock;
    this.#random = random;
    this.#settings = settings;
    this.#timer = new WakeTimer(clock);
  }

  /** Resolves when a round is due; rejects with the signal's reason. */
  wait(stop: AbortSignal): Promise<void> {
    return this.#timer.wait(stop);
  }

  /** A round is due at once. */
  atOnce(): void {
    this.#timer.set(0);
  }

  /** A round went well. */
  afterRound(): void {
    const { rediscoverMs } = this.#settings;
    this.#timer.set(this.#settling.shift() ?? rediscoverMs * (0.8 + 0.4 * this.#random()));
  }

  /** A round failed. */
  afterFailure(waitMs: number): void {
    this.#timer.set(waitMs);
  }

  /** Something is served in another way: a round soon, and some behind it. */
  afterChange(): void {
    this.#settling = [...this.#settings.settleMs];
    this.soon();
  }

  soon(): void {
    this.#timer.sooner(this.#settings.debounceMs);
  }

  /** The server does not know a collection: a round looks at it soon, but not right after the last one. */
  afterMissing(lastRoundAt: number): void {
    this.#timer.sooner(Math.max(this.#settings.debounceMs, lastRoundAt + missingMs - this.#clock.monotonic()));
  }
}
