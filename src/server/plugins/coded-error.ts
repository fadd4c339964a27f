/**
 * Converts thrown values to GraphQL errors; this module alone does it. A PortolanError keeps its message and code. The end of a request
 * that its client has left is no defect. Any other thrown value is one: it is logged with a random number, and the caller receives only
 * that number.
 */
import { randomUUID } from 'node:crypto';
import { GraphQLError } from 'graphql';
import { messageOf, PortolanError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';

/** The error for the caller. It always has `extensions.code`. */
export function codedError(error: unknown, log: Logger): GraphQLError {
  const original = originalOf(error);
  const place =
    error instanceof GraphQLError
      ? {
          nodes: error.nodes ?? null,
          source: error.source ?? null,
          positions: error.positions ?? null,
          path: error.path ?? null,
        }
      : {};
  if (original instanceof PortolanError) {
    const { code, details, message } = original;
    return new GraphQLError(message, { ...place, extensions: { ...details, code } });
  }
  if (error instanceof GraphQLError && (original === undefined || original instanceof GraphQLError)) {
    if (error.extensions['code'] !== undefined) return error;
    // graphql-js rejected it during execution, for example a variable. The caller can correct it.
    return new GraphQLError(error.message, { ...place, extensions: { ...error.extensions, code: 'BAD_USER_INPUT' } });
  }
  const number = randomUUID();
  log.error(
    { error: messageOf(original ?? error), stack: stackOf(original ?? error), number },
    'an operation failed unexpectedly',
  );
  return new GraphQLError(`Portolan failed unexpectedly; its log has the details under ${number}.`, {
    ...place,
    extensions: { code: 'INTERNAL_SERVER_ERROR', number },
  });
}

/** The code that {@link codedError} gives the error; logs nothing. */
export function codeOfThrown(error: unknown): string {
  const original = originalOf(error);
  if (original instanceof PortolanError) return original.code;
  if (error instanceof GraphQLError && (original === undefined || original instanceof GraphQLError)) {
    const { code } = error.extensions;
    return typeof code === 'string' ? code : 'BAD_USER_INPUT';
  }
  return 'INTERNAL_SERVER_ERROR';
}

function originalOf(error: unknown): unknown {
  let current = error;
  while (current instanceof GraphQLError && current.originalError !== undefined) current = current.originalError;
  // Portolan's own aborts have reasons of their own.
  const isAbort = current instanceof Error && current.name === 'AbortError';
  return isAbort ? new PortolanError('TIMEOUT', 'The client has left before the answer.', { cause: current }) : current;
}

function stackOf(error: unknown): string | undefined {
  return error instanceof Error ? error.stack : undefined;
}
