/**
 * The logs of several Pods as one stream of messages.
 *
 *   look       Pods and rights in one snapshot
 *              -> a container that comes: a request (container-log.ts) -> its lines -> the merge (log-merge.ts)
 *              -> a container that goes: its request ends
 *   message    check -> look, if anything was committed -> take lines from the merge -> the message -> the subscriber asks again
 *
 * Invariants:
 *   - Before each message, the rights of the newest snapshot are looked at, if anything was committed since the last look. A container of
 *     which the caller may not get the Pod or `pods/log` any more is closed, and its waiting lines are dropped.
 *   - The API server decides about each request besides, because it is sent with the caller's credentials.
 *   - Nothing is read for a subscriber who takes nothing: the merge is bounded, and the requests wait.
 *   - Held bytes count for the caller, over all subscriptions (HeldBytes). At the bound, no subscription and no container begins.
 *   - The end of one container never ends another one.
 *   - A Pod that is not visible for a while goes on after the last line that was sent when it comes back.
 */
import { requireValid } from '../access/caller.ts';
import { isVisible, type Scope } from '../access/scope.ts';
import { PortolanError } from '../base/errors.ts';
import type { CellRead, Operation } from '../operation/operation.ts';
import type { HeldBytes } from '../operation/operation-source.ts';
import type { ObjectRow } from '../query/plan/plan.ts';
import { type LineCondition, lineCondition } from './lines/line-condition.ts';
import { ResumePoints } from './lines/resume-points.ts';
import { checkOptions, type LogOptions } from './pods/log-request.ts';
import { type ContainerState, containersOf, isOver } from './pods/pod-containers.ts';
import { clustersOf, type PodSource, podKey, selectedPods } from './pods/selected-pods.ts';
import { ContainerLog } from './stream/container-log.ts';
import { type LineQueue, weightOf } from './stream/line-queue.ts';
import { LogMerge, type MergeBounds } from './stream/log-merge.ts';
import type { LogLine, LogMessage, LogNotice, LogPlace } from './stream/log-message.ts';
import { nothingChosen } from './stream/nothing-chosen.ts';

interface Followed {
  readonly log: ContainerLog;
  readonly queue: LineQueue;
  readonly pod: Pick<ObjectRow, 'cluster' | 'namespace' | 'name' | 'uid'>;
  readonly begunAt: number;
  leave(): void;
}

/** A container whose log is to be read from now on. */
interface Coming {
  readonly key: string;
  readonly pod: ObjectRow;
  readonly state: ContainerState;
  readonly podOver: boolean;
}

/** Containers whose rights are checked together. */
const askedTogether = 100;
/** Lines of a message. */
const mostLines = 1000;
/** Milliseconds. */
const times = { betweenMessages: 50, betweenLooks: 500, mostBetweenLooks: 3000, lastLines: 5000, again: 30_000 };
/** A look may take a twentieth of the time. */
const lookShare = 20;
/** Bytes of logs that count one value, whether their lines are sent or not. */
const bytesOfValue = 20;
const mostNotices = 1000;
/** The held data besides lines, in bytes. The buffers of a log that is read do not count: the number of logs is bounded (LogAccess). */
const heldBytes = { subscription: 16 * 1024, container: 512, notice: 512 };
/** Bytes that wait, from which on a message is made at once: it has many lines anyway. */
const busyWeight = 256 * 1024;

export class FollowedLogs {
  #operation: Operation;
  #source: PodSource;
  readonly #options: LogOptions;
  readonly #condition: LineCondition | null;
  readonly #merge: LogMerge;
  readonly #containers = new Map<string, Followed>();
  readonly #held: HeldBytes;
  /** Bytes that are held and are no lines. */
  #heldBesides = 0;
  /** Of Pods that have gone: their last lines may still come. The rights to them are looked at too. */
  readonly #leaving = new Map<string, Followed>();
  readonly #points = new ResumePoints();
  readonly #notices: LogNotice[] = [];
  /** The type of the last notice of each container. */
  readonly #lastTold = new Map<string, string>();
  readonly #since: number;
  /** The wakes of the feed at the last look at rights, and at the last look at Pods. */
  #rightsAt = -1;
  #podsAt = -1;
  /** Milliseconds of the last look at Pods and rights, and of the last one at rights. */
  #lookedAt = Number.NEGATIVE_INFINITY;
  #rightsLookedAt = Number.NEGATIVE_INFINITY;
  #lookMs = 0;
  #lookedBefore = false;
  #areAllOver = false;
  #closed = false;
  /** Why no more may be read. */
  #failure: unknown = null;
  readonly #relief: NodeJS.Timeout;

