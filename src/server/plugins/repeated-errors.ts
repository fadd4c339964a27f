/**
 * The errors of a result in which the operation is over one of its bounds. Each field that is resolved after that has an error, so a list
 * would have one for each of its objects. The field has the first one, with the number of the others.
 *
 *   nodes.0.usedBy.totalCount TIMEOUT                              nodes.0.usedBy.totalCount TIMEOUT, leftOut: 299
 *   nodes.1.usedBy.totalCount TIMEOUT, and 298 more        ->
 */
import { GraphQLError } from 'graphql';
import { PortolanError } from '../../base/errors.ts';
import type { Result } from './message-stream.ts';

const bounds: ReadonlySet<string> = new Set(['TIMEOUT', 'QUERY_TOO_COSTLY']);

export function withoutRepeats(result: Result): Result {
  const { errors = [] } = result;
  if (errors.length < 2) return result;
  const alike = [...Map.groupBy(errors, keyOf).values()];
  return alike.length === errors.length ? result : { ...result, errors: alike.map(first) };
}

/** The field of the document, or the error itself if it is not of a bound. */
function keyOf(error: unknown): unknown {
  const original = error instanceof GraphQLError ? error.originalError : null;
  if (!(error instanceof GraphQLError && original instanceof PortolanError && bounds.has(original.code))) return error;
  return JSON.stringify([original.code, error.path?.filter((step) => typeof step === 'string')]);
}

function first([error, ...others]: readonly unknown[]): unknown {
  if (others.length === 0 || !(error instanceof GraphQLError && error.originalError instanceof PortolanError)) {
    return error;
  }
  const { code, message, details } = error.originalError;
  const leftOut = others.length;
  const text = `${message} The field is null for the same reason in ${leftOut} more ${leftOut === 1 ? 'place' : 'places'}.`;
  const { nodes, path } = error;
  const originalError = new PortolanError(code, text, { details: { ...details, leftOut }, cause: error.originalError });
  return new GraphQLError(text, { nodes: nodes ?? null, path: path ?? null, originalError });
}
