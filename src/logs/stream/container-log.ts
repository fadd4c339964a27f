/**
 * Reads the log of one container, over all its instances.
 *
 *   status has an instance -> BEGAN -> GET …/log?follow -> lines … -> the body ends
 *     the status says that the instance has ended       -> ENDED    -> waits for the next instance -> RESTARTED -> GET …
 *     the status says that it runs                      -> the status is late, or the kubelet was restarted: GET … from the last line
 *     the connection is lost                            -> INTERRUPTED -> GET … from the last line (resume-point.ts)
 *     and the container has started again meanwhile     -> GET …?previous from the last line -> RESTARTED -> GET …
 *     and the status does not say so yet                -> GET … from the last line is answered, by the next instance; before it is read:
 *                                                          GET …?previous from the last line has that line -> RESTARTED
 *     401, 403                                          -> REFUSED, and no further request before `retry`
 *
 * An API server whose kubelet goes away ends the body as if the log were complete, perhaps inside a line. So the beginning of a line waits.
 * Either the next answer has the whole line, or the container has ended and its last line has no end.
 *
 * Owns: at most one request at a time. While the answer of a request that was sent again waits, it owns one with `previous` too. Never:
 * another identity than the caller's, or the order of lines of one log.
 */
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf, PortolanError } from '../../base/errors.ts';
import { ApiError } from '../../kube/http/api-error.ts';
import { resourcePath } from '../../kube/http/resource-path.ts';
import type { CallerClient } from '../../upstream/caller-clients.ts';
import type { LineCondition } from '../lines/line-condition.ts';
import { LineReader } from '../lines/line-reader.ts';
import { timeKey, timeOf } from '../lines/log-time.ts';
import type { ResumePoint } from '../lines/resume-point.ts';
import type { LogOptions } from '../pods/log-request.ts';
import type { ContainerState } from '../pods/pod-containers.ts';
import { BodyReader } from './body-reader.ts';
import type { LineQueue } from './line-queue.ts';
import type { LogMerge } from './log-merge.ts';
import type { LogNotice } from './log-message.ts';
import { ReadingTurns } from './reading-turns.ts';

const pods = { group: '', version: 'v1', plural: 'pods', namespaced: true };

/** Milliseconds. A follower of a silent container gets no headers before the first line. */
const headersMs = 30_000;
const silenceMs = 30_000;
/** Milliseconds before a request is sent again: the first time, and at most. */
const againMs = { first: 500, most: 5000 };

/** Milliseconds that a request may need to the kubelet. An API server that has just started is slow. */
const onTheWayMs = 10_000;

interface ContainerLogParts {
  readonly queue: LineQueue;
  readonly merge: LogMerge;
  readonly point: ResumePoint;
  readonly options: LogOptions;
  readonly condition: LineCondition | null;
  /** Lines before the first request do not count: the Pod joined later. */
  readonly isWhole: boolean;
  /** Milliseconds. */
  readonly monotonic: () => number;
  client(): Promise<CallerClient>;
  tell(notice: LogNotice): void;
  /** Counts bytes that were read. */
  count(bytes: number): void;
}

/** Of the process, because the thread is. */
const turns = new ReadingTurns();

/** `absent`: the API server has no such log (yet). */
type Outcome = 'ended' | 'lost' | 'absent' | 'refused';

export class ContainerLog {
  readonly #parts: ContainerLogParts;
  readonly #stop = new AbortController();
  #state: ContainerState;
  /** Is the Pod's end final? No further instance comes then. */
  #isPodOver = false;
  #changed = Promise.withResolvers<void>();
  /** The log of the instance that is read is complete. */
  #isDone = false;
  /** The beginning of a line at the end of an answer, with the key of its time. The key is empty for a part of a time. */
  #cut: { readonly key: string; readonly reader: LineReader } | null = null;
  /** Did the last answer end although the status does not say that its instance has? */
  #hasEndedEarly = false;
  /** May the answer that is read be the log of the next instance? Then the status shows it. Otherwise a line did. */
  #mayBeNext = false;
  /** Is the next request one more for a log that was asked for before? */
  #isAgain: boolean;
  #failures = 0;
  #failure: unknown = null;
  #hasBegun = false;
  /** The key of the last line with a time. */
  #key = '';
  #isInterrupted = false;
  #isOver = false;
  #isRefused = false;

  constructor(parts: ContainerLogParts, state: ContainerState, isPodOver: boolean) {
    this.#parts = parts;
    this.#state = state;
    this.#isPodOver = isPodOver;
    this.#isAgain = parts.point.askedAt !== null;
  }

