/**
 * Keeps one collection of one cluster in the store: a resource, over all namespaces or in one. This is the state machine of
 * listing, watching and waiting; recovery.ts decides the step after a failure.
 *
 *            stored version            events: commit, stay
 *   IDLE ──────────────────────▶ WATCH ◀──────────────┐
 *     │ none                      │ ▲ │ 410           │ commit
 *     └────────▶ LIST ────────────┼─┘ └────▶ LIST ────┘
 *                 ▲ │ failure     │ failure
 *                 │ ▼             ▼
 *                BACKOFF (network, 5xx, 429, store) · PARKED (401, 403, 404, 405; repeated protocol or store failures)
 *                POLLING with an error (the watch is refused, unanswered, unreadable or closed at once, but lists work)
 *                   └────────────────────┴──▶ the next step (recovery.ts)
 *
 *   LIST, one of two ways:  STREAM_INIT ── end mark: commit, WATCH continues with the same stream (stream-collection.ts)
 *                               │ refused (400, 403, 405, 406, 422), unanswered, without an end mark, or failed twice:
 *                               │ list pages at once, and do not stream for an hour (streaming-lists.ts)
 *                               ▼
 *                           pages ── last page: commit, WATCH (list-collection.ts)
 *
 * Invariants: one loop runs at a time. A watch starts only from a version that the server sent and the store has committed.
 * Data that the store cannot identify never moves that version. A failed watch is opened again before a list, because lists are
 * expensive. Collections without watch are listed periodically (POLL), and only the differences are stored.
 * After `stop` nothing is applied, and no timer, socket or staged row remains.
 */
import { messageOf } from '../../base/errors.ts';
import { compareResourceVersions } from '../../catalog/resources/resource-version.ts';
import { ApiError } from '../../kube/http/api-error.ts';
import { orApiService } from '../../kube/http/api-service.ts';
import type { IngestStatus } from '../../store/types/progress.ts';
import { collectionName, collectionPath } from '../context/collections.ts';
import type { ReflectorContext } from '../context/reflector-context.ts';
import { type Failure, failureOf, lacksIdentity, shortWatch } from '../flow/failure.ts';
import type { Slot } from '../flow/slots.ts';
import { auditCollection } from '../list/audit-collection.ts';
import { answersAgain, lookAfterList } from '../list/hung-list.ts';
import { type ListResult, listCollection } from '../list/list-collection.ts';
import { streamCollection } from '../list/stream-collection.ts';
import { type WatchHooks, type WatchPosition, watchCollection } from '../watch/watch-collection.ts';
import type { BegunWatch } from '../watch/watch-rollover.ts';
import { Recovery, type Step } from './recovery.ts';
import { ReflectorStatus } from './reflector-status.ts';
import { provenMs } from './watch-trust.ts';

const unwatchable = new Set(['', '0']);

type ListContext = ReflectorContext & { readonly slot: Slot };

export class Reflector {
  readonly #context: ReflectorContext;
  readonly #stop = new AbortController();
  /** Aborts the current step: on a stop, or to restart the state machine. */
  #turn = new AbortController();
  /** Why the next step must be a list: the server went back in time, or an audit found differences. */
  #relist: 'rewind' | 'audit' | null = null;
  readonly #position: WatchPosition = { resourceVersion: '', bare: false };
  readonly #status: ReflectorStatus;
  readonly #recovery: Recovery;
  #loop: Promise<void> | null = null;
  #synced: boolean;
  #polls: boolean;
  /** The next list must not require a version: the server could not serve the known one. */
  #versionUnavailable = false;
  /** A list of this run was committed, so this run wrote the stored rows. */
  #listed = false;
  /** No event was applied since the last list: another 410 does not cause an immediate list. */
  #freshlyListed = false;
  #watchOpenedAt: number | null = null;
  /** The last watch brought changes, or was open for a while. */
  #watchProved = false;
  /** The last watch was silent: the known version may be newer than the server's. */
  #doubtful = false;
  /** The list hangs: its server does not answer. */
  #hung = false;
  /** The last request failed. */
  #failed = false;
  /** An open stream to continue with: from the last list (streamed), or from a watch rollover. */
  #begun: BegunWatch | null = null;

  constructor(context: ReflectorContext) {
    this.#context = context;
    this.#status = new ReflectorStatus(context);
    this.#recovery = new Recovery(context, this.#status);
    this.#synced = context.writer.state(context.handle).synced;
    this.#polls = !context.resource.verbs.includes('watch');
    this.#position.bare = this.#polls;
  }

