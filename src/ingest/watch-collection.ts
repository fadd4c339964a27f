/**
 * One WATCH: opens it at a resourceVersion, reads its lines and applies them in batches.
 *
 *   request (or the rest of a streaming list) -> headers -> chunk -> lines -> a batch -> Writer.apply (one commit) -> the next chunk is taken from the socket
 *
 * The resourceVersion moves only with a commit (or a bookmark), in stream order. Events before a line that cannot be understood, or
 * before an ERROR, are kept. While a batch is applied nothing is read, so the socket fills and TCP slows the server down: there is
 * no queue. The stream ends by the server, by its own end of time, by silence, or by a stop.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { PortolanError } from '../base/errors.ts';
import { ApiError } from '../kube/api-error.ts';
import { compareResourceVersions, laterResourceVersion } from '../store/resource-version.ts';
import type { IncomingEvent } from '../store/types.ts';
import { storeError } from './failure.ts';
import { type OpenedWatch, openWatch, readFailure, secondLookMs } from './opened-watch.ts';
import { ProtocolError } from './protocol-error.ts';
import type { ReflectorContext } from './reflector-context.ts';
import { readWatchLine } from './watch-events.ts';

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
export interface WatchEnd {
  readonly lines: number;
  readonly lastedMs: number;
}

/**
 * Watches until the stream ends; rejects with what failed. On a stop it rejects with the signal's reason. With `begun` it goes on
 * with a stream whose initial events have been read.
 */
export async function watchCollection(
  context: ReflectorContext,
  position: WatchPosition,
  stop: AbortSignal,
  hooks: WatchHooks,
  begun: OpenedWatch | null = null,
): Promise<WatchEnd> {
  const opened = begun ?? (await openWatch(context, { resourceVersion: position.resourceVersion }, stop));
  return new Watch(context, position, stop, hooks, opened).run();
}

/** Why this side ends a watch without an error of the server. */
const timeIsUp = new Error('the time of the watch is up');

class Watch {
  readonly #context: ReflectorContext;
  readonly #position: WatchPosition;
  readonly #stop: AbortSignal;
  readonly #hooks: WatchHooks;
  readonly #opened: OpenedWatch;
  #lastBytesAt: number;
  #lines = 0;

  constructor(
    context: ReflectorContext,
    position: WatchPosition,
    stop: AbortSignal,
    hooks: WatchHooks,
    opened: OpenedWatch,
  ) {
    this.#context = context;
    this.#position = position;
    this.#stop = stop;
    this.#hooks = hooks;
    this.#opened = opened;
    this.#lastBytesAt = context.clock.monotonic();
  }

  async run(): Promise<WatchEnd> {
    const { openedAt } = this.#opened;
    try {
      void this.#guard();
      this.#hooks.opened();
      await this.#read();
      return { lines: this.#lines, lastedMs: this.#context.clock.monotonic() - openedAt };
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
      if (!this.#stop.aborted && cut.signal.reason === timeIsUp) return;
      throw readFailure(error, this.#opened, this.#stop);
    }
    if (framer.pending > 0) throw new ProtocolError('truncated', `${what} ended in the middle of a line.`);
  }

  async #take(lines: Iterable<Buffer>): Promise<void> {
    const { resource, settings } = this.#context;
    let events: IncomingEvent[] = [];
    let reached: string | null = null;
    const flush = (): void => {
      if (reached !== null && !this.#stop.aborted) this.#commit(events, reached);
      events = [];
      reached = null;
    };
    try {
      for (const line of lines) {
        this.#lines += 1;
        const message = readWatchLine(line, resource, this.#opened.what);
        if (message.type === 'error') throw message.error;
        // A replay behind a newer event does not take it back.
        reached = laterResourceVersion(reached, message.resourceVersion);
        if (message.type === 'bookmark') this.#position.sawBookmark = true;
        else events.push(message.event);
        if (events.length < settings.batchEvents) continue;
        flush();
        await nextTurn();
      }
    } finally {
      flush();
    }
  }

  #commit(events: readonly IncomingEvent[], reached: string): void {
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
    if (events.length > 0) seen?.(events.map(({ type, object }) => ({ object, deleted: type === 'DELETED' })));
    this.#hooks.took(events.length);
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
