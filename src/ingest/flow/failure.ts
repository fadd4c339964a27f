/**
 * What a failed list or watch means for what is tried next. The one place where errors are told apart; the state machine of
 * reflector.ts knows only these kinds.
 */
import { messageOf, PortolanError } from '../../base/errors.ts';
import { ApiError } from '../../kube/http/api-error.ts';
import { StoreFault } from '../../store/types/store-fault.ts';
import { ProtocolError } from '../bytes/protocol-error.ts';

type FailureKind =
  /** The resourceVersion is too old: 410, as a status or in the stream. */
  | 'expired'
  /** The resourceVersion is ahead of what the server has. */
  | 'too new'
  /** 429: wait, then do the same again. */
  | 'throttled'
  | 'unauthorized'
  /** 403, 404, 405: nothing will change by trying. */
  | 'refused'
  | 'server'
  | 'network'
  /** The server sent what may not be sent. */
  | 'protocol'
  /** Our own store did not take it. */
  | 'store';

export interface Failure {
  readonly kind: FailureKind;
  /** Short and stable: restarts are counted by it. */
  readonly reason: string;
  readonly message: string;
  readonly status: number;
  readonly retryAfterSeconds: number | undefined;
}

/** The store refused something: kept apart from what the network does. */
export class StoreFailure extends Error {
  constructor(cause: unknown) {
    super(messageOf(cause), { cause });
    this.name = 'StoreFailure';
  }
}

/** Runs a call of the writer. What it finds wrong with an object is the server's fault, all else is the store's. */
export function inStore<T>(call: () => T): T {
  try {
    return call();
  } catch (error) {
    throw storeError(error);
  }
}

/** The error to throw for one that a call of the writer ended with. */
export function storeError(error: unknown): Error {
  if (error instanceof PortolanError && error.code === 'INVALID') {
    return new ProtocolError('invalid object', error.message, error);
  }
  return new StoreFailure(error);
}

/** What the server said before it had the machine-readable cause for a resourceVersion ahead of its own. */
const tooLargeText = /too large resource version/i;

export function failureOf(error: unknown): Failure {
  const failure = (kind: FailureKind, reason: string): Failure => ({
    kind,
    reason,
    message: messageOf(error),
    status: error instanceof ApiError ? error.httpStatus : 0,
    retryAfterSeconds: error instanceof ApiError ? error.retryAfterSeconds : undefined,
  });
  if (error instanceof StoreFailure) {
    return failure('store', error.cause instanceof StoreFault ? `store ${error.cause.kind}` : 'store');
  }
  if (error instanceof ProtocolError) {
    // A body that breaks off is the network's doing, however politely it ended.
    return error.reason === 'truncated' ? failure('network', 'truncated') : failure('protocol', error.reason);
  }
  if (!(error instanceof ApiError)) {
    if (error instanceof PortolanError && (error.code === 'UNAUTHENTICATED' || error.code === 'CONFIGURATION')) {
      return failure('unauthorized', 'credentials');
    }
    return failure('network', 'network');
  }
  const { httpStatus: status, reason } = error;
  if (status === 410 || reason === 'Expired' || reason === 'Gone') return failure('expired', 'expired');
  const tooLarge = error.causes.some((cause) => cause.reason === 'ResourceVersionTooLarge');
  if (tooLarge || (status === 504 && tooLargeText.test(error.message))) return failure('too new', 'too new');
  if (status === 429) return failure('throttled', 'status 429');
  if (status === 401) return failure('unauthorized', 'status 401');
  if (status === 403 || status === 404 || status === 405) return failure('refused', `status ${status}`);
  if (status >= 400) return failure('server', `status ${status}`);
  return failure('network', reason === 'idle' ? 'idle' : 'network');
}
