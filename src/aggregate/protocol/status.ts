/**
 * Status objects (meta/v1): the answers of an API server to what it refuses. Clients decide by `code` and `reason`; people read `message`.
 *
 *   PortolanError NOT_FOUND   ->   404 {"kind":"Status","status":"Failure","reason":"NotFound","code":404,…}
 *
 * An error that `statusError` made has its status with it. Every other error gets the status of its code.
 */
import { type ErrorCode, PortolanError } from '../../base/errors.ts';

export interface StatusCause {
  readonly reason: string;
  readonly message: string;
  readonly field?: string;
}

/** StatusDetails of meta/v1. */
interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly causes?: readonly StatusCause[];
  readonly retryAfterSeconds?: number;
}

interface Status {
  readonly kind: 'Status';
  readonly apiVersion: 'v1';
  readonly metadata: object;
  readonly status: 'Failure';
  readonly message: string;
  readonly reason: string;
  readonly details?: StatusDetails;
  readonly code: number;
}

/** The reason of each status, and the code of the error that carries it. */
const statuses = {
  BadRequest: [400, 'BAD_USER_INPUT'],
  Unauthorized: [401, 'UNAUTHENTICATED'],
  Forbidden: [403, 'FORBIDDEN'],
  NotFound: [404, 'NOT_FOUND'],
  MethodNotAllowed: [405, 'BAD_USER_INPUT'],
  NotAcceptable: [406, 'BAD_USER_INPUT'],
  Conflict: [409, 'CONFLICT'],
  AlreadyExists: [409, 'ALREADY_EXISTS'],
  Expired: [410, 'GONE'],
  RequestEntityTooLarge: [413, 'QUERY_TOO_COSTLY'],
  UnsupportedMediaType: [415, 'BAD_USER_INPUT'],
  Invalid: [422, 'INVALID'],
  TooManyRequests: [429, 'TOO_MANY_REQUESTS'],
  InternalError: [500, 'INTERNAL_SERVER_ERROR'],
  ServiceUnavailable: [503, 'CACHE_NOT_READY'],
  Timeout: [504, 'TIMEOUT'],
} as const satisfies Readonly<Record<string, readonly [number, ErrorCode]>>;

export type StatusReason = keyof typeof statuses;

/** The reasons of codes that do not stand for one alone. */
const reasons: Partial<Record<ErrorCode, StatusReason>> = {
  BAD_USER_INPUT: 'BadRequest',
  QUERY_TOO_COSTLY: 'TooManyRequests',
  RESOURCE_REFUSED: 'ServiceUnavailable',
  UPSTREAM_UNAVAILABLE: 'ServiceUnavailable',
};

/** An error whose answer has this reason. */
export function statusError(reason: StatusReason, message: string, details?: StatusDetails): PortolanError {
  return new PortolanError(statuses[reason][1], message, { details: { status: { reason, details } } });
}

/** The Status of an error. The message of a defect is not told. */
export function statusOf(error: unknown): Status {
  const known = error instanceof PortolanError ? error : null;
  const carried = known?.details['status'] as
    | { readonly reason: StatusReason; readonly details?: StatusDetails }
    | undefined;
  const reason = carried?.reason ?? reasonOf(known?.code ?? 'INTERNAL_SERVER_ERROR');
  const isDefect = reason === 'InternalError';
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: isDefect || known === null ? 'The request failed for a reason that Portolan has logged.' : known.message,
    reason,
    ...(carried?.details === undefined ? {} : { details: carried.details }),
    code: statuses[reason][0],
  };
}

function reasonOf(code: ErrorCode): StatusReason {
  const named = reasons[code];
  if (named !== undefined) return named;
  const found = Object.entries(statuses).find(([, [, of]]) => of === code);
  return (found?.[0] as StatusReason | undefined) ?? 'InternalError';
}
