/**
 * Schedules the rounds of a cluster: at regular intervals, and after a failure with a backoff delay. A change of the served resources
 * causes a round after about a second, and a few more rounds after it.
 */
import type { Clock, Random } from '../../base/clock.ts';
import { WakeTimer } from '../flow/wake-timer.ts';
import type { SupervisorSettings } from './supervisor-settings.ts';

/** Milliseconds to the next round while a group cannot be read. */
const incompleteMs = 6000;
/** Minimum milliseconds between the last round and a round for a missing collection. */
const missingMs = 10_000;

export class RoundSchedule {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #settings: SupervisorSettings;
  readonly #timer: WakeTimer;
  /** Delays of the next rounds after a change, in milliseconds: servers need some time to serve a new definition. */
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

  /** Makes a round due now. */
  atOnce(): void {
    this.#timer.set(0);
  }

  /** Schedules the next round after a successful one. `complete`: every group could be read. */
  afterRound(complete: boolean): void {
    const { rediscoverMs } = this.#settings;
    const ms = complete ? rediscoverMs : Math.min(rediscoverMs, incompleteMs);
    this.#timer.set(this.#settling.shift() ?? ms * (0.8 + 0.4 * this.#random()));
  }

  /** Schedules the next round after a failed one. */
  afterFailure(waitMs: number): void {
    this.#timer.set(waitMs);
  }

  /** Schedules a round soon, and more rounds after it: the served resources have changed. */
  afterChange(): void {
    this.#settling = [...this.#settings.settleMs];
    this.soon();
  }

  soon(): void {
    this.#timer.sooner(this.#settings.debounceMs);
  }

  /** Schedules a round soon, because the server does not find a collection. Not sooner than `missingMs` after the last round. */
  afterMissing(lastRoundAt: number): void {
    this.#timer.sooner(Math.max(this.#settings.debounceMs, lastRoundAt + missingMs - this.#clock.monotonic()));
  }
}
