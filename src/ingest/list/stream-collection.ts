/**
 * STREAM_INIT and REPLACE: reads a whole collection as the beginning of a watch (KEP-3157) and publishes it in one step. The same
 * stream then continues as the watch.
 *
 *   watch with sendInitialEvents -> ADDED: staged · MODIFIED, DELETED: change the staged objects
 *     -> the end mark (a bookmark): commit at its resourceVersion
 *     -> the open stream is passed to the watch
 *
 * It never takes a resourceVersion from an initial event, since those come in any order. It never publishes a set without
 * an end mark.
 *
 * A stream may take as long as its objects keep coming: a slow server or a busy machine is no reason to begin again. A server that
 * does not know the parameter never sends an end mark, but may send bookmarks and changes for ever. So the silence of a stream is
 * measured from its last object that is older than the request, not from its last byte.
 * streaming-lists.ts decides which servers get this request.
 */

import type { Query } from '../../kube/client/rest-client.ts';
import { ApiError } from '../../kube/http/api-error.ts';
import type { IncomingEvent, IncomingObject } from '../../store/types/incoming-object.ts';
import type { ApplySummary, Replace } from '../../store/types/writer.ts';
import { ProtocolError } from '../bytes/protocol-error.ts';
import { readWatchLine } from '../bytes/watch-events.ts';
import type { ReflectorContext } from '../context/reflector-context.ts';
import { BatchYield } from '../flow/batch-yield.ts';
import { failureOf, inStore, noEndMark, storeError } from '../flow/failure.ts';
import { type OpenedWatch, openWatch, readFailure, secondLookMs } from '../watch/opened-watch.ts';

/** Maximum objects and characters per call to the store. */
const putObjects = 64;
const putCharacters = 256 * 1024;

/** Milliseconds until the headers. Short, because a list in pages costs little. */
const headersMs = 5000;

interface StreamRequest {
  /** The set must not be older; null when nothing is known, or the server cannot serve it. */
  readonly notOlderThan: string | null;
  readonly signal: AbortSignal;
  /** Called when the server has accepted the request. */
  readonly opened: () => void;
  /** Maximum milliseconds without another object or the end mark. After that the server counts as one without streaming lists. */
  readonly silenceMs: number;
}

interface StreamResult {
  readonly resourceVersion: string;
  readonly summary: ApplySummary;
  /** The stream after its initial events. The receiver reads or releases it. */
  readonly watch: OpenedWatch;
}

/** Streams and replaces. Rejects with the failure; then nothing is published, and the connection is closed. */
export async function streamCollection(context: ReflectorContext, request: StreamRequest): Promise<StreamResult> {
  const { notOlderThan, signal } = request;
  try {
    return await stream(context, notOlderThan ?? '', request);
  } catch (error) {
    const { kind } = failureOf(error);
    if (signal.aborted || notOlderThan === null || (kind !== 'expired' && kind !== 'too new')) throw error;
    context.log.debug({ kind }, 'the list is streamed without a version');
    return await stream(context, '', request);
  }
}

async function stream(context: ReflectorContext, from: string, request: StreamRequest): Promise<StreamResult> {
  const { signal: stop, opened } = request;
  const query: Query = { resourceVersion: from, resourceVersionMatch: 'NotOlderThan', sendInitialEvents: true };
  const watch = await openWatch(context, query, stop, Math.min(headersMs, request.silenceMs));
  opened();
  context.slot?.received();
  let done = false;
  try {
    const replace = inStore(() => context.writer.replace(context.handle, from === '' ? 'compare' : 'trust'));
    try {
      const { resourceVersion, lines, chunks } = await new InitialEvents(context, watch, request).read(replace);
      stop.throwIfAborted();
      const summary = await replace.commit(resourceVersion).catch((error: unknown) => {
        throw storeError(error);
      });
      done = true;
      return { resourceVersion, summary, watch: { ...watch, lines, chunks } };
    } finally {
      if (!done) replace.abort();
    }
  } finally {
    if (!done) watch.release();
  }
}

/** The end of the initial events, with the unread part of the stream. */
interface End {
  readonly resourceVersion: string;
  readonly lines: Iterable<Buffer>;
  readonly chunks: AsyncIterable<Buffer>;
}

class InitialEvents {
  readonly #context: ReflectorContext;
  readonly #watch: OpenedWatch;
  readonly #stop: AbortSignal;
  readonly #silenceMs: number;
  /** Wall clock, in milliseconds since the epoch. */
  readonly #requestedAt: number;
  readonly #yield: BatchYield;
  readonly #over = new AbortController();
  #batch: IncomingObject[] = [];
  #characters = 0;
  #lastObjectAt: number;

