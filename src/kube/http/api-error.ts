/**
 * Errors from an API server, or from a proxy before it.
 *
 * Owns: the conversion of an HTTP answer, a Status object or a transport failure into one typed error.
 * Never: infers from message texts when there is a status, a reason or a cause. Contains no object bodies or credentials.
 */
import { type ErrorCode, PortolanError } from '../../base/errors.ts';
import { record, textOr } from '../../base/json.ts';
import { apiServiceOf, lookAt, orApiService } from './api-service.ts';

/** One cause of a Status: the problem (`reason`), the field, and a message. */
interface ApiErrorCause {
  readonly reason: string;
  readonly message: string;
  readonly field: string;
}

/** A Kubernetes Status, reduced to the members of `details.status`. */
interface ApiStatus {
  readonly code: number;
  readonly reason: string;
  readonly message: string;
  readonly causes: readonly ApiErrorCause[];
  readonly retryAfterSeconds: number | undefined;
}

/**
 * A request that failed.
 * - `httpStatus`: the status of the answer, the `code` of the Status in a watch's ERROR event, or 0 without an answer.
 * - `reason`: the Status reason (`Expired`, `AlreadyExists`, ...). Without an answer, the system's error code (`ECONNREFUSED`),
 *   or empty.
 * - `retryAfterSeconds`: the delay that the server requests, if any.
 */
export class ApiError extends PortolanError {
  readonly httpStatus: number;
  readonly reason: string;
  readonly causes: readonly ApiErrorCause[];
  readonly retryAfterSeconds: number | undefined;

  constructor(init: {
    code: ErrorCode;
    message: string;
    httpStatus: number;
    reason?: string;
    causes?: readonly ApiErrorCause[];
    retryAfterSeconds?: number | undefined;
    status?: ApiStatus;
    cause?: unknown;
  }) {
    super(init.code, init.message, {
      ...(init.cause === undefined ? {} : { cause: init.cause }),
      ...(init.status === undefined ? {} : { details: { status: init.status } }),
    });
    this.name = 'ApiError';
    this.httpStatus = init.httpStatus;
    this.reason = init.reason ?? '';
    this.causes = init.causes ?? [];
    this.retryAfterSeconds = init.retryAfterSeconds;
  }
}

