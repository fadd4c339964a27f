/**
 * The recovery of a reflector after a failure: a wait, then the next step.
 *
 *   kind of failure          waits                                            then
 *   expired, too new         after a watch: none (see below); else backoff    list
 *   unauthorized             parked, at most `backoff.capMs` (30 s)           the same step
 *   refused                  parked                                           the same step
 *   protocol                 backoff twice, then parked                       the same watch once, then a list
 *   store                    backoff twice, then parked                       begin: from the stored state
 *   server, network          backoff                                          the same step
 *   throttled                backoff                                          the same step
 *   a watch that brings nothing, while others do (refused, unanswered, closed at once: watch-trust.ts)
 *                            none if a list is due; else a rest               list, a rest, the watch; else the same watch
 *
 * A list that fails while the watch is distrusted is followed by the watch: after an outage a watch costs less. Between two tries of a
 * distrusted watch there is one rest, so that the collection is right soon after its server is. A list that becomes due during
 * the rest is made when that watch has failed.
 *
 * A watch whose version is expired or too new is followed by a list without a wait. Exception: no event was applied since the last
 * list of this run. Then the wait is a backoff, so that lists do not repeat in a fast loop.
 *
 * Delays are at most those of the pace (retry-pace.ts), except those of a 401 or 403: only people change rights.
 *
 * Owns the counters of consecutive failures. Parked means that a retry is unlikely to help soon; a probe ends the wait early.
 */

import { Backoff } from '../../base/backoff.ts';
import type { IngestStatus } from '../../store/types/progress.ts';
import { itemTooLong, lineTooLong } from '../bytes/protocol-error.ts';
import type { ReflectorContext } from '../context/reflector-context.ts';
import { type Failure, isWithoutWatch, noAnswer } from '../flow/failure.ts';
import type { ReflectorStatus } from './reflector-status.ts';
import { WatchTrust } from './watch-trust.ts';

export type Step = 'list' | 'watch' | 'poll';

/** The circumstances of a failure. */
interface Interruption {
  readonly step: Step;
  readonly failure: Failure;
  /** Milliseconds for which the failed watch was open; null if none was. */
  readonly watchedMs: number | null;
  /** The failed watch brought changes, or was open for a while. */
  readonly proved: boolean;
  /** No event was applied since the last list. */
  readonly freshlyListed: boolean;
}

/** Unreadable answers before the reflector is parked, or polled if only the watch is unreadable. */
const protocolFaultsAllowed = 2;
/** Consecutive failures after which a resource counts as failing, and a refusing store is no longer retried with backoff. */
const persistentFailures = 3;

export class Recovery {
  readonly #context: ReflectorContext;
  readonly #status: ReflectorStatus;
  readonly trust: WatchTrust;
  readonly #backoff: Backoff;
  readonly #probes: Backoff;
  #failures = 0;
  #serverFailures = 0;
  #storeFailures = 0;
  #protocolFaults = 0;
  /** The last failure does not end with the illness of a server. */
  #lasting = false;
  #parked: AbortController | null = null;

  constructor(context: ReflectorContext, status: ReflectorStatus) {
    this.#context = context;
    this.#status = status;
    this.trust = new WatchTrust(context.clock, context.settings.pollMs);
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

  /** The watch brings changes, or has been open for a while. */
  proved(): void {
    this.#serverFailures = 0;
    this.trust.proved();
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
    await this.#wait(retryAfterSeconds === undefined ? this.#paced(ms) : ms, stop);
  }

  /** Waits between two tries of a watch that is distrusted; the collection counts as polled. `probe` ends the wait early. */
  async rest(stop: AbortSignal): Promise<void> {
    const ms = this.#lasting ? Math.min(this.#probes.next(), this.trust.restMs) : this.#paced(this.#backoff.next());
    await this.#parkFor(ms, 'POLLING', this.trust.fault, stop);
  }

  /** A delay within the pace of the cluster, with jitter. */
  #paced(ms: number): number {
    return Math.min(ms, this.#context.pace.capMs * (0.5 + this.#context.random() / 2));
  }

  async #wait(ms: number, stop: AbortSignal): Promise<void> {
    const leave = this.#context.pace.enter();
    try {
      await this.#context.clock.sleep(ms, stop);
    } finally {
      leave();
    }
  }