  /** Another request for the same log goes on with it (followed-logs.ts). */
  get #instance(): number | null {
    return this.#parts.point.instance;
  }

  set #instance(instance: number | null) {
    this.#parts.point.instance = instance;
  }

  /** Is nothing more to come? */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Is it over because a request was refused? */
  get isRefused(): boolean {
    return this.#isRefused;
  }

  /** The newest state of the container. */
  update(state: ContainerState, isPodOver: boolean): void {
    const { instance, isRunning } = this.#state;
    const isSame = instance === state.instance && isRunning === state.isRunning && isPodOver === this.#isPodOver;
    this.#state = state;
    this.#isPodOver = isPodOver;
    this.#noteNext();
    if (!isSame) this.#changed.resolve();
  }

  /** The answer is the log of the next instance if the status has one. */
  #noteNext(): void {
    if (!this.#mayBeNext || (this.#state.instance ?? 0) <= (this.#instance ?? 0)) return;
    this.#ended('The container has ended.');
    this.#restarted();
  }

  /** Is the status older than the log? Any other lower number is that of a restart: a node that was restarted may count from 0 again. */
  get #isStatusLate(): boolean {
    const { lateInstance } = this.#parts.point;
    const newest = this.#state.instance ?? 0;
    return lateInstance !== null && lateInstance <= newest && newest < (this.#instance ?? 0);
  }

  /** Ends the request. Idempotent. */
  stop(): void {
    this.#stop.abort(over);
    this.#changed.resolve();
  }

  /** Runs until the log is over or `stop`. Never rejects. */
  async run(): Promise<void> {
    const { queue, merge } = this.#parts;
    queue.isResting = this.#state.instance === null;
    try {
      while (!this.#stop.signal.aborted && (await this.#step()));
    } catch (error) {
      if (!this.#stop.signal.aborted) this.#refused(error);
    }
    if (!this.#isRefused && !this.#stop.signal.aborted) this.#endLine();
    this.#isOver = true;
    merge.end(queue);
  }

  /** False when nothing more is to come. */
  async #step(): Promise<boolean> {
    const { options, point } = this.#parts;
    const { instance } = this.#state;
    if (options.previous) return this.#once({ previous: true });
    const own = this.#instance;
    const isLate = this.#isStatusLate;
    if (instance !== null && !isLate) point.lateInstance = null;
    if (instance === null || (this.#isDone && (isLate || instance === own))) {
      if (!options.follow || this.#isPodOver) {
        if (instance === null && !options.follow) this.#refused(notStarted());
        return false;
      }
      await this.#change();
      return true;
    }
    if (!options.follow) return this.#once({});
    if (own !== null && own !== instance && !isLate) {
      if (!this.#isDone && (await this.#request({ ...this.#next(), previous: true })) === 'lost') {
        return this.#again('lost');
      }
      if (!this.#isDone) this.#ended('The container has ended.');
      this.#restarted();
      point.onlyLater();
      return this.#follow({});
    }
    this.#instance ??= instance;
    return this.#follow(this.#next());
  }

  /** The request goes on after the last line. Before the first one, it is what the caller asks. */
  #next(): Readonly<Record<string, string | number>> {
    const { point } = this.#parts;
    if (point.since === null) return this.#asked();
    point.resume();
    return { sinceTime: point.since };
  }

  /** The newest instance is read from now on. */
  #restarted(instance = this.#state.instance): void {
    const times = (instance ?? 0) - (this.#instance ?? 0);
    this.#tell('RESTARTED', `The container has started again${times > 1 ? `, ${times} times` : ''}.`);
    this.#instance = instance;
    this.#isDone = false;
    this.#mayBeNext = false;
    this.#isAgain = false;
  }

  /**
   * The caller's arguments for the first request. If it is sent again, it asks for the lines since then too. The time between is in seconds
   * of this clock, because the kubelet compares times with its own one. The kubelet counts back from when the request has come.
   */
  #asked(): Readonly<Record<string, string | number>> {
    const { options, point, isWhole, monotonic } = this.#parts;
    const { since, tail } = isWhole ? { since: null, tail: null } : options;
    point.begin(since === null && tail === null);
    const now = monotonic();
    const { askedAt } = point;
    point.askedAt ??= now;
    const seconds = askedAt === null ? 0 : Math.ceil((now - askedAt + onTheWayMs) / 1000);
    if (tail === 0 && askedAt !== null) return { sinceSeconds: seconds };
    return {
      ...(since === null
        ? {}
        : 'time' in since
          ? { sinceTime: since.time }
          : { sinceSeconds: since.seconds + seconds }),
      ...(tail === null ? {} : { tailLines: tail }),
    };
  }

  /** Without `follow`. */
  async #once(more: Readonly<Record<string, boolean>>): Promise<boolean> {
    this.#instance ??= this.#state.instance ?? 0;
    const outcome = await this.#request({ ...this.#next(), ...more });
    if (outcome === 'lost' && this.#failures < mostFailures) return this.#again(outcome);
    if (outcome === 'lost' || outcome === 'absent') this.#refused(this.#failure);
    if (outcome === 'ended') this.#ended('The log is complete.');
    return false;
  }

  async #follow(query: Readonly<Record<string, string | number>>): Promise<boolean> {
    const outcome = await this.#request({ ...query, follow: true });
    this.#hasEndedEarly = false;
    this.#mayBeNext = false;
    if (this.#stop.signal.aborted) return false;
    if (outcome === 'refused') return false;
    if (outcome === 'ended') {
      const state = this.#state;
      const isLate = this.#isStatusLate && !this.#isPodOver;
      if (isLate || (state.instance === this.#instance && state.isRunning)) {
        this.#hasEndedEarly = true;
        return this.#again(outcome);
      }
      this.#isDone = true;
      this.#ended(endOf(state, this.#instance));
      return true;
    }
    return this.#again(outcome);
  }

  /** Waits before the next request. */
  async #again(outcome: Outcome): Promise<boolean> {
    if (outcome === 'lost' && !this.#isInterrupted) {
      this.#isInterrupted = true;
      const failure = this.#failure;
      this.#tell('INTERRUPTED', failure instanceof Error ? failure.message : String(failure), codeFor(failure));
    }
    this.#isAgain = true;
    const ms = Math.min(againMs.first * 2 ** this.#failures, againMs.most);
    this.#failures += 1;
    await this.#change(ms);
    return true;
  }

  /** Resolves with a change of the container, at the end, or after these milliseconds. */
  async #change(ms: number | null = null): Promise<void> {
    this.#parts.merge.rest(this.#parts.queue);
    if (this.#stop.signal.aborted) return;
    const ends = new AbortController();
    const timer = ms === null ? [] : [sleep(ms, null, { signal: ends.signal }).catch(() => {})];
    await Promise.race([this.#changed.promise, ...timer]);
    ends.abort(over);
    this.#changed = Promise.withResolvers<void>();
  }

  /** Reads one answer to its end. */
  async #request(query: Readonly<Record<string, string | number | boolean>>): Promise<Outcome> {
    const { queue, merge } = this.#parts;
    const { signal } = this.#stop;
    const own = this.#instance;
    merge.opening(queue);
    try {
      const body = await this.#open(query);
      if (!this.#hasBegun) this.#tell('BEGAN', 'The log of the container begins.');
      this.#hasBegun = true;
      if (this.#isAgain && query['previous'] !== true) {
        await this.#readMissed(body);
        this.#mayBeNext = this.#hasEndedEarly && this.#instance === own;
        this.#noteNext();
      }
      const reader = new LineReader((line, leftOut) => this.#line(line, leftOut));
      await this.#read(body, reader);
      this.#keepCut(reader);
      this.#failures = 0;
      return 'ended';
    } catch (error) {
      if (signal.aborted) return 'lost';
      this.#failure = error;
      if (isRefusal(error)) {
        this.#refused(error);
        return 'refused';
      }
      return error instanceof ApiError && error.httpStatus === 400 ? 'absent' : 'lost';
    } finally {
      merge.rest(queue);
    }
  }

  async #open(query: Readonly<Record<string, string | number | boolean>>): Promise<Readable> {
    const { queue, client } = this.#parts;
    const { namespace, pod, container } = queue.place;
    const follows = query['follow'] === true;
    const { body } = await (await client()).stream(
      resourcePath(pods, namespace, pod, 'log'),
      { container, timestamps: true, ...query },
      {
        accept: '*/*',
        signal: this.#stop.signal,
        headersTimeoutMs: follows ? 0 : headersMs,
        bodyTimeoutMs: follows ? 0 : silenceMs,
      },
    );
    return body;
  }

  #read(body: Readable, reader: LineReader): Promise<void> {
    const { queue, merge, condition, count: arrived } = this.#parts;
    const { signal } = this.#stop;
    const bodyReader = new BodyReader({
      ...{ body, signal, arrived, turns: condition === null ? null : turns },
      read: (piece) => {
        reader.read(piece);
        merge.pushed(queue);
      },
    });
    merge.opened(queue, bodyReader);
    return bodyReader.run();
  }

  /**
   * Another request is answered with the log of the next instance if the container has started again, whatever the status says. Then the
   * lines of the former one that were not read come first. They are requested when the answer is there, so no instance is between.
   * @param answer is destroyed if it cannot be read
   */
  async #readMissed(answer: Readable): Promise<void> {
    const { point } = this.#parts;
    const { latest, since } = point;
    // Without a line of this instance before, a line of an older one can be told from it only if there is no older one.
    if (since === null ? this.#instance !== 0 : point.instanceOfLatest !== this.#instance) return;
    let isOfFormer = false;
    const reader = new LineReader((line, leftOut) => {
      const key = timeKey(timeOf(line));
      // The lines of an older instance are earlier. Those of this one begin in the second of the latest line, so that line is among them.
      if (key !== null && key >= latest) isOfFormer = true;
      if (isOfFormer) this.#line(line, leftOut);
      else if (key !== null) point.passOver(key);
    });
    // The answer may be cut off meanwhile. Its reader finds out.
    answer.on('error', () => {});
    try {
      const query = since === null ? this.#asked() : { sinceTime: since };
      await this.#read(await this.#open({ ...query, previous: true }), reader);
      reader.end();
    } catch (error) {
      if (!(error instanceof ApiError && (error.httpStatus === 400 || error.httpStatus === 404))) {
        answer.destroy();
        throw error;
      }
    }
    if (!isOfFormer) {
      if (since !== null) point.resume();
      return;
    }
    point.onlyLater();
    this.#ended('The container has ended.');
    point.lateInstance ??= this.#state.instance ?? 0;
    this.#restarted(Math.max(this.#state.instance ?? 0, (this.#instance ?? 0) + 1));
  }

  #line(line: string, leftOut: number): void {
    const { queue, merge, point, condition } = this.#parts;
    const time = timeOf(line);
    const key = timeKey(time);
    const isTimed = key !== null;
    if (isTimed) this.#reached(key);
    const text = isTimed ? line.slice(time.length + 1) : line;
    if (isTimed) {
      if (!point.take(key)) {
        // Of the instance that was read before.
        this.#mayBeNext = false;
        return;
      }
      this.#key = key;
      point.instanceOfLatest = this.#instance;
    }
    this.#isInterrupted = false;
    this.#failures = 0;
    if (condition !== null && !condition(text)) return;
    const { cluster, namespace, pod, container } = queue.place;
    const kept = condition === null ? (each: string): string => each : flat;
    const made = { cluster, namespace, pod, container, time: isTimed ? kept(time) : null, text: kept(text), leftOut };
    merge.push(queue, kept(this.#key), made);
  }

  /** The body has ended, perhaps inside a line. */
  #keepCut(reader: LineReader): void {
    const [time = '', ...text] = reader.begun.split(' ');
    if (time === '') return;
    const key = timeKey(time);
    // A message of the kubelet.
    if (key === null && text.length > 0) {
      reader.end();
      return;
    }
    if (key !== null) this.#reached(key);
    this.#cut = { key: key ?? '', reader };
  }

  /** A line of this time has come. The line that was cut off is this one, or the last one of an instance. */
  #reached(key: string): void {
    const cut = this.#cut;
    if (cut === null || key < cut.key) return;
    this.#cut = null;
    if (key > cut.key && cut.key !== '') cut.reader.end();
  }

  /** No more comes of the line whose beginning waits. */
  #endLine(): void {
    const cut = this.#cut;
    this.#cut = null;
    cut?.reader.end();
  }

  #ended(message: string): void {
    this.#endLine();
    this.#tell('ENDED', message);
  }

  #refused(error: unknown): void {
    this.#isRefused = true;
    const isFirst = messageOf(error).includes('previous terminated container');
    const why = isFirst ? notStarted('again', ' from before') : error;
    this.#tell('REFUSED', messageOf(why), codeFor(why));
  }

  #tell(type: LogNotice['type'], message: string, code: string | null = null): void {
    if (this.#stop.signal.aborted) return;
    this.#parts.tell({ ...this.#parts.queue.place, type, message, code, count: null });
  }
}

