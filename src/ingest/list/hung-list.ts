/**
 * Looks after a list that receives nothing. A server that hangs may never answer the request, even when it is sound again.
 *
 * When a list has received no byte for `lookMs`, a list of one object looks at the server:
 *
 *   no answer, or an error                    the server is sick: it is reported, and looked at again
 *   an answer, and the server was sick        the list is cut, and sent again
 *   an answer, and the server was not sick    the list is only slow: it is left alone
 *
 * So a slow list is not sent twice, and a list that hangs is right a few seconds after its server is.
 */
import type { Query } from '../../kube/client/rest-client.ts';
import { ApiError } from '../../kube/http/api-error.ts';
import { orApiService } from '../../kube/http/api-service.ts';
import { collectionPath } from '../context/collections.ts';
import type { ReflectorContext } from '../context/reflector-context.ts';
import { failureOf, noAnswer } from '../flow/failure.ts';
import type { Slot } from '../flow/slots.ts';

/** Milliseconds without a byte before the server is looked at, and between two looks. */
const lookMs = 2000;
/** Milliseconds that the answer to a look may take. */
const answerMs = 2000;

/** The reason for which a list is cut: its server answers again. */
export const answersAgain = new Error('the API server answers other requests again');

interface Look {
  readonly slot: Slot;
  /** The last request of the collection failed. */
  readonly sick: boolean;
  /** Ends with the list. */
  readonly signal: AbortSignal;
  /** The server is sick: it did not answer a look. */
  readonly hangs: (error: ApiError) => void;
}

/** Resolves when the list is over, cut, or known to be only slow. Never rejects. */
export async function lookAfterList(context: ReflectorContext, look: Look): Promise<void> {
  const { clock } = context;
  const { slot, signal, hangs } = look;
  let { sick } = look;
  while (!signal.aborted) {
    const rest = slot.resting ? lookMs : lookMs - slot.silentForMs;
    if (rest > 0) {
      await clock.sleep(rest, signal).catch(() => {});
      continue;
    }
    const silentMs = slot.silentForMs;
    const answers = await answersOf(context, signal);
    if (signal.aborted || slot.silentForMs < silentMs) continue;
    if (answers) return sick ? slot.cut(answersAgain) : undefined;
    sick = true;
    hangs(silence(context, slot.silentForMs));
    await clock.sleep(lookMs, signal).catch(() => {});
  }
}

/** True if a list of one object is answered in time. */
async function answersOf(context: ReflectorContext, stop: AbortSignal): Promise<boolean> {
  const { budget, client, clock, handle, resource } = context;
  const over = new AbortController();
  const signal = AbortSignal.any([stop, over.signal]);
  try {
    await budget.take(handle.id, signal);
    clock.sleep(answerMs, signal).then(
      () => over.abort(new Error('no answer in time')),
      () => {},
    );
    const query: Query = { limit: 1 };
    const { body } = await client.stream(collectionPath(resource, handle), query, { signal });
    body.on('error', () => {});
    body.destroy();
    return true;
  } catch (error) {
    budget.hold(handle.id, failureOf(error).retryAfterSeconds);
    return false;
  } finally {
    over.abort(new Error('the look is over'));
  }
}

function silence({ resource, handle }: ReflectorContext, silentMs: number): ApiError {
  const path = collectionPath(resource, handle);
  return new ApiError({
    code: 'UPSTREAM_UNAVAILABLE',
    httpStatus: 0,
    reason: noAnswer,
    message: `GET ${path} has received nothing for ${Math.round(silentMs / 1000)} s, and the server does not list one object either${orApiService(path)}.`,
  });
}