  /** True once the store has a complete set of this resource, from this run or an earlier one. */
  get synced(): boolean {
    return this.#synced;
  }

  get phase(): IngestStatus['phase'] {
    return this.#status.phase;
  }

  /** Why it waits, or null without an error. */
  get error(): string | null {
    return this.#status.error;
  }

  /**
   * True if it is parked or hangs. True too if it is polled for want of its watch, or has failed several times in a row. Callers should not
   * wait for its sync.
   */
  get failing(): boolean {
    const { persistent, trust } = this.#recovery;
    return this.error !== null && (this.phase === 'PARKED' || persistent || this.#hung || trust.fault !== null);
  }

  /** The HTTP status by which the server refuses the collection, or null. */
  get refusal(): number | null {
    return this.#status.refusal;
  }

  get resourceVersion(): string {
    return this.#position.resourceVersion;
  }

  /** True while the known version is unusable and a list without a version is due. */
  get rewinding(): boolean {
    return this.#relist === 'rewind' || this.#versionUnavailable;
  }

  /** Starts the loop. A second call does nothing. */
  start(): void {
    if (this.#loop !== null || this.#stop.signal.aborted) return;
    this.#loop = this.#run(this.#stop.signal);
  }

  /** Ends the loop; resolves when it has ended. May be called any number of times, also before `start`. */
  async stop(): Promise<void> {
    this.#stop.abort(new Error('the reflector was stopped'));
    await this.#loop;
  }

  /** Retries a parked step at once: rights, definitions or services have changed. */
  probe(): void {
    this.#recovery.probe();
  }

  /** The known version is newer than the server's: aborts the current step and lists without a version. */
  rewind(): void {
    if (this.#polls) return;
    this.#relist = 'rewind';
    this.#turn.abort(new Error('the API server went back in time'));
  }

  /** Compares the table with the server. If it is wrong, lists again and stores the differences. Never rejects. */
  async audit(stop: AbortSignal): Promise<void> {
    const { log } = this.#context;
    // Objects without a uid cannot be compared.
    if (this.phase !== 'WATCHING' || this.#position.bare) return;
    const turn = this.#turn.signal;
    const signal = AbortSignal.any([stop, this.#stop.signal, turn]);
    try {
      const found = await auditCollection(this.#context, signal);
      if (found === null || found.missing + found.different + found.surplus === 0) return;
      log.error({ ...found }, 'the table is not what the server has; it is listed anew');
      this.#status.count('audit');
      // A list that began meanwhile repairs it too.
      if (turn.aborted || this.phase !== 'WATCHING') return;
      this.#relist = 'audit';
      this.#turn.abort(new Error('the table was found to be wrong'));
    } catch (error) {
      this.#context.budget.hold(this.#context.handle.id, failureOf(error).retryAfterSeconds);
      if (!signal.aborted) log.debug({ error: messageOf(error) }, 'the table could not be compared with the server');
    }
  }

  async #run(stop: AbortSignal): Promise<void> {
    const onStop = (): void => this.#turn.abort(stop.reason);
    stop.addEventListener('abort', onStop, { once: true });
    let step: Step | null = null;
    while (!stop.aborted) {
      if (this.#relist !== null) {
        if (this.#relist === 'rewind') this.#versionUnavailable = true;
        this.#relist = null;
        this.#turn = new AbortController();
        this.#release();
        step = 'list';
      }
      const { signal } = this.#turn;
      try {
        step ??= this.#begin();
        step = step === 'watch' ? await this.#watch(signal) : await this.#list(step, signal);
      } catch (error) {
        if (signal.aborted) continue;
        // Only a stop may end the loop; a defect in the recovery code must not end it.
        step = await this.#recover(step ?? 'list', failureOf(error), signal).catch(() => null);
      }
    }
    stop.removeEventListener('abort', onStop);
    this.#release();
    this.#status.lost();
    this.#say('STOPPED');
  }

  /**
   * Returns the first step: a watch from the stored version if that is possible and the bodies have the declared shape, otherwise a
   * list. Throws if the store no longer has the resource.
   */
  #begin(): Step {
    const state = this.#context.writer.state(this.#context.handle);
    this.#synced = state.synced;
    if (!state.synced || state.lastResourceVersion === null) return 'list';
    this.#position.resourceVersion = state.lastResourceVersion;
    const resumable = !state.outdated && (this.#context.resume || this.#listed);
    const canResume = resumable && !this.#polls && !this.#versionUnavailable;
    return canResume && !unwatchable.has(state.lastResourceVersion) ? 'watch' : 'list';
  }

  async #list(step: Step, stop: AbortSignal): Promise<Step> {
    const { clock, lists, log, random, settings } = this.#context;
    if (step === 'poll') await clock.sleep(settings.pollMs * (0.8 + 0.4 * random()), stop);
    const slot = await lists.enter(this.#context.resource.group, stop);
    const { signal } = slot;
    try {
      if (this.error === null) this.#say(this.#polls && this.#synced ? 'POLLING' : 'LISTING');
      const known = this.#synced && !this.#polls && !this.#versionUnavailable ? this.#position.resourceVersion : '';
      const collected = this.#collect(unwatchable.has(known) ? null : known, signal, slot);
      const { resourceVersion, summary } = await collected.catch((error: unknown) => {
        throw signal.aborted ? signal.reason : error;
      });
      this.#checkRewind(resourceVersion);
      this.#position.resourceVersion = resourceVersion;
      this.#versionUnavailable = false;
      this.#doubtful = false;
      this.#freshlyListed = true;
      this.#recovery.stored();
      this.#listed = true;
      this.#synced = true;
      this.#status.listed();
      this.#recovery.trust.listed();
      this.#failed = false;
      log.debug({ ...summary, resourceVersion }, 'listed');
    } catch (error) {
      if (error !== answersAgain || stop.aborted) throw error;
      this.#failed = false;
      return 'list';
    } finally {
      slot.leave();
    }
    if (!this.#polls && unwatchable.has(this.#position.resourceVersion)) {
      log.warn({}, 'the collection has no resourceVersion to watch from; it is listed again and again instead');
      this.#polls = true;
      this.#release();
    }
    if (this.#recovery.trust.fault !== null) {
      await this.#recovery.rest(stop);
      return 'watch';
    }
    this.#say(this.#polls ? 'POLLING' : 'WATCHING');
    if (this.#polls) this.#recovery.understood();
    return this.#polls ? 'poll' : 'watch';
  }

  /** Replaces the set: streamed if the server is expected to support it, otherwise listed. */
  async #collect(notOlderThan: string | null, stop: AbortSignal, slot: Slot): Promise<ListResult> {
    const context = { ...this.#context, slot };
    const { handle } = context;
    const streams = !this.#polls && !this.#position.bare && this.#recovery.trust.fault === null;
    const turn = streams ? context.streaming.begin(`${handle.key} ${handle.namespace}`) : null;
    if (turn === null) return this.#listPages(context, notOlderThan, stop);
    try {
      const { watch, ...result } = await streamCollection(context, {
        notOlderThan,
        signal: stop,
        opened: turn.opened,
        silenceMs: turn.silenceMs,
      });
      turn.worked();
      this.#begun = { watch, applied: new Set() };
      return result;
    } catch (error) {
      if (stop.aborted) turn.left();
      if (stop.aborted || (!turn.failed(error, context.pace.isLocal) && !lacksIdentity(error))) throw error;
      this.#status.count('no stream');
      this.#context.log.debug({ error: messageOf(error) }, 'the collection is listed, it could not be streamed');
    }
    return this.#listPages(context, notOlderThan, stop);
  }

  /**
   * Lists in pages. If the listed objects lack a uid or version, both are made. An event alone does not decide this: it may be a fault of
   * the server.
   */
  async #listPages(context: ListContext, notOlderThan: string | null, stop: AbortSignal): Promise<ListResult> {
    const over = new AbortController();
    const signal = AbortSignal.any([stop, over.signal]);
    // The time of a stream before this list does not count.
    context.slot.received();
    void lookAfterList(context, { slot: context.slot, sick: this.#failed, signal, hangs: this.#hangs });
    const list = (bare: boolean): Promise<ListResult> => listCollection(context, { notOlderThan, bare, signal: stop });
    try {
      const result = await list(this.#polls).catch((error: unknown) => {
        if (stop.aborted || this.#polls || !lacksIdentity(error)) throw error;
        if (!this.#position.bare)
          context.log.warn({ error: messageOf(error) }, 'objects lack a uid or version; it is made');
        this.#position.bare = true;
        return null;
      });
      if (result === null) return await list(true);
      this.#position.bare = this.#polls;
      return result;
    } finally {
      this.#hung = false;
      over.abort(new Error('the list is over'));
    }
  }

  /** A consistent list is older than the known version: the server's storage went back in time. The list is authoritative. */
  #checkRewind(listed: string): void {
    const known = this.#position.resourceVersion;
    if (known === '' || this.#polls || (compareResourceVersions(listed, known) ?? 0) >= 0) return;
    this.#status.count('rewind');
    this.#context.log.warn({ known, listed }, 'the API server went back in time; its list is taken as it is');
  }

  async #watch(stop: AbortSignal): Promise<Step> {
    const { clock, settings } = this.#context;
    const { trust } = this.#recovery;
    this.#watchOpenedAt = null;
    if (this.#doubtful) await this.#checkVersion(stop);
    const begun = this.#begun;
    this.#begun = null;
    this.#watchProved = false;
    const over = new AbortController();
    const hooks: WatchHooks = {
      opened: () => {
        this.#watchOpenedAt = clock.monotonic();
        const signal = AbortSignal.any([stop, over.signal]);
        clock.sleep(provenMs, signal).then(
          () => this.#prove(),
          () => {},
        );
        if (trust.doubted) return;
        this.#status.opened();
        this.#say('WATCHING');
      },
      took: (events) => {
        this.#prove();
        if (events > 0) {
          this.#freshlyListed = false;
          this.#recovery.stored();
        }
        this.#status.took(events);
      },
      silent: () => this.#status.silent(),
    };
    const end = await watchCollection(this.#context, this.#position, stop, hooks, begun ?? trust.answerMs).finally(() =>
      over.abort(new Error('the watch is over')),
    );
    this.#begun = end.next;
    if (end.next === null) this.#status.closed();
    if (!this.#watchProved && end.lines === 0 && end.lastedMs < provenMs) throw endedAtOnce(this.#context);
    this.#recovery.watched(end.lastedMs);
    this.#doubtful = end.lines === 0 && end.lastedMs >= settings.idleMs;
    return 'watch';
  }

  /**
   * Checks the version after a watch without any line, not even a bookmark. After a restore from a backup, a server
   * silently accepts a version newer than its own. A list of one object with that minimum version fails with `too new`;
   * then everything is listed.
   */
  async #checkVersion(stop: AbortSignal): Promise<void> {
    const { budget, client, handle, resource, settings } = this.#context;
    const { resourceVersion } = this.#position;
    await budget.take(handle.id, stop);
    const query = { limit: 1, resourceVersion, resourceVersionMatch: 'NotOlderThan' };
    const { body } = await client.stream(collectionPath(resource, handle), query, {
      signal: stop,
      bodyTimeoutMs: settings.listSilenceMs,
    });
    body.on('error', () => {});
    body.destroy();
    this.#doubtful = false;
  }

  /** The open watch brings the changes. */
  #prove(): void {
    if (this.#watchProved) return;
    this.#watchProved = true;
    this.#failed = false;
    this.#recovery.proved();
    this.#status.proved();
    this.#say('WATCHING');
  }

  /** The list receives nothing, and neither does another request. */
  readonly #hangs = (error: ApiError): void => {
    this.#hung = true;
    this.#context.interruptions.failed(this.#name, failureOf(error));
    this.#status.say('LISTING', error.message);
  };

  /** Closes a stream that no watch will continue. */
  #release(): void {
    this.#begun?.watch.release();
    this.#begun = null;
  }

  async #recover(step: Step, failure: Failure, stop: AbortSignal): Promise<Step> {
    this.#failed = true;
    this.#release();
    this.#status.lost();
    this.#status.count(failure.reason);
    if (failure.kind !== 'refused') this.#status.accepted();
    this.#context.interruptions.failed(this.#name, failure);
    const opened = this.#watchOpenedAt;
    this.#watchOpenedAt = null;
    const watchedMs = opened === null ? null : this.#context.clock.monotonic() - opened;
    if (failure.reason === 'idle') this.#doubtful = true;
    if (failure.kind === 'too new' || (failure.kind === 'expired' && step !== 'watch')) this.#versionUnavailable = true;
    const freshlyListed = this.#freshlyListed;
    const next = await this.#recovery.after(
      { step, failure, watchedMs, proved: this.#watchProved, freshlyListed },
      stop,
    );
    return next === 'begin' ? this.#begin() : next;
  }

  /** Reports a phase without an error. Resets the number of consecutive failures. */
  #say(phase: IngestStatus['phase']): void {
    this.#recovery.wentWell();
    this.#status.say(phase, null);
    if (phase === 'WATCHING' || phase === 'POLLING') this.#context.interruptions.continues(this.#name);
  }

  get #name(): string {
    return collectionName(this.#context.handle);
  }
}

function endedAtOnce({ resource, handle }: ReflectorContext): ApiError {
  const path = collectionPath(resource, handle);
  return new ApiError({
    code: 'UPSTREAM_UNAVAILABLE',
    httpStatus: 0,
    reason: shortWatch,
    message: `GET ${path} (watch) is ended by the server as soon as it is opened${orApiService(path)}.`,
  });
}