/** Requests without `follow` that may fail one after the other. */
const mostFailures = 3;

/** A copy of its own. A part of a string keeps the whole string in memory, here that of a piece of which most lines are dropped. */
function flat(text: string): string {
  return Buffer.from(text).toString();
}

/** The reason of every end. Without one, each abort makes an error with a stack. */
const over = new Error('the log is over');

/** Would the same request be refused again? A container that waits for its start, and a lost server, are no refusals. */
function isRefusal(error: unknown): boolean {
  if (error instanceof ApiError)
    return error.httpStatus === 401 || error.httpStatus === 403 || error.httpStatus === 404;
  return error instanceof PortolanError && (error.code === 'FORBIDDEN' || error.code === 'UNAUTHENTICATED');
}

function codeFor(error: unknown): string {
  return error instanceof PortolanError ? error.code : 'UPSTREAM_UNAVAILABLE';
}

function notStarted(when = 'yet', which = ''): PortolanError {
  return new PortolanError('NOT_FOUND', `The container has not started ${when}, so it has no log${which}.`);
}

function endOf({ instance: newest, end }: ContainerState, instance: number | null): string {
  if (end === null || newest !== instance) return 'The container has ended.';
  return `The container has ended with the exit code ${end.exitCode}${end.reason === '' ? '' : ` (${end.reason})`}.`;
}