  constructor(context: ReflectorContext, watch: OpenedWatch, { signal, silenceMs }: StreamRequest) {
    this.#context = context;
    this.#watch = watch;
    this.#stop = signal;
    this.#silenceMs = silenceMs;
    this.#requestedAt = context.clock.now();
    this.#yield = new BatchYield(context.clock);
    this.#lastObjectAt = watch.openedAt;
  }

  async read(replace: Replace): Promise<End> {
    const { framer, what } = this.#watch;
    void this.#guard();
    // Iterates by hand: a `for await` loop would close the stream on exit, but the watch continues with it.
    const chunks = this.#watch.chunks[Symbol.asyncIterator]();
    try {
      for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) {
        this.#context.slot?.received();
        const lines = framer.push(next.value);
        const resourceVersion = await this.#take(lines, replace);
        if (resourceVersion === null) continue;
        return { resourceVersion, lines: { [Symbol.iterator]: () => lines }, chunks: iterableOf(chunks) };
      }
    } catch (error) {
      throw readFailure(error, this.#watch, this.#stop);
    } finally {
      this.#over.abort();
    }
    // A connection cut by this side may look like a normal end.
    this.#watch.cut.signal.throwIfAborted();
    throw new ProtocolError('truncated', `${what} ended before all objects had been sent.`);
  }

  /** The resourceVersion of the end mark, or null before it. */
  async #take(lines: Iterator<Buffer>, replace: Replace): Promise<string | null> {
    const { clock, resource } = this.#context;
    for (let line = lines.next(); line.done !== true; line = lines.next()) {
      const message = readWatchLine(line.value, resource, this.#watch.what);
      if (message.type === 'error') throw message.error;
      if (message.type === 'bookmark') {
        if (!message.endsInitial) continue;
        this.#put(replace);
        return message.resourceVersion;
      }
      if (this.#isInitial(message.event)) this.#lastObjectAt = clock.monotonic();
      this.#stage(message.event, replace);
      if (this.#batch.length < putObjects && this.#characters < putCharacters) continue;
      this.#put(replace);
      await this.#yield.after(putObjects);
      await replace.room();
      this.#watch.cut.signal.throwIfAborted();
    }
    return null;
  }

  /** False for objects that are created while the stream is open: a server without streaming lists sends them for ever. */
  #isInitial({ type, object }: IncomingEvent): boolean {
    if (type !== 'ADDED') return false;
    const { metadata } = object.value as { metadata: { creationTimestamp?: unknown } };
    const created = Date.parse(String(metadata.creationTimestamp));
    return !(created > this.#requestedAt);
  }

  #stage({ type, object }: IncomingEvent, replace: Replace): void {
    if (type !== 'DELETED') {
      // A list does not say who made a change.
      const { managedFields: _, ...listed } = object;
      this.#batch.push(listed);
      this.#characters += object.text.length;
      return;
    }
    this.#put(replace);
    const { namespace, name } = identityOf(object.value);
    inStore(() => replace.remove(namespace, name));
    this.#context.seen?.([{ object, deleted: true }]);
  }

  #put(replace: Replace): void {
    const objects = this.#batch;
    this.#batch = [];
    this.#characters = 0;
    if (objects.length === 0) return;
    inStore(() => replace.put(objects));
    this.#context.seen?.(objects.map((object) => ({ object, deleted: false })));
  }

  /** Cuts a stream without objects and without an end mark. Uses monotonic time only: wall clocks jump. */
  async #guard(): Promise<void> {
    const { clock } = this.#context;
    const { cut, what } = this.#watch;
    const { signal } = this.#over;
    let suspectedAt = -1;
    while (!signal.aborted) {
      const now = clock.monotonic();
      const silentAt = this.#lastObjectAt + this.#silenceMs;
      let wait = silentAt - now;
      if (now >= silentAt) {
        if (suspectedAt === this.#lastObjectAt) return cut.abort(unmarked(what, this.#silenceMs));
        suspectedAt = this.#lastObjectAt;
        wait = secondLookMs;
      }
      await clock.sleep(Math.max(1, wait), signal).catch(() => {});
    }
  }
}

/** Makes a started iterator iterable, so that a loop can continue it. */
function iterableOf(chunks: AsyncIterator<Buffer>): AsyncIterable<Buffer> {
  return { [Symbol.asyncIterator]: () => chunks };
}

function identityOf(value: unknown): { namespace: string; name: string } {
  const { metadata } = value as { metadata: { namespace?: unknown; name: unknown } };
  return { namespace: typeof metadata.namespace === 'string' ? metadata.namespace : '', name: String(metadata.name) };
}

function unmarked(what: string, silenceMs: number): ApiError {
  const seconds = Math.round(silenceMs / 1000);
  return new ApiError({
    code: 'UPSTREAM_UNAVAILABLE',
    httpStatus: 0,
    reason: noEndMark,
    message: `${what} sent neither objects nor the end of the list for ${seconds} s: the collection is listed in pages instead.`,
  });
}
