/**
 * One WATCH: opens it at a resourceVersion, reads its lines and applies them in batches.
 *
 *   request (or the rest of a streaming list) -> headers -> chunk -> lines -> a batch -> Writer.apply (one commit) -> next chunk
 *
 * The resourceVersion moves only with a commit or a bookmark, in stream order. Events before an unreadable line or an ERROR
 * are kept. Nothing is read while a batch is applied: the socket fills and TCP slows the server down, so no queue exists.
 *
 * A stop aborts the stream, and the server may close it. This side ends a watch that is silent or whose time is up. The
 * next watch may also take over (watch-rollover.ts).
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { PortolanError } from '../../base/errors.ts';
import { compareResourceVersions, laterResourceVersion } from '../../catalog/resources/resource-version.ts';
import { ApiError } from '../../kube/http/api-error.ts';
import type { IncomingEvent } from '../../store/types/incoming-object.ts';
import { ProtocolError } from '../bytes/protocol-error.ts';
import { readWatchLine } from '../bytes/watch-events.ts';
import type { ReflectorContext } from '../context/reflector-context.ts';
import { storeError } from '../flow/failure.ts';
import { headersMs, openWatch, readFailure, secondLookMs } from './opened-watch.ts';
import { ReplayedEvents } from './replayed-events.ts';
import { type BegunWatch, WatchRollover } from './watch-rollover.ts';

/** Progress of a reflector's watches; it outlives each watch. */
export interface WatchPosition {
  resourceVersion: string;
  /** The listed objects lack a uid: events may lack it too. */
  bare: boolean;
}

export interface WatchHooks {
  /** The server has accepted the watch. */
  opened(): void;
  /** Called with the number of committed events; 0 for a bookmark. */
  took(events: number): void;
  /** Bookmarks are overdue: the connection may be dead, and the rows may be outdated. Called again after each further silence. */
  silent(): void;
}

/** A watch that ended without an error: the lines received, and its duration in milliseconds since the headers. */
interface WatchEnd {
  readonly lines: number;
  readonly lastedMs: number;
  /** The watch that takes over. The receiver continues or releases it. */
  readonly next: BegunWatch | null;
}

/**
 * Watches until the stream ends; rejects with the failure, or on a stop with the signal's reason.
 * @param begun a stream that is already open, or the milliseconds that a new one may take until its headers
 */
export async function watchCollection(
  context: ReflectorContext,
  position: WatchPosition,
  stop: AbortSignal,
  hooks: WatchHooks,
  begun: BegunWatch | number,
): Promise<WatchEnd> {
  const open = async (answerMs: number): Promise<BegunWatch> => {
    const { resourceVersion } = position;
    return { watch: await openWatch(context, { resourceVersion }, stop, answerMs), applied: new Set() };
  };
  const from = typeof begun === 'number' ? await open(begun) : begun;
  return new Watch(context, position, stop, hooks, from).run();
}

/**
 * Bookmarks of a watch after which more are expected. Servers promise none: those of Events come from etcd, about every ten minutes, so
 * that a watch has one at most.
 */
const promisingBookmarks = 2;

/** Reasons for which this side ends a watch without a failure. */
const timeIsUp = new Error('the time of the watch is up');
const rolledOver = new Error('the watch was handed over to the next');

class Watch {
  readonly #context: ReflectorContext;
  readonly #position: WatchPosition;
  readonly #stop: AbortSignal;
  readonly #hooks: WatchHooks;
  readonly #opened: BegunWatch['watch'];
  readonly #replayed: ReplayedEvents;
  readonly #rollover = new WatchRollover();
  #lastBytesAt: number;
  /** Bookmarks of this watch. */
  #bookmarks = 0;
  #lines = 0;

  constructor(
    context: ReflectorContext,
    position: WatchPosition,
    stop: AbortSignal,
    hooks: WatchHooks,
    { watch, applied }: BegunWatch,
  ) {
    this.#context = context;
    this.#position = position;
    this.#stop = stop;
    this.#hooks = hooks;
    this.#opened = watch;
    this.#replayed = new ReplayedEvents(applied);
    this.#lastBytesAt = context.clock.monotonic();
  }

