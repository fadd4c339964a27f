/**
 * The recovery of a reflector after a failure: a wait, then the next step.
 *
 *   kind of failure          waits                                            then
 *   expired, too new         after a watch: none (see below); else backoff    list
 *   unauthorized             parked, at most `backoff.capMs` (30 s)           the same step
 *   refused                  parked                                           the same step
 *   protocol                 backoff twice, then parked                       the same watch once, then a list
 *   store                    backoff twice, then parked                       begin: from the stored state
 *   server                   backoff                                          the same step; after several in a row, a list
 *   network, throttled       backoff                                          the same step
 *
 * A watch whose version is expired or too new is followed by a list without a wait. Exception: no event was applied since the last
 * list of this run. Then the wait is a backoff, so that lists do not repeat in a fast loop.
 *
 * Owns the counters of consecutive failures. Parked means that a retry is unlikely to help soon; a probe ends the wait early.
 */

import { Backoff } from '../../base/backoff.ts';
import type { ReflectorContext } from '../context/reflector-context.ts';
import type { Failure } from '../flow/failure.ts';
import type { ReflectorStatus } from './reflector-status.ts';

export type Step = 'list' | 'watch' | 'poll';

/** The circumstances of a failure. */
interface Interruption {
  readonly step: Step;
  readonly failure: Failure;
  /** Milliseconds for which the failed watch was open; null if none was. */
  readonly watchedMs: number | null;
  /** No event was applied since the last list. */
  readonly freshlyListed: boolean;
}

/** Consecutive failures after which a resource counts as failing, and a refusing store is no longer retried with backoff. */
const persistentFailures = 3;

export class Recovery {
  readonly #context: ReflectorContext;
  readonly #status: ReflectorStatus;
  readonly #backoff: Backoff;
  readonly #probes: Backoff;
  #failures = 0;
  #serverFailures = 0;
  #storeFailures = 0;
  #protocolFaults = 0;
  #parked: AbortController | null = null;

  constructor(context: ReflectorContext, status: ReflectorStatus) {
    this.#context = context;
    this.#status = status;
    this.#backoff = new Backoff(context.clock, context.random, context.settings.backoff);
    this.#probes = new Backoff(context.clock, context.random, context.settings.parked);
  }

  /** True after several consecutive failures of any kind. */
  get persistent(): boolean {
    return this.#failures >= persistentFailures;
  }

  /** The reflector continues without an error. */
  wentWell(): void {
    this.#failures = 0;
  }

  /** A watch was opened. */
  opened(): void {
    this.#serverFailures = 0;
  }

  /** The store accepted a list or events. */
  stored(): void {
    this.#storeFailures = 0;
  }

  /** The server sent readable data: a polled list, or a watch that lasted. */
  understood(): void {
    this.#protocolFaults = 0;
  }

  /** A watch was open for this many milliseconds. */
  watched(ms: number): void {
    if (ms >= this.#context.settings.backoff.resetMs) this.understood();
  }

  /** Ends the wait of a parked reflector. */
  probe(): void {
    this.#parked?.abort();
  }

  /** Waits with increasing delay; reports `message` as the error meanwhile. Rejects with the stop's reason. */
  async pause(message: string, stop: AbortSignal, retryAfterSeconds?: number): Promise<void> {
    const ms = this.#backoff.next(retryAfterSeconds);
    this.#status.say('BACKOFF', message);
    await this.#context.clock.sleep(ms, stop);
  }

  /** Waits as the failure requires, and returns the next step; `begin` if the step depends on the store's state. */
  async after({ step, failure, watchedMs, freshlyListed }: Interruption, stop: AbortSignal): Promise<Step | 'begin'> {
    const { budget, handle, missing, settings } = this.#context;
    this.#failures += 1;
    if (watchedMs !== null) this.watched(watchedMs);
    budget.hold(handle.id, failure.retryAfterSeconds);
    const pause = (): Promise<void> => this.pause(failure.message, stop, failure.retryAfterSeconds);
    const again: Step = step === 'poll' ? 'list' : step;
    switch (failure.kind) {
      case 'expired':
      case 'too new':
        if (step !== 'watch' || freshlyListed) await pause();
        return 'list';
      case 'unauthorized':
        await this.#park(Math.min(this.#probes.next(), settings.backoff.capMs), failure.message, stop);
        return again;
      case 'refused':
        if (failure.status === 404) missing?.();
        this.#status.refused(failure.status);
        await this.#park(this.#probes.next(failure.retryAfterSeconds), this.#withHint(failure), stop);
        return again;
      case 'protocol':
        return this.#afterProtocolFault(step, failure, stop);
      case 'store':
        this.#storeFailures += 1;
        if (this.#storeFailures < persistentFailures) await pause();
        else await this.#park(this.#probes.next(), failure.message, stop);
        return 'begin';
      case 'server':
        this.#serverFailures += 1;
        await pause();
        if (step !== 'watch' || this.#serverFailures < settings.serverErrorsBeforeList) return again;
        this.#serverFailures = 0;
        return 'list';
      default:
        await pause();
        return again;
    }
  }

  /**
   * Unreadable data is never skipped: the request is repeated once, then the collection is listed, then the reflector is
   * parked.
   */
  async #afterProtocolFault(step: Step, failure: Failure, stop: AbortSignal): Promise<Step> {
    this.#protocolFaults += 1;
    if (this.#protocolFaults < 3) {
      await this.pause(failure.message, stop);
      return this.#protocolFaults === 1 && step === 'watch' ? 'watch' : 'list';
    }
    await this.#park(this.#probes.next(), failure.message, stop);
    return 'list';
  }

  /** Waits for the next probe time; `probe` ends the wait early. */
  async #park(ms: number, message: string, stop: AbortSignal): Promise<void> {
    const parked = new AbortController();
    const onStop = (): void => parked.abort();
    stop.addEventListener('abort', onStop, { once: true });
    this.#parked = parked;
    this.#status.say('PARKED', message);
    try {
      await this.#context.clock.sleep(ms, parked.signal).catch(() => {});
      stop.throwIfAborted();
    } finally {
      this.#parked = null;
      stop.removeEventListener('abort', onStop);
    }
  }

  /** Advice for callers that may read only some namespaces. */
  #withHint({ status, message }: Failure): string {
    const { handle, resource } = this.#context;
    if (status !== 403 || !resource.namespaced || handle.namespace !== '') return message;
    return `${message.replace(/\.$/, '')}. Where only some namespaces may be read, name them with --namespaces.`;
  }
}
