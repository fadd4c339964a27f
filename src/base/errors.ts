/**
 * The one catalogue of error codes, and the one error class that carries them.
 *
 * Owns: every code that can reach a caller, in GraphQL (`extensions.code`), in HTTP and on the command line.
 * Never: a bare Error for a problem that a user can solve. A message is one sentence that says what to do.
 */
const errorCodes = {
  BAD_USER_INPUT: 'The request is well formed but a value in it cannot be used.',
  UNAUTHENTICATED: 'No credentials, or credentials that were refused.',
  FORBIDDEN: 'The caller is known and may not do this.',
  NOT_FOUND: 'There is no such thing.',
  CONFLICT: 'Somebody else changed the object first.',
  ALREADY_EXISTS: 'An object of this name exists.',
  INVALID: 'The API server found the object invalid.',
  GONE: 'The version that was asked for is no longer kept.',
  TOO_MANY_REQUESTS: 'The server asks to slow down.',
  QUERY_TOO_COSTLY: 'The query exceeds a limit.',
  CACHE_NOT_READY: 'The resource has not been synced yet.',
  UPSTREAM_UNAVAILABLE: 'The API server cannot be reached or does not answer properly.',
  SCHEMA_RELOAD: 'The schema changed and the operation no longer fits it.',
  TIMEOUT: 'The time allowed for this was used up.',
  CONFIGURATION: 'An option, a file or the environment is wrong.',
  INTERNAL_SERVER_ERROR: 'A defect in Portolan.',
} as const;

export type ErrorCode = keyof typeof errorCodes;

/** An error with a code of {@link errorCodes}. `details` travels in GraphQL's `extensions` beside the code. */
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
