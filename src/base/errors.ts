/**
 * The catalogue of error codes, and the error class that carries them.
 *
 * Owns: every code that can reach a caller, in GraphQL (`extensions.code`), in HTTP and on the command line.
 * Never: a bare Error for a problem that a user can solve. A message is one sentence with instructions.
 */
export const errorCodes = {
  BAD_USER_INPUT: 'The request is well formed but contains an invalid value.',
  UNAUTHENTICATED: 'No credentials, or rejected credentials.',
  FORBIDDEN: 'The caller is authenticated but lacks the permission.',
  NOT_FOUND: 'The requested item does not exist.',
  CONFLICT: 'The object has been changed by another client.',
  ALREADY_EXISTS: 'An object of this name exists.',
  INVALID: 'The API server rejected the object as invalid.',
  GONE: 'The requested version is no longer available.',
  TOO_MANY_REQUESTS: 'The server limits the rate of requests.',
  QUERY_TOO_COSTLY: 'The query exceeds a limit.',
  CACHE_NOT_READY: 'The resource has not been synced yet.',
  RESOURCE_REFUSED: 'The API server refuses the resource to Portolan.',
  AUDIT_UNAVAILABLE: 'The audit log cannot be written, so nothing else is.',
  UPSTREAM_UNAVAILABLE: 'The API server cannot be reached or does not answer properly.',
  SCHEMA_RELOAD: 'The schema changed and the operation no longer fits it.',
  VALUE_MISFIT: 'A stored value does not fit the schema of its field.',
  TIMEOUT: 'The time limit was exceeded.',
  CONFIGURATION: 'An option, a file or the environment is wrong.',
  INTERNAL_SERVER_ERROR: 'A defect in Portolan.',
} as const;

export type ErrorCode = keyof typeof errorCodes;

/** An error with a code of {@link errorCodes}. `details` become members of GraphQL's `extensions` besides the code. */
export class PortolanError extends Error {
  readonly code: ErrorCode;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(
    code: ErrorCode,
    message: string,
    options: { cause?: unknown; details?: Readonly<Record<string, unknown>> } = {},
  ) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined);
    this.name = 'PortolanError';
    this.code = code;
    this.details = options.details ?? {};
  }
}

/** The code of any thrown value: INTERNAL_SERVER_ERROR unless it is a PortolanError. */
export function codeOf(error: unknown): ErrorCode {
  return error instanceof PortolanError ? error.code : 'INTERNAL_SERVER_ERROR';
}

/** The message of any thrown value. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
