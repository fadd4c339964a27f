/**
 * Where a subscription stands: the life of the store file and the newest change that the client has been told of.
 *
 * A cursor says nothing of the filter: whether a change is ADDED, MODIFIED or REMOVED for a filter follows from the object before
 * and after the change alone, so a list's cursor may be continued with another filter (the ids of one page, for instance).
 *
 * A client that holds nothing whole yet, in the middle of a snapshot or after a GAP, stands nowhere: going on from there is answered
 * with GAP and a snapshot, so that a connection lost between two messages of a snapshot does not make half of one look whole.
 */
import { PortolanError } from '../base/errors.ts';

export interface LiveCursor {
  readonly epoch: string;
  /** {@link nowhere}, or the sequence number of the newest change. */
  readonly sequence: number;
}

/** Before every change that a log may have. */
export const nowhere = -1;

/** Opaque text of a cursor. */
export function encodeLiveCursor(cursor: LiveCursor): string {
  return Buffer.from(JSON.stringify(['live1', cursor.epoch, cursor.sequence])).toString('base64url');
}

/** Throws BAD_USER_INPUT when the text is not one of our cursors. */
export function decodeLiveCursor(text: string): LiveCursor {
  let parts: unknown;
  try {
    parts = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
  } catch {
    parts = null;
  }
  if (Array.isArray(parts) && parts.length === 3) {
    const [tag, epoch, sequence] = parts as readonly unknown[];
    if (tag === 'live1' && typeof epoch === 'string' && Number.isSafeInteger(sequence) && Number(sequence) >= nowhere) {
      return { epoch, sequence: Number(sequence) };
    }
  }
  throw new PortolanError(
    'BAD_USER_INPUT',
    'The value of `since` is not a cursor of changes; take it from `changesCursor` of a list or `cursor` of a message.',
  );
}
