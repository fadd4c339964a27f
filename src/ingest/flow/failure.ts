/**
 * Classifies the errors of lists and watches by how the reflector must react. All classification is in this file; the state
 * machine of reflector.ts sees only these kinds.
 */
import { messageOf, PortolanError } from '../../base/errors.ts';
import { ApiError } from '../../kube/http/api-error.ts';
import { StoreFault } from '../../store/types/store-fault.ts';
import { noUid, noVersion, ProtocolError } from '../bytes/protocol-error.ts';

type FailureKind =
  /** The resourceVersion is too old: 410, as an HTTP status or as an ERROR event. */
  | 'expired'
  /** The resourceVersion is newer than the server's own. */
  | 'too new'
  /** 429: wait, then repeat the same request. */
  | 'throttled'
  | 'unauthorized'
  /** 403, 404, 405: a retry does not help. */
  | 'refused'
  | 'server'
  | 'network'
  /** The server violated the protocol. */
  | 'protocol'
  /** Our own store refused a write. */
  | 'store';

export interface Failure {
  readonly kind: FailureKind;
  /** Short and stable: the label under which restarts are counted. */
  readonly reason: string;
  readonly message: string;
  readonly status: number;
  readonly retryAfterSeconds: number | undefined;
}

/** The reason of the error of a streaming list that stopped without its end mark. */
export const noEndMark = 'no end mark';
/** The reason of the error of a request that received nothing in time. */
export const noAnswer = 'no answer';
/** The reason of the error of a watch that ended as soon as it was opened. */
export const shortWatch = 'short watch';

/** Reasons that Portolan itself gives to network failures. */
const ownReasons = new Set(['idle', noEndMark, noAnswer, shortWatch]);
/** Statuses by which a server says that it does not know a request, besides the refusals. */
const unknownRequest = new Set([400, 406, 415, 422, 501]);

/** True if the server does not have a watch for the collection: another one would not be answered either. */
export function isWithoutWatch({ kind, status }: Failure): boolean {
  return kind === 'refused' || unknownRequest.has(status);
}

/** The store refused a write. A separate class keeps it apart from network errors. */
export class StoreFailure extends Error {
  constructor(cause: unknown) {
    super(shownOf(cause), { cause });
    this.name = 'StoreFailure';
  }
}

/** The part of an error of the store that a caller may see: no path of a file. */
function shownOf(cause: unknown): string {
  if (cause instanceof StoreFault) return cause.shown;
  const { code, path } = cause as NodeJS.ErrnoException;
  return path === undefined ? messageOf(cause) : `The store cannot be read or written (${code}).`;
}

/** True if an object lacks its uid or resourceVersion. */
export function lacksIdentity(error: unknown): boolean {
  return error instanceof ProtocolError && (error.reason === noUid || error.reason === noVersion);
}

/** Runs a call of the writer. A rejected object is the server's fault; every other error is the store's. */
export function inStore<T>(call: () => T): T {
  try {
    return call();
  } catch (error) {
    throw storeError(error);
  }
}

/** Converts an error of a writer call into the error to throw. */
export function storeError(error: unknown): Error {
  if (error instanceof PortolanError && error.code === 'INVALID') {
    const { lacks } = error.details;
    const reason = lacks === 'uid' ? noUid : lacks === 'resourceVersion' ? noVersion : 'invalid object';
    return new ProtocolError(reason, error.message, error);
  }
  return new StoreFailure(error);
}

/** The message of older servers, which lack the machine-readable cause for a resourceVersion newer than their own. */
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
    // A truncated body counts as a network failure, even after a clean close.
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
  return failure('network', ownReasons.has(reason) ? reason : 'network');
}