  async run(): Promise<WatchEnd> {
    const { openedAt } = this.#opened;
    try {
      void this.#guard();
      void this.#handOver();
      this.#hooks.opened();
      await this.#read();
      const lastedMs = this.#context.clock.monotonic() - openedAt;
      return { lines: this.#lines, lastedMs, next: await this.#rollover.next() };
    } catch (error) {
      this.#rollover.giveUp();
      throw error;
    } finally {
      this.#opened.release();
    }
  }

  async #read(): Promise<void> {
    const { chunks, cut, framer, lines, what } = this.#opened;
    try {
      await this.#take(lines);
      for await (const chunk of chunks) {
        this.#lastBytesAt = this.#context.clock.monotonic();
        await this.#take(framer.push(chunk));
      }
    } catch (error) {
      const { reason } = cut.signal;
      if (!this.#stop.aborted && (reason === timeIsUp || reason === rolledOver)) return;
      throw readFailure(error, this.#opened, this.#stop);
    }
    if (cut.signal.reason !== rolledOver && framer.pending > 0)
      throw new ProtocolError('truncated', `${what} ended in the middle of a line.`);
  }

  async #take(lines: Iterable<Buffer>): Promise<void> {
    const { resource, settings } = this.#context;
    let events: IncomingEvent[] = [];
    let versions: string[] = [];
    let reached: string | null = null;
    const flush = (): void => {
      if (reached !== null && !this.#stop.aborted) this.#commit(events, versions, reached);
      events = [];
      versions = [];
      reached = null;
    };
    try {
      for (const line of lines) {
        this.#lines += 1;
        const message = readWatchLine(line, resource, this.#opened.what, this.#position.bare);
        if (message.type === 'error') throw message.error;
        if (message.type === 'bookmark') this.#onBookmark();
        if (this.#replayed.has(message)) continue;
        // A replayed older event does not undo a newer one.
        reached = laterResourceVersion(reached, message.resourceVersion);
        if (message.type === 'event') {
          events.push(message.event);
          versions.push(message.resourceVersion);
        }
        if (events.length < settings.batchEvents) continue;
        flush();
        await nextTurn();
      }
    } finally {
      flush();
    }
  }

  #commit(events: readonly IncomingEvent[], versions: readonly string[], reached: string): void {
    const { writer, handle, seen } = this.#context;
    try {
      if (events.length === 0) writer.bookmark(handle, reached);
      else writer.apply(handle, events, reached);
    } catch (error) {
      const known = error instanceof PortolanError ? error.details['resourceVersion'] : undefined;
      if (typeof known === 'string') this.#position.resourceVersion = known;
      throw storeError(error);
    }
    // The known version never decreases, neither by a replay nor by a restored storage. A lower version would hide the loss of newer
    // objects.
    if ((compareResourceVersions(reached, this.#position.resourceVersion) ?? 1) > 0) {
      this.#position.resourceVersion = reached;
    }
    this.#rollover.note(versions);
    if (events.length > 0) seen?.(events.map(({ type, object }) => ({ object, deleted: type === 'DELETED' })));
    this.#hooks.took(events.length);
  }

  #onBookmark(): void {
    this.#context.bookmarks.seen = true;
    this.#bookmarks += 1;
  }

  /** Bookmarks come regularly, so silence is a failure. */
  get #isPromised(): boolean {
    return this.#bookmarks >= promisingBookmarks;
  }

  /** Opens the next watch shortly before the end of this one, then ends this one. */
  async #handOver(): Promise<void> {
    const { clock, settings } = this.#context;
    const { cut, endsAt, openedAt } = this.#opened;
    if (endsAt - openedAt <= 2 * settings.rolloverMs) return;
    await clock.sleep(endsAt - settings.rolloverMs - clock.monotonic(), cut.signal).catch(() => {});
    // A watch without any line is suspect: its version may be newer than the server's.
    if (cut.signal.aborted || this.#lines === 0) return;
    const { resourceVersion } = this.#position;
    const open = (signal: AbortSignal) => openWatch(this.#context, { resourceVersion }, signal, headersMs);
    if (await this.#rollover.begin(open, this.#stop)) cut.abort(rolledOver);
  }

  /** Ends the watch when its time is up or it is silent. Reports silence before that. Uses monotonic time only: wall clocks jump. */
  async #guard(): Promise<void> {
    const { bookmarks, clock, settings } = this.#context;
    const { cut, deadline, what } = this.#opened;
    const { signal } = cut;
    const quietMs = Math.min(settings.quietMs, settings.idleMs);
    let [suspectedAt, silentAt] = [-1, -1];
    while (!signal.aborted) {
      const now = clock.monotonic();
      if (now >= deadline) return cut.abort(timeIsUp);
      const silentMs = now - this.#lastBytesAt;
      // Without regular bookmarks, silence may be normal. Where other watches have bookmarks, the watch is opened again, which shows
      // whether the connection lives.
      if (bookmarks.seen && !this.#isPromised && silentMs >= settings.idleMs) return cut.abort(timeIsUp);
      if (this.#isPromised && silentMs >= quietMs && silentAt !== this.#lastBytesAt) {
        silentAt = this.#lastBytesAt;
        this.#hooks.silent();
      }
      const suspicious = bookmarks.seen || this.#isPromised;
      const limit = suspicious && silentMs >= quietMs ? settings.idleMs : quietMs;
      // While no watch has had a bookmark, only a look from time to time is needed.
      let wait = Math.min(deadline - now, suspicious ? limit - silentMs : quietMs);
      if (this.#isPromised && silentMs >= settings.idleMs) {
        if (suspectedAt === this.#lastBytesAt) return cut.abort(silence(what, settings.idleMs));
        suspectedAt = this.#lastBytesAt;
        wait = secondLookMs;
      }
      await clock.sleep(Math.max(1, wait), signal).catch(() => {});
    }
  }
}

function silence(what: string, idleMs: number): ApiError {
  return new ApiError({
    code: 'UPSTREAM_UNAVAILABLE',
    httpStatus: 0,
    reason: 'idle',
    message: `${what} was silent for ${Math.round(idleMs / 1000)} s although it had sent bookmarks: the connection is treated as dead.`,
  });
}