  /** Waits as the failure requires, and returns the next step; `begin` if the step depends on the store's state. */
  async after(
    { step, failure, watchedMs, proved, freshlyListed }: Interruption,
    stop: AbortSignal,
  ): Promise<Step | 'begin'> {
    const { budget, handle, missing, settings } = this.#context;
    this.#failures += 1;
    if (watchedMs !== null) this.watched(watchedMs);
    budget.hold(handle.id, failure.retryAfterSeconds);
    const pause = (): Promise<void> => this.pause(failure.message, stop, failure.retryAfterSeconds);
    this.#lasting = isLasting(failure);
    if (step === 'watch' && this.#isFruitless(failure, proved, watchedMs !== null)) {
      if (this.trust.listDue) return 'list';
      if (this.trust.fault === null) await pause();
      else await this.rest(stop);
      return 'watch';
    }
    const again: Step = this.trust.fault !== null ? 'watch' : step === 'poll' ? 'list' : step;
    this.trust.pardon();
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
        await this.#park(this.#probeMs(failure), this.#withHint(failure), stop);
        return again;
      case 'protocol':
        return this.#afterProtocolFault(step, failure, stop);
      case 'store':
        this.#storeFailures += 1;
        if (this.#storeFailures < persistentFailures) await pause();
        else await this.#park(this.#probes.next(), failure.message, stop);
        return 'begin';
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
    if (this.#protocolFaults <= protocolFaultsAllowed) {
      await this.pause(failure.message, stop);
      return this.#protocolFaults === 1 && step === 'watch' ? 'watch' : 'list';
    }
    await this.#park(this.#probeMs(failure), failure.message, stop);
    return 'list';
  }

  /** Notes a watch that brought nothing. False if the failure says nothing about the watch. */
  #isFruitless(failure: Failure, proved: boolean, opened: boolean): boolean {
    const { kind, message, reason } = failure;
    if (kind === 'server') this.#serverFailures += 1;
    const tooManyErrors = this.#serverFailures >= this.#context.settings.serverErrorsBeforeList;
    if (tooManyErrors) this.#serverFailures = 0;
    const unreadable = kind === 'protocol' && this.#protocolFaults >= protocolFaultsAllowed;
    // In an outage a list would fail too, and a watch from the known version costs less afterwards.
    const { isLocal } = this.#context.pace;
    const useless = isWithoutWatch(failure) || tooManyErrors || unreadable || (reason === noAnswer && isLocal);
    if (!useless && (kind !== 'network' || proved || !(opened || isLocal))) return false;
    this.trust.fruitless({ message, opened, useless, listed: unreadable });
    return true;
  }

  #probeMs(failure: Failure): number {
    const ms = this.#probes.next(failure.retryAfterSeconds);
    return failure.retryAfterSeconds !== undefined || isLasting(failure) ? ms : this.#paced(ms);
  }

  /** Waits for the next probe time; `probe` ends the wait early. */
  #park(ms: number, message: string, stop: AbortSignal): Promise<void> {
    return this.#parkFor(ms, 'PARKED', message, stop);
  }

  async #parkFor(ms: number, phase: IngestStatus['phase'], message: string | null, stop: AbortSignal): Promise<void> {
    const parked = new AbortController();
    const onStop = (): void => parked.abort();
    stop.addEventListener('abort', onStop, { once: true });
    this.#parked = parked;
    this.#status.say(phase, message);
    try {
      await this.#wait(ms, parked.signal).catch(() => {});
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

/** True for what people or the objects change, not the recovery of a server. The request is then repeated seldom. */
function isLasting({ reason, status }: Failure): boolean {
  return status === 403 || reason === lineTooLong || reason === itemTooLong;
}
