/**
 * The errors of a Kubernetes API server: each is a `Status` object (meta/v1) with a code and a reason.
 * Source of reasons and wording: the API conventions of Kubernetes, "Response Status Kind".
 */
import { type ErrorCode, PortolanError } from '../../src/base/errors.ts';
import type { JsonObject } from './json.ts';

export interface StatusCause {
  readonly reason: string;
  readonly message: string;
  readonly field?: string;
}

interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly StatusCause[];
  readonly retryAfterSeconds?: number;
}

const codes: Readonly<Record<number, ErrorCode>> = {
  400: 'BAD_USER_INPUT',
  401: 'UNAUTHENTICATED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  410: 'GONE',
  422: 'INVALID',
  429: 'TOO_MANY_REQUESTS',
  503: 'UPSTREAM_UNAVAILABLE',
  504: 'TIMEOUT',
};

/** An unsuccessful response of the API server. */
export class StatusError extends PortolanError {
  readonly httpCode: number;
  readonly reason: string;
  readonly status: JsonObject;

  constructor(httpCode: number, reason: string, message: string, details?: StatusDetails, metadata: JsonObject = {}) {
    const known = reason === 'AlreadyExists' ? 'ALREADY_EXISTS' : httpCode === 409 ? 'CONFLICT' : codes[httpCode];
    super(known ?? 'INTERNAL_SERVER_ERROR', message);
    this.name = 'StatusError';
    this.httpCode = httpCode;
    this.reason = reason;
    this.status = { kind: 'Status', apiVersion: 'v1', metadata, status: 'Failure', message };
    if (reason !== '') this.status.reason = reason;
    if (details) this.status.details = details;
    this.status.code = httpCode;
  }
}

interface Named {
  readonly group: string;
  readonly plural: string;
}

const qualified = (resource: Named): string =>
  resource.group === '' ? resource.plural : `${resource.plural}.${resource.group}`;
const about = (resource: Named, name: string): StatusDetails => ({
  name,
  ...(resource.group === '' ? {} : { group: resource.group }),
  kind: resource.plural,
});

/** The most common error responses, one function each. */
export const statusErrors = {
  notFound: (resource: Named, name: string): StatusError =>
    new StatusError(404, 'NotFound', `${qualified(resource)} "${name}" not found`, about(resource, name)),
  noSuchPath: (): StatusError =>
    new StatusError(404, 'NotFound', 'the server could not find the requested resource', {}),
  alreadyExists: (resource: Named, name: string): StatusError =>
    new StatusError(409, 'AlreadyExists', `${qualified(resource)} "${name}" already exists`, about(resource, name)),
  conflict: (resource: Named, name: string, message: string): StatusError =>
    new StatusError(
      409,
      'Conflict',
      `Operation cannot be fulfilled on ${qualified(resource)} "${name}": ${message}`,
      about(resource, name),
    ),
  badRequest: (message: string): StatusError => new StatusError(400, 'BadRequest', message),
  forbidden: (resource: Named, name: string, message: string, causes: readonly StatusCause[] = []): StatusError =>
    new StatusError(403, 'Forbidden', `${qualified(resource)} "${name}" is forbidden: ${message}`, {
      ...about(resource, name),
      causes,
    }),
  unauthorized: (): StatusError => new StatusError(401, 'Unauthorized', 'Unauthorized'),
  methodNotAllowed: (): StatusError =>
    new StatusError(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {}),
  /** A 429; `retryAfterSeconds` 0 names no time. */
  tooManyRequests: (message: string, causes: readonly StatusCause[], retryAfterSeconds: number): StatusError =>
    new StatusError(429, 'TooManyRequests', message, {
      causes,
      ...(retryAfterSeconds > 0 ? { retryAfterSeconds } : {}),
    }),
  unsupportedMediaType: (message: string): StatusError => new StatusError(415, 'UnsupportedMediaType', message),
  expired: (message: string): StatusError => new StatusError(410, 'Expired', message),
  unavailable: (): StatusError =>
    new StatusError(503, 'ServiceUnavailable', 'the server is currently unable to handle the request'),
  tooLargeResourceVersion: (wanted: number, current: number): StatusError =>
    new StatusError(504, 'Timeout', `Timeout: Too large resource version: ${wanted}, current: ${current}`, {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      retryAfterSeconds: 1,
    }),
  /** A 422 with one cause for each invalid field. `kind` as in `Foo.samplecontroller.k8s.io`. */
  invalid: (group: string, kind: string, name: string, causes: readonly StatusCause[]): StatusError => {
    const lines = causes.map((cause) => (cause.field ? `${cause.field}: ${cause.message}` : cause.message));
    const text = lines.length === 1 ? lines[0] : `[${lines.join(', ')}]`;
    const full = group === '' ? kind : `${kind}.${group}`;
    return new StatusError(422, 'Invalid', `${full} "${name}" is invalid: ${text}`, {
      ...(name === '' ? {} : { name }),
      ...(group === '' ? {} : { group }),
      ...(kind === '' ? {} : { kind }),
      causes,
    });
  },
  /** A 422 for a patch whose result cannot be read: it names no object, as on a real server. */
  unreadablePatch: (problem: string): StatusError =>
    statusErrors.invalid('', '', '', [
      { reason: 'FieldValueInvalid', message: `Invalid value: the patched object: ${problem}`, field: 'patch' },
    ]),
};
