/**
 * A watch whose headers have come, before anybody has read of it or when somebody has read a part.
 *
 *   openWatch -> [stream-collection.ts reads the initial events] -> watch-collection.ts reads the rest -> release
 *
 * Owns the connection: it ends with the stop, with `cut`, or with `release`. Who reads takes `lines` first, then `chunks`.
 */
import { PortolanError } from '../../base/errors.ts';
import type { Query } from '../../kube/client/rest-client.ts';
import { ApiError, apiErrorFromNetwork } from '../../kube/http/api-error.ts';
import { LineFramer } from '../bytes/line-framer.ts';
import { collectionPath } from '../context/collections.ts';
import type { ReflectorContext } from '../context/reflector-context.ts';
import { failureOf, StoreFailure } from '../flow/failure.ts';

const finished = new Error('the watch is over');

/** Milliseconds before silence is believed: bytes may wait in the socket when this thread was held up. */
export const secondLookMs = 5000;

export interface OpenedWatch {
  /** The request, for messages. */
  readonly what: string;
  /** Ends the connection for the given reason. */
  readonly cut: AbortController;
  /** Lines of the newest chunk that nobody has taken. */
  readonly lines: Iterable<Buffer>;
  readonly chunks: AsyncIterable<Buffer>;
  readonly framer: LineFramer;
  /** Monotonic milliseconds: when the headers came, when the server is to end it, and when this side does. */
  readonly openedAt: number;
  readonly endsAt: number;
  readonly deadline: number;
  /** Ends what is left of it. Idempotent. */
  release(): void;
}

/** Asks for a watch with these parameters. Rejects with what failed, on a stop with the signal's reason. */
export async function openWatch(context: ReflectorContext, query: Query, stop: AbortSignal): Promise<OpenedWatch> {
  const { budget, client, clock, handle, openings, random, resource, settings } = context;
  const { least, most } = settings.watchSeconds;
  const seconds = least + Math.floor(random() * (most - least + 1));
  const path = collectionPath(resource, handle);
  stop.throwIfAborted();
  const cut = new AbortController();
  const onStop = (): void => cut.abort(stop.reason);
  stop.addEventListener('abort', onStop, { once: true });
  const release = (): void => {
    stop.removeEventListener('abort', onStop);
    cut.abort(finished);
  };
  try {
    const leave = await openings.enter(cut.signal);
    try {
      await budget.take(handle.id, cut.signal);
      const parameters = { watch: true, ...query, allowWatchBookmarks: true, timeoutSeconds: seconds };
      const { body } = await client.stream(path, parameters, { signal: cut.signal });
      // Reading goes through the iterator; what comes after it was left is of no interest.
      body.on('error', () => {});
      const openedAt = clock.monotonic();
      return {
        what: `GET ${path} (watch)`,
        cut,
        lines: [],
        chunks: body as AsyncIterable<Buffer>,
        framer: new LineFramer(settings.maxLineBytes),
        openedAt,
        endsAt: openedAt + seconds * 1000,
        deadline: openedAt + seconds * 1000 + settings.watchGraceMs,
        release: () => {
          release();
          body.destroy();
        },
      };
    } finally {
      leave();
    }
  } catch (error) {
    release();
    // Here, because not all who ask tell the reflector what came of it: a watch that was to take over fails without a word.
    budget.hold(handle.id, failureOf(error).retryAfterSeconds);
    throw error;
  }
}

/** The error to throw for one that reading a watch ended with. */
export function readFailure(error: unknown, { cut, what }: OpenedWatch, stop: AbortSignal): unknown {
  if (stop.aborted) return stop.reason;
  const { reason } = cut.signal;
  if (reason instanceof ApiError) return reason;
  if (error instanceof PortolanError || error instanceof StoreFailure) return error;
  return apiErrorFromNetwork(error, what);
}
