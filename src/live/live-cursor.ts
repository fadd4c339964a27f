/**
 * The cursor of a subscription: the epoch of the store file, and the newest change that the client has received.
 *
 *   base64url( JSON [ "live1", epoch, sequence ] )          for example ["live1","<epoch>",42], or -1 (`nowhere`) as the sequence
 *   base64url( JSON [ "live1", epoch, sequence, scope ] )   for a caller who does not see all objects
 *
 * A cursor does not contain the filter. Whether a change is ADDED, MODIFIED or REMOVED for a filter depends only on the object
 * before and after the change. So a client may continue from a list's cursor with another filter, for instance the ids of one
 * page.
 *
 * The client has the objects that its caller could see. If the caller may see other objects now, continuing gives GAP. So a cursor
 * contains a digest of the scope.
 *
 * During a snapshot and after a GAP, the client has no complete set of objects, and the cursor is `nowhere`. Continuing from it
 * gives GAP and a new snapshot. So a client that loses its connection during a snapshot never takes a partial snapshot for a
 * complete one.
 */
import { createHash } from 'node:crypto';
import { allRows, type Scope, scopeText } from '../access/scope.ts';
import { PortolanError } from '../base/errors.ts';

export interface LiveCursor {
  readonly epoch: string;
  /** {@link nowhere}, or the sequence number of the newest change. */
  readonly sequence: number;
  /** `scopeMark` of the objects that the client's caller could see; absent if that were all. */
  readonly scope?: string;
}

const marks = new WeakMap<Scope, string>();

/** A digest of a scope; undefined for all rows. */
export function scopeMark(scope: Scope): string | undefined {
  if (scope.rows === 'all') return undefined;
  const known = marks.get(scope) ?? createHash('sha256').update(scopeText(scope)).digest('base64url').slice(0, 16);
  marks.set(scope, known);
  return known;
}

/** Less than the sequence number of every change. */
export const nowhere = -1;

/** The cursor as opaque text. @param scope the rows that the caller may see. */
export function encodeLiveCursor({ epoch, sequence }: LiveCursor, scope: Scope = allRows): string {
  const mark = scopeMark(scope);
  const parts = ['live1', epoch, sequence, ...(mark === undefined ? [] : [mark])];
  return Buffer.from(JSON.stringify(parts)).toString('base64url');
}

/** @throws PortolanError BAD_USER_INPUT for text that is not a cursor of changes. */
export function decodeLiveCursor(text: string): LiveCursor {
  let parts: unknown;
  try {
    parts = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
  } catch {
    parts = null;
  }
  if (Array.isArray(parts) && (parts.length === 3 || (parts.length === 4 && typeof parts[3] === 'string'))) {
    const [tag, epoch, sequence, scope] = parts as readonly unknown[];
    if (tag === 'live1' && typeof epoch === 'string' && Number.isSafeInteger(sequence) && Number(sequence) >= nowhere) {
      return { epoch, sequence: Number(sequence), ...(scope === undefined ? {} : { scope: String(scope) }) };
    }
  }
  throw new PortolanError(
    'BAD_USER_INPUT',
    'The value of `since` is not a cursor of changes; take it from `changesCursor` of a list or `cursor` of a message.',
  );
}
