/**
 * A watch after its response headers, with none or some of its lines read.
 *
 *   openWatch -> [stream-collection.ts reads the initial events] -> watch-collection.ts reads the rest -> release
 *
 * Owns the connection: it ends with the stop, with `cut`, or with `release`. A reader takes `lines` first, then `chunks`.
 */
import { PortolanError } from '../../base/errors.ts';
import type { Query } from '../../kube/client/rest-client.ts';
import { ApiError, apiErrorFromNetwork } from '../../kube/http/api-error.ts';
import { orApiService } from '../../kube/http/api-service.ts';
import { LineFramer } from '../bytes/line-framer.ts';
import { collectionPath } from '../context/collections.ts';
import type { ReflectorContext } from '../context/reflector-context.ts';
import { failureOf, noAnswer, StoreFailure } from '../flow/failure.ts';

const finished = new Error('the watch is over');

/** Extra milliseconds before a watch counts as silent: bytes may wait in the socket while this thread is busy. */
export const secondLookMs = 5000;

export interface OpenedWatch {
  /** The request, for messages. */
  readonly what: string;
  /** Ends the connection for the given reason. */
  readonly cut: AbortController;
  /** Unread lines of the newest chunk. */
  readonly lines: Iterable<Buffer>;
  readonly chunks: AsyncIterable<Buffer>;
  readonly framer: LineFramer;
  /** Monotonic milliseconds: when the headers came, when the server should end it, and when this side does. */
  readonly openedAt: number;
  readonly endsAt: number;
  readonly deadline: number;
  /** Closes the connection. Idempotent. */
  release(): void;
}

/** Milliseconds that the headers of a watch may take. Servers send them before the first event. */
export const headersMs = 15_000;

/**
 * Opens a watch with these parameters. Rejects with the failure, or on a stop with the signal's reason. `answerMs` bounds the time until
 * its headers.
 */
export async function openWatch(
  context: ReflectorContext,
  query: Query,
  stop: AbortSignal,
  answerMs: number,
): Promise<OpenedWatch> {
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
    const slot = await openings.enter(resource.group, cut.signal);
    try {
      await budget.take(handle.id, cut.signal);
      const parameters = { watch: true, ...query, allowWatchBookmarks: true, timeoutSeconds: seconds };
      const answered = new AbortController();
      clock.sleep(answerMs, AbortSignal.any([cut.signal, answered.signal])).then(
        () => cut.abort(unanswered(path, answerMs)),
        () => {},
      );
      const { body } = await client
        .stream(path, parameters, { signal: slot.signal })
        .finally(() => answered.abort(new Error('the watch is answered')));
      // Read errors reach the reader through the iterator; later ones are ignored.
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
      slot.leave();
    }
  } catch (error) {
    release();
    // Done here because some callers do not report failures to the reflector: a failed rollover is silent.
    budget.hold(handle.id, failureOf(error).retryAfterSeconds);
    throw error;
  }
}

function unanswered(path: string, answerMs: number): ApiError {
  return new ApiError({
    code: 'UPSTREAM_UNAVAILABLE',
    httpStatus: 0,
    reason: noAnswer,
    message: `GET ${path} (watch) was not answered in ${Math.round(answerMs / 1000)} s${orApiService(path)}.`,
  });
}

/** Converts an error of reading a watch into the error to throw. */
export function readFailure(error: unknown, { cut, what }: OpenedWatch, stop: AbortSignal): unknown {
  if (stop.aborted) return stop.reason;
  const { reason } = cut.signal;
  if (reason instanceof ApiError) return reason;
  if (error instanceof PortolanError || error instanceof StoreFailure) return error;
  return apiErrorFromNetwork(error, what);
}