  /** @throws PortolanError BAD_USER_INPUT */
  constructor(operation: Operation, source: PodSource, options: LogOptions, bounds?: MergeBounds) {
    checkOptions(options);
    this.#operation = operation;
    this.#source = source;
    this.#options = options;
    this.#condition = lineCondition(options);
    this.#held = operation.source.logs.hold(operation.caller);
    this.#merge = new LogMerge(!options.follow, operation.source.monotonic, this.#held, bounds);
    this.#since = operation.source.now();
    this.#relief = setInterval(() => this.#merge.relieve(), 1000).unref();
  }

  /** The first look. @throws PortolanError FORBIDDEN, CACHE_NOT_READY, QUERY_TOO_COSTLY, TOO_MANY_REQUESTS */
  async begin(): Promise<void> {
    this.#held.requireRoom();
    this.#holdBesides();
    await this.#look();
  }

  /** The same logs for an operation on another generation. */
  movedTo(operation: Operation, source: PodSource): void {
    this.#operation = operation;
    this.#source = source;
    this.#rightsAt = -1;
    this.#podsAt = -1;
  }

  /** Ends all requests. Idempotent. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    clearInterval(this.#relief);
    for (const followed of this.#read()) end(followed);
    this.#containers.clear();
    this.#leaving.clear();
    this.#held.release();
    this.#merge.wake();
  }

  /**
   * Runs until the signal aborts, the logs have ended or `check` throws. Does not close: the logs may move to another operation.
   * @param check runs before each message
   */
  async *messages(signal: AbortSignal, check: () => void): AsyncGenerator<LogMessage, void, undefined> {
    const { source, caller } = this.#operation;
    const { commits } = source;
    let sentAt = Number.NEGATIVE_INFINITY;
    while (!signal.aborted && !commits.closed && !this.#closed) {
      if (this.#failure !== null) throw this.#failure;
      requireValid(caller, source.now());
      check();
      const { wakes } = commits;
      if (!(await this.#lookIfDue(wakes))) {
        await this.#wait(times.betweenLooks, signal);
        continue;
      }
      const pause = sentAt + times.betweenMessages - source.monotonic();
      if (pause > 0 && this.#notices.length === 0 && this.#merge.weight < busyWeight) {
        await this.#sleep(pause, signal);
        if (commits.wakes !== wakes || signal.aborted) continue;
      }
      const lines: LogLine[] = [];
      const wait = this.#merge.take(lines, mostLines);
      const notices = this.#takeNotices();
      if (lines.length > 0 || notices.length > 0) {
        const taken = lines.reduce((sum, line) => sum + weightOf(line), 0);
        this.#held.add(taken);
        yield { notices, lines };
        this.#held.add(-taken);
        sentAt = source.monotonic();
        continue;
      }
      if (this.#isComplete()) return;
      await this.#wait(Math.min(wait ?? Number.POSITIVE_INFINITY, this.#untilLook(wakes), this.#untilRights()), signal);
    }
  }

  #isComplete(): boolean {
    if (!this.#merge.isEmpty || this.#notices.length > 0) return false;
    return this.#read().every(({ log }) => log.isOver) && (!this.#options.follow || this.#areAllOver);
  }

  /** Milliseconds until the next look for Pods: at once after a commit, but never more than its share of the time. */
  #untilLook(wakes: number): number {
    const { source } = this.#operation;
    const isNew = this.#podsAt !== wakes || source.commits.wakes !== wakes;
    const due = untilNextLook(this.#lookMs, isNew);
    return Math.max(1, due - (source.monotonic() - this.#lookedAt));
  }

  /** Milliseconds until the next look at rights, if nothing is sent before. */
  #untilRights(): number {
    const { source } = this.#operation;
    return Math.max(1, times.mostBetweenLooks - (source.monotonic() - this.#rightsLookedAt));
  }

  /** Resolves when lines, notices or a commit come, or after these milliseconds. */
  async #wait(ms: number, signal: AbortSignal): Promise<void> {
    const { commits } = this.#operation.source;
    const ends = new AbortController();
    const both = AbortSignal.any([signal, ends.signal]);
    const commit = commits.wakes === this.#podsAt ? [commits.changed(this.#podsAt, both)] : [];
    await Promise.race([this.#merge.more, ...commit, this.#sleep(ms, both)]);
    ends.abort(over);
  }

  #sleep(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      signal.addEventListener('abort', done, { once: true });
    });
  }

  /** False if the rights are not known now: then nothing may be sent. */
  async #lookIfDue(wakes: number): Promise<boolean> {
    const isDue = this.#untilLook(wakes) <= 1;
    const sends = wakes !== this.#rightsAt && (!this.#merge.isEmpty || this.#notices.length > 0);
    if (!isDue && !sends && this.#untilRights() > 1) return true;
    try {
      await this.#look(isDue);
      return true;
    } catch (error) {
      const { code, message } = error instanceof PortolanError ? error : { code: '', message: '' };
      if (code === 'FORBIDDEN') {
        this.#rightsAt = wakes;
        this.#podsAt = wakes;
        this.#lookedAt = this.#operation.source.monotonic();
        this.#rightsLookedAt = this.#lookedAt;
        for (const [key, followed] of this.#containers) this.#close(key, followed, code, message);
        for (const [key, followed] of this.#leaving) this.#drop(key, followed);
        return true;
      }
      if (code === '' || code === 'BAD_USER_INPUT' || code === 'QUERY_TOO_COSTLY') throw error;
      return false;
    }
  }

  /** @param isWhole looks for Pods too. Otherwise only at the rights to those that are followed. */
  async #look(isWhole = true): Promise<void> {
    const { source } = this.#operation;
    const { wakes } = source.commits;
    const [began, operation] = [source.monotonic(), this.#operation.detached()];
    const read = async (cells: readonly CellRead[]) => ({
      scopeIn: (of: string) => operation.viewIn(cells, of).scopeOf(podKey, 'get'),
      ...(isWhole ? await selectedPods(operation, cells, this.#source) : { pods: null, cost: 1 }),
    });
    const found = await operation.readCells(read, [], clustersOf(this.#source));
    source.logs.charge(operation.caller, found.cost);
    const allows = this.#allowed(operation, found.scopeIn);
    await this.#closeForbidden(allows);
    if (found.pods !== null) {
      await this.#update(found.pods, allows);
      this.#lookedAt = source.monotonic();
      this.#lookMs = this.#lookedAt - began;
      this.#lookedBefore = true;
      this.#podsAt = wakes;
    }
    this.#rightsAt = wakes;
    this.#rightsLookedAt = source.monotonic();
    this.#holdBesides();
  }

  /** Counts what is held besides lines. */
  #holdBesides(): void {
    const { subscription, container, notice } = heldBytes;
    const containers = Math.max(this.#lastTold.size, this.#points.size);
    const bytes = subscription + container * containers + notice * this.#notices.length;
    this.#held.add(bytes - this.#heldBesides);
    this.#heldBesides = bytes;
  }

  /** May the caller get the log of a Pod? Asked once for each Pod of a look. */
  #allowed({ source, caller }: Operation, scopeIn: (of: string) => Scope): (pod: Followed['pod']) => Promise<boolean> {
    const known = new Map<string, Promise<boolean>>();
    const ask = (cluster: string, namespace: string, name: string): Promise<boolean> => {
      const key = JSON.stringify([cluster, namespace, name]);
      const request = { verb: 'get', group: '', resource: 'pods', subresource: 'log', namespace, name };
      const answer = known.get(key) ?? source.rights.allows(caller, cluster, request).then((each) => each === true);
      known.set(key, answer);
      return answer;
    };
    return async ({ cluster, namespace, name }) => {
      if (!isVisible(scopeIn(cluster), { cluster, namespace, name })) return false;
      if (caller.user === null) return true;
      return (await ask(cluster, namespace ?? '', '')) || ask(cluster, namespace ?? '', name);
    };
  }

  async #closeForbidden(allows: (pod: Followed['pod']) => Promise<boolean>): Promise<void> {
    for (const [key, { log, queue }] of this.#leaving) if (log.isOver && queue.length === 0) this.#leaving.delete(key);
    const all = [...this.#containers];
    const gone = [...this.#leaving];
    const [allowed, goneAllowed] = await Promise.all([
      Promise.all(all.map(([, { pod }]) => allows(pod))),
      Promise.all(gone.map(([, { pod }]) => allows(pod))),
    ]);
    for (const [at, [key, followed]] of gone.entries()) if (goneAllowed[at] !== true) this.#drop(key, followed);
    for (const [at, [key, followed]] of all.entries()) {
      if (allowed[at] === true || this.#containers.get(key) !== followed) continue;
      this.#close(key, followed, 'FORBIDDEN', forbidden(followed.pod.name));
    }
  }

  /** The last lines of a Pod that has gone are not sent. The subscriber has the notice that it has gone. */
  #drop(key: string, followed: Followed): void {
    this.#discard(key, followed);
    this.#leaving.delete(key);
  }

  /** Its waiting lines are not sent. Another request for the log goes on with them. */
  #discard(key: string, followed: Followed): void {
    end(followed);
    const unsent = followed.queue.firstKey;
    if (unsent !== null) this.#points.of(key).backTo(unsent);
    this.#merge.discard(followed.queue);
  }

  #close(key: string, followed: Followed, code: string, message: string): void {
    this.#discard(key, followed);
    this.#containers.delete(key);
    this.#points.left(key, this.#containers);
    this.#tell(key, { ...followed.queue.place, type: 'REFUSED', message, code, count: null });
  }

  async #update(pods: readonly ObjectRow[], allows: (pod: Followed['pod']) => Promise<boolean>): Promise<void> {
    const seen = new Set<string>();
    this.#areAllOver = this.#source.by === 'ids' && this.#source.identities.every(({ key }) => key === podKey);
    const coming: Coming[] = [];
    const absent = new Set(this.#options.containers);
    for (const pod of pods) {
      const podOver = isOver(pod.body);
      if (!podOver) this.#areAllOver = false;
      for (const state of containersOf(pod.body, this.#options.containers)) {
        const key = `${pod.cluster}/${pod.uid}/${state.name}`;
        seen.add(key);
        absent.delete(state.name);
        const known = this.#containers.get(key);
        known?.log.update(state, podOver);
        if (known?.log.isOver === true && this.#mayTryAgain(known)) this.#forget(key, known);
        if (!this.#containers.has(key)) coming.push({ key, pod, state, podOver });
      }
    }
    if (!this.#lookedBefore) this.#notices.push(...nothingChosen(pods.length, absent));
    await this.#beginAll(coming, allows);
    for (const [key, followed] of this.#containers) if (!seen.has(key)) this.#left(key, followed);
    for (const key of this.#lastTold.keys()) if (!seen.has(key)) this.#lastTold.delete(key);
  }

  /** Asks for the rights to some at a time, and to none once no further log may be read. */
  async #beginAll(coming: readonly Coming[], allows: (pod: Followed['pod']) => Promise<boolean>): Promise<void> {
    let full: PortolanError | null = null;
    for (let at = 0; at < coming.length; at += askedTogether) {
      const some = coming.slice(at, at + askedTogether);
      const allowed: readonly boolean[] = full === null ? await Promise.all(some.map(({ pod }) => allows(pod))) : [];
      if (this.#closed) return;
      for (const [index, each] of some.entries()) {
        const { key, pod, state } = each;
        const place = { cluster: pod.cluster, namespace: pod.namespace ?? '', pod: pod.name, container: state.name };
        const refuse = (code: string, message: string): void =>
          this.#tell(key, { ...place, type: 'REFUSED', message, code, count: null });
        if (allowed[index] === false) {
          refuse('FORBIDDEN', forbidden(pod.name));
          continue;
        }
        full ??= this.#begin(each, place);
        if (full !== null) refuse(full.code, full.message);
      }
    }
  }

  /** A refused request is sent again after a while: rights may have come to the API server later than to the tables. */
  #mayTryAgain({ log, begunAt }: Followed): boolean {
    const isLate = this.#operation.source.monotonic() - begunAt > times.again;
    return log.isRefused && this.#options.follow && isLate;
  }

  #forget(key: string, followed: Followed): void {
    followed.leave();
    this.#containers.delete(key);
  }

  /** @returns why no further log may be read */
  #begin({ key, pod, state, podOver }: Coming, place: LogPlace): PortolanError | null {
    const { source, caller } = this.#operation;
    // It has come back before its last lines were over. Its place is free then.
    const leaving = this.#leaving.get(key);
    if (leaving !== undefined) this.#drop(key, leaving);
    let leave: () => void;
    try {
      this.#held.requireRoom();
      leave = source.logs.enter(caller);
    } catch (error) {
      if (!(error instanceof PortolanError)) throw error;
      return error;
    }
    const queue = this.#merge.open(place);
    const log = new ContainerLog(
      {
        queue,
        point: this.#points.of(key),
        merge: this.#merge,
        options: this.#options,
        condition: this.#condition,
        isWhole: this.#lookedBefore && this.#isNew(pod),
        monotonic: source.monotonic,
        client: () => this.#operation.upstreamClient(pod.cluster),
        tell: (notice) => this.#tell(key, notice),
        count: (bytes) => this.#count(bytes),
      },
      state,
      podOver,
    );
    const { cluster, namespace, name, uid } = pod;
    this.#containers.set(key, {
      ...{ log, queue, leave },
      pod: { cluster, namespace, name, uid },
      begunAt: source.monotonic(),
    });
    void log.run().finally(leave);
    return null;
  }

  /** Was the Pod made after the subscription? The clock of the API server may be another one. */
  #isNew({ body }: ObjectRow): boolean {
    const made = Date.parse(
      String((body as { metadata?: { creationTimestamp?: unknown } }).metadata?.creationTimestamp),
    );
    return Number.isNaN(made) || made >= this.#since - clockDifferenceMs;
  }

  /** The Pod has gone, or is not chosen any more. The last lines of a deleted Pod may still come. */
  #left(key: string, followed: Followed): void {
    const { log, queue } = followed;
    this.#containers.delete(key);
    this.#leaving.set(key, followed);
    this.#points.left(key, this.#containers);
    const message = 'The Pod has gone, or is not chosen any more.';
    this.#tell(key, { ...queue.place, type: 'LEFT', message, code: null, count: null });
    setTimeout(() => end(followed), times.lastLines).unref();
    log.update({ name: queue.place.container, instance: null, isRunning: false, end: null }, true);
  }

  #read(): readonly Followed[] {
    return [...this.#containers.values(), ...this.#leaving.values()];
  }

  /** Charges what is read, also while the subscriber takes nothing. At the bound of the caller, all requests end. */
  #count(bytes: number): void {
    if (this.#failure !== null) return;
    const { source, caller } = this.#operation;
    try {
      source.logs.charge(caller, Math.ceil(bytes / bytesOfValue));
    } catch (error) {
      this.#failure = error;
      for (const followed of this.#read()) end(followed);
      this.#merge.wake();
    }
  }

  #tell(key: string, notice: LogNotice): void {
    // A container whose request is refused again and again is reported once. Without room now, the next look reports it.
    if (notice.type === 'REFUSED' && this.#lastTold.get(key) === 'REFUSED') return;
    if (this.#notices.length < mostNotices) {
      this.#lastTold.set(key, notice.type);
      this.#notices.push(notice);
      this.#holdBesides();
    }
    this.#merge.wake();
  }

  #takeNotices(): readonly LogNotice[] {
    const leftOut = this.#merge.leftOut().map(([place, count]): LogNotice => {
      const message = `${count} lines were left out, because nothing was taken for too long.`;
      return { ...place, type: 'LEFT_OUT', message, code: null, count };
    });
    return [...leftOut, ...this.#notices.splice(0)];
  }
}

const clockDifferenceMs = 60_000;

/** Milliseconds between two looks for Pods. @param lookMs what the last one took @param isNew was anything committed since? */
function untilNextLook(lookMs: number, isNew: boolean): number {
  return Math.max(isNew ? times.betweenLooks : times.mostBetweenLooks, lookMs * lookShare);
}

/** The reason of every end. */
const over = new Error('the wait is over');

function end({ log, leave }: Followed): void {
  log.stop();
  leave();
}

function forbidden(pod: string): string {
  return `You may not get the log of the Pod ${pod}; ask for a role that allows get on pods/log.`;
}