/** A received error answer. `what` names the request in the message: `GET /api/v1/pods`. */
interface ErrorAnswer {
  readonly what: string;
  readonly httpStatus: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** The error for an HTTP answer that is not a success: from its Status, or from the text of a proxy. */
export function apiErrorFromAnswer(answer: ErrorAnswer): ApiError {
  const retryAfter = retryAfterOf(answer.headers);
  const status = parseStatus(answer.text, answer.httpStatus);
  if (status !== undefined) {
    // The HTTP status takes precedence over the `code` of the Status.
    return fromStatus({ ...status, code: answer.httpStatus }, answer.what, retryAfter);
  }
  if (answer.httpStatus >= 300 && answer.httpStatus < 400) {
    return new ApiError({
      code: 'UPSTREAM_UNAVAILABLE',
      httpStatus: answer.httpStatus,
      message: `${answer.what} was redirected (HTTP ${answer.httpStatus}), which Portolan refuses: set the server in the kubeconfig to the address of the API server itself.`,
    });
  }
  const detail = plainText(answer.text);
  const apiService = unavailable.has(answer.httpStatus) && !isHtml(answer.text) ? apiServiceOf(answer.what) : null;
  const where =
    apiService === null
      ? `but not by the Kubernetes API${inBrackets(detail)}: check what stands between Portolan and the API server`
      : `because the server of the APIService ${apiService} is not available${inBrackets(detail)}: ${lookAt(apiService)}`;
  return new ApiError({
    code: codeFor(answer.httpStatus, ''),
    httpStatus: answer.httpStatus,
    retryAfterSeconds: retryAfter,
    message: `${answer.what} was answered with HTTP ${answer.httpStatus}, ${where}.`,
  });
}

/**
 * The error for a Status object in a successful answer, as in a watch's ERROR event. A value that is not a Status becomes an
 * UPSTREAM_UNAVAILABLE with httpStatus 0.
 */
export function apiErrorFromStatus(status: unknown, what: string): ApiError {
  const parsed = statusOf(status, 0);
  if (parsed !== undefined) return fromStatus(parsed, what, undefined);
  return new ApiError({
    code: 'UPSTREAM_UNAVAILABLE',
    httpStatus: 0,
    message: `${what} failed, and the server sent no Status that says why: look into the API server's log.`,
  });
}

/** The error for a request without an answer, or with a truncated one. */
export function apiErrorFromNetwork(cause: unknown, what: string): ApiError {
  const reason = systemCodeOf(cause);
  return new ApiError({
    code: 'UPSTREAM_UNAVAILABLE',
    httpStatus: 0,
    reason,
    cause,
    message: `${what} failed on the way to the API server (${reason === '' ? innermost(cause) : `${reason}: ${innermost(cause)}`}): check that the server runs and can be reached from here${orApiService(what)}.`,
  });
}

/** The error for an answer with a success status and invalid content. */
export function apiErrorFromNonsense(what: string, httpStatus: number, found: string): ApiError {
  return new ApiError({
    code: 'UPSTREAM_UNAVAILABLE',
    httpStatus,
    reason: 'UnexpectedContent',
    message: `${what} was answered with ${found} where the Kubernetes API answers in JSON: check that the server's address leads to an API server and not to a proxy's page${orApiService(what)}.`,
  });
}

/** The first system or library error code (`ENOTFOUND`, `CERT_HAS_EXPIRED`, ...) along a chain of causes, or ''. */
export function systemCodeOf(error: unknown): string {
  for (const link of chain(error)) {
    if ('code' in link && typeof link.code === 'string' && !(link instanceof PortolanError)) return link.code;
  }
  return '';
}

/** An error, the errors inside it, and the causes below each, outermost first. Ends on cycles. */
function* chain(error: unknown, seen: Set<unknown> = new Set()): Generator<object> {
  if (typeof error !== 'object' || error === null || seen.has(error)) return;
  seen.add(error);
  yield error;
  if (error instanceof AggregateError) for (const inner of error.errors) yield* chain(inner, seen);
  if ('cause' in error) yield* chain(error.cause, seen);
}

/** The message of the deepest error that has one. */
function innermost(error: unknown): string {
  let message = '';
  for (const link of chain(error)) {
    if (link instanceof Error && link.message !== '') message = link.message;
  }
  return oneLine(message === '' ? String(error) : message, 300);
}

function fromStatus(status: ApiStatus, what: string, retryAfter: number | undefined): ApiError {
  const wait = later(status.retryAfterSeconds, retryAfter);
  const full: ApiStatus = { ...status, retryAfterSeconds: wait };
  const detail = oneLine(status.message, 2000).replace(/[.\s]+$/, '');
  const label = [status.code === 0 ? '' : String(status.code), status.reason].filter((part) => part !== '').join(' ');
  return new ApiError({
    code: codeFor(status.code, status.reason),
    httpStatus: status.code,
    reason: status.reason,
    causes: status.causes,
    retryAfterSeconds: wait,
    status: full,
    message: `${what} was refused by the API server${inBrackets(label)}${detail === '' ? '' : `: ${detail}`}${unavailable.has(status.code) ? orApiService(what) : ''}.`,
  });
}

/** Statuses of an API server that cannot reach the server of a group, and of that server while it starts. */
const unavailable = new Set([502, 503, 504]);

function isHtml(text: string): boolean {
  return text.trimStart().startsWith('<');
}

function inBrackets(text: string): string {
  return text === '' ? '' : ` (${text})`;
}

function codeFor(httpStatus: number, reason: string): ErrorCode {
  switch (httpStatus) {
    case 401:
      return 'UNAUTHENTICATED';
    case 403:
      return 'FORBIDDEN';
    case 404:
      return 'NOT_FOUND';
    case 409:
      return reason === 'AlreadyExists' ? 'ALREADY_EXISTS' : 'CONFLICT';
    case 410:
      return 'GONE';
    case 422:
      return 'INVALID';
    case 429:
      return 'TOO_MANY_REQUESTS';
    default:
      return httpStatus >= 400 && httpStatus < 500 && httpStatus !== 407 && httpStatus !== 408
        ? 'BAD_USER_INPUT'
        : 'UPSTREAM_UNAVAILABLE';
  }
}

function parseStatus(text: string, httpStatus: number): ApiStatus | undefined {
  if (!text.trimStart().startsWith('{')) return undefined;
  try {
    return statusOf(JSON.parse(text), httpStatus);
  } catch {
    return undefined;
  }
}

function statusOf(value: unknown, httpStatus: number): ApiStatus | undefined {
  const status = record(value);
  if (status?.['kind'] !== 'Status') return undefined;
  const details = record(status['details']);
  const causes = Array.isArray(details?.['causes']) ? details['causes'] : [];
  const seconds = details?.['retryAfterSeconds'];
  return {
    code: typeof status['code'] === 'number' ? status['code'] : httpStatus,
    reason: textOr(status['reason']),
    message: textOr(status['message']),
    causes: causes.map((cause: unknown) => {
      const of = record(cause);
      return { reason: textOr(of?.['reason']), message: textOr(of?.['message']), field: textOr(of?.['field']) };
    }),
    retryAfterSeconds: typeof seconds === 'number' && seconds > 0 ? seconds : undefined,
  };
}

/**
 * The seconds of a Retry-After header. A date is compared with the answer's own Date header, so that the local clock does not
 * matter. Without a Date header, it is ignored.
 */
function retryAfterOf(headers: ErrorAnswer['headers']): number | undefined {
  const value = one(headers['retry-after'])?.trim();
  if (value === undefined || value === '') return undefined;
  if (/^\d{1,9}$/.test(value)) return Number(value);
  const seconds = (Date.parse(value) - Date.parse(one(headers['date']) ?? '')) / 1000;
  return Number.isFinite(seconds) && seconds > 0 ? Math.ceil(seconds) : undefined;
}

function later(a: number | undefined, b: number | undefined): number | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return Math.max(a, b);
}

/** The plain text of an HTML or text body, truncated for a message. */
function plainText(text: string): string {
  const title = /<title[^>]*>([^<]*)<\/title>/i.exec(text)?.[1];
  return oneLine((title ?? text).replace(/<[^>]*>/g, ' '), 120);
}

function oneLine(text: string, limit: number): string {
  const line = text
    .slice(0, limit * 4)
    .replace(/\s+/g, ' ')
    .trim();
  return line.length > limit ? `${line.slice(0, limit - 3)}...` : line;
}

function one(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}

/** For `catch`: null if the API server answered 404, the error otherwise. */
export function nullIfAbsent(error: unknown): null {
  if (error instanceof ApiError && error.httpStatus === 404) return null;
  throw error;
}
