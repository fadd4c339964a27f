/**
 * One WATCH: opens it at a resourceVersion, reads its lines and applies them in batches.
 *
 *   request -> headers -> chunk -> lines -> a batch -> Writer.apply (one commit) -> the next chunk is taken from the socket
 *
 * The resourceVersion moves only with a commit (or a bookmark), in stream order. Events before a line that cannot be understood, or
 * before an ERROR, are kept. While a batch is applied nothing is read, so the socket fills and TCP slows the server down: there is
 * no queue. The stream ends by the server, by its own end of time, by silence, or by a stop.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { PortolanError } from '../base/errors.ts';
import { ApiError, apiErrorFromNetwork } from '../kube/api-error.ts';
import { resourcePath } from '../kube/resource-path.ts';
import type { StreamAnswer } from '../kube/rest-client.ts';
import type { IncomingEvent } from '../store/types.ts';
import { StoreFailure, storeError } from './failure.ts';
import { LineFramer } from './line-framer.ts';
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
  /** Events were committed. */
  applied(events: number): void;
}

/** A watch that ended without an error: lines that came, and milliseconds it lasted from its headers on. */
export interface WatchEnd {
  readonly lines: number;
  readonly lastedMs: number;
}

/** Watches until the stream ends; rejects with what failed. On a stop it rejects with the signal's reason. */
export async function watchCollection(
  context: ReflectorContext,
  position: WatchPosition,
  stop: AbortSignal,
  hooks: WatchHooks,
): Promise<WatchEnd> {
  const watch = new Watch(context, position, stop, hooks);
  return watch.run();
}

/** Milliseconds before silence is believed: bytes may wait in the socket when this thread was held up. */
const secondLookMs = 5000;

/** Why this side ends a watch; none of them is an error of the server. */
const timeIsUp = new Error('the time of the watch is up');
const finished = new Error('the watch is over');

class Watch {
  readonly #context: ReflectorContext;
  readonly #position: WatchPosition;
  readonly #stop: AbortSignal;
  readonly #hooks: WatchHooks;
  readonly #cut = new AbortController();
  readonly #what: string;
  readonly #path: string;
  #lastBytesAt = 0;
  #lines = 0;

  constructor(context: ReflectorContext, position: WatchPosition, stop: AbortSignal, hooks: WatchHooks) {
    this.#context = context;
    this.#position = position;
    this.#stop = stop;
    this.#hooks = hooks;
    this.#path = resourcePath(context.resource);
    this.#what = `GET ${this.#path} (watch)`;
  }

  async run(): Promise<WatchEnd> {
    const { clock, random, settings } = this.#context;
    const { least, most } = settings.watchSeconds;
    const seconds = least + Math.floor(random() * (most - least + 1));
    this.#stop.throwIfAborted();
    const onStop = (): void => this.#cut.abort(this.#stop.reason);
    this.#stop.addEventListener('abort', onStop, { once: true });
    try {
      const answer = await this.#open(seconds);
      const started = clock.monotonic();
      this.#lastBytesAt = started;
      void this.#guard(started + seconds * 1000 + settings.watchGraceMs);
      this.#hooks.opened();
      await this.#read(answer);
      return { lines: this.#lines, lastedMs: clock.monotonic() - started };
    } finally {
      this.#stop.removeEventListener('abort', onStop);
      this.#cut.abort(finished);
    }
  }

  async #open(seconds: number): Promise<StreamAnswer> {
    const { client, openings } = this.#context;
    const { signal } = this.#cut;
    const leave = await openings.enter(signal);
    try {
      const query = {
        watch: true,
        resourceVersion: this.#position.resourceVersion,
        allowWatchBookmarks: true,
        timeoutSeconds: seconds,
      };
      return await client.stream(this.#path, query, { signal });
    } finally {
      leave();
    }
  }

  async #read({ body }: StreamAnswer): Promise<void> {
    const { clock, settings } = this.#context;
    const framer = new LineFramer(settings.maxLineBytes);
    // Reading goes through the iterator; what comes after it was left is of no interest.
    body.on('error', () => {});
    try {
      for await (const chunk of body as AsyncIterable<Buffer>) {
        this.#lastBytesAt = clock.monotonic();
        await this.#take(framer.push(chunk));
      }
    } catch (error) {
      this.#stop.throwIfAborted();
      const { reason } = this.#cut.signal;
      if (reason === timeIsUp) return;
      if (reason instanceof ApiError) throw reason;
      if (error instanceof PortolanError || error instanceof StoreFailure) throw error;
      throw apiErrorFromNetwork(error, this.#what);
    }
    if (framer.pending > 0) throw new ProtocolError('truncated', `${this.#what} ended in the middle of a line.`);
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
        const message = readWatchLine(line, resource, this.#what);
        if (message.type === 'error') throw message.error;
        reached = message.resourceVersion;
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
    this.#position.resourceVersion = reached;
    if (events.length === 0) return;
    seen?.(events.map(({ type, object }) => ({ object, deleted: type === 'DELETED' })));
    this.#hooks.applied(events.length);
  }

  /** Ends the watch at its end of time, or when it has fallen silent. Monotonic time only: wall clocks jump. */
  async #guard(deadline: number): Promise<void> {
    const { clock, settings } = this.#context;
    const { signal } = this.#cut;
    let suspectedAt = -1;
    while (!signal.aborted) {
      const now = clock.monotonic();
      if (now >= deadline) return this.#cut.abort(timeIsUp);
      const silentAt = this.#position.sawBookmark ? this.#lastBytesAt + settings.idleMs : Number.POSITIVE_INFINITY;
      let wait = Math.min(deadline, silentAt, now + settings.idleMs) - now;
      if (now >= silentAt) {
        if (suspectedAt === this.#lastBytesAt) return this.#cut.abort(silence(this.#what, settings.idleMs));
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
