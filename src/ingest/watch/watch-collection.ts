/**
 * One WATCH: opens it at a resourceVersion, reads its lines and applies them in batches.
 *
 *   request (or the rest of a streaming list) -> headers -> chunk -> lines -> a batch -> Writer.apply (one commit) -> the next chunk is taken from the socket
 *
 * The resourceVersion moves only with a commit (or a bookmark), in stream order. Events before a line that cannot be understood, or
 * before an ERROR, are kept. While a batch is applied nothing is read, so the socket fills and TCP slows the server down: there is
 * no queue. The stream ends by the server, by its own end of time, by silence, by a stop, or by being handed over to the next
 * (watch-rollover.ts).
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
import { openWatch, readFailure, secondLookMs } from './opened-watch.ts';
import { ReplayedEvents } from './replayed-events.ts';
import { type BegunWatch, WatchRollover } from './watch-rollover.ts';

/** How far a reflector's watches have come; survives them. */
export interface WatchPosition {
  resourceVersion: string;
  /** Bookmarks have been seen: from then on silence means something. */
  sawBookmark: boolean;
}

export interface WatchHooks {
  /** The server has accepted the watch. */
  opened(): void;
  /** So many events were committed; none: a bookmark. */
  took(events: number): void;
}

/** A watch that ended without an error: lines that came, and milliseconds it lasted from its headers on. */
interface WatchEnd {
  readonly lines: number;
  readonly lastedMs: number;
  /** The watch that takes over; whoever gets it goes on with it or releases it. */
  readonly next: BegunWatch | null;
}

/**
 * Watches until the stream ends; rejects with what failed. On a stop it rejects with the signal's reason. With `begun` it goes on
 * with a stream that is open already.
 */
export async function watchCollection(
  context: ReflectorContext,
  position: WatchPosition,
  stop: AbortSignal,
  hooks: WatchHooks,
  begun: BegunWatch | null = null,
): Promise<WatchEnd> {
  const { resourceVersion } = position;
  const from = begun ?? { watch: await openWatch(context, { resourceVersion }, stop), applied: new Set<string>() };
  return new Watch(context, position, stop, hooks, from).run();
}

/** Why this side ends a watch without an error of the server. */
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
        const message = readWatchLine(line, resource, this.#opened.what);
        if (message.type === 'error') throw message.error;
        if (message.type === 'bookmark') this.#position.sawBookmark = true;
        if (this.#replayed.has(message)) continue;
        // A replay behind a newer event does not take it back.
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
    // A replay, or a server whose storage went back, does not lower what is known: what was lost would never be noticed.
    if ((compareResourceVersions(reached, this.#position.resourceVersion) ?? 1) > 0) {
      this.#position.resourceVersion = reached;
    }
    this.#rollover.note(versions);
    if (events.length > 0) seen?.(events.map(({ type, object }) => ({ object, deleted: type === 'DELETED' })));
    this.#hooks.took(events.length);
  }

  /** Opens the next watch shortly before the end of this one, and leaves this one for it. */
  async #handOver(): Promise<void> {
    const { clock, settings } = this.#context;
    const { cut, endsAt, openedAt } = this.#opened;
    if (endsAt - openedAt <= 2 * settings.rolloverMs) return;
    await clock.sleep(endsAt - settings.rolloverMs - clock.monotonic(), cut.signal).catch(() => {});
    // A watch that has brought nothing is doubted first: nothing is known to be new at its version.
    if (cut.signal.aborted || this.#lines === 0) return;
    const { resourceVersion } = this.#position;
    const open = (signal: AbortSignal) => openWatch(this.#context, { resourceVersion }, signal);
    if (await this.#rollover.begin(open, this.#stop)) cut.abort(rolledOver);
  }

  /** Ends the watch at its end of time, or when it has fallen silent. Monotonic time only: wall clocks jump. */
  async #guard(): Promise<void> {
    const { clock, settings } = this.#context;
    const { cut, deadline, what } = this.#opened;
    const { signal } = cut;
    let suspectedAt = -1;
    while (!signal.aborted) {
      const now = clock.monotonic();
      if (now >= deadline) return cut.abort(timeIsUp);
      const silentAt = this.#position.sawBookmark ? this.#lastBytesAt + settings.idleMs : Number.POSITIVE_INFINITY;
      let wait = Math.min(deadline, silentAt, now + settings.idleMs) - now;
      if (now >= silentAt) {
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
    message: `${what} was silent for ${Math.round(idleMs / 1000)} s although bookmarks were promised: the connection is taken for dead.`,
  });
}
