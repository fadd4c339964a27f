/**
 * The cursor of a subscription: the epoch of the store file, and the newest change that the client has received.
 *
 *   base64url( JSON [ "live1", epoch, sequence ] )    for example ["live1","<epoch>",42], or -1 (`nowhere`) as the sequence
 *
 * A cursor does not contain the filter. Whether a change is ADDED, MODIFIED or REMOVED for a filter depends only on the object
 * before and after the change. So a client may continue from a list's cursor with another filter, for instance the ids of one
 * page.
 *
 * During a snapshot and after a GAP, the client has no complete set of objects, and the cursor is `nowhere`. Continuing from it
 * gives GAP and a new snapshot. So a client that loses its connection during a snapshot never takes a partial snapshot for a
 * complete one.
 */
import { PortolanError } from '../base/errors.ts';

export interface LiveCursor {
  readonly epoch: string;
  /** {@link nowhere}, or the sequence number of the newest change. */
  readonly sequence: number;
}

/** Less than the sequence number of every change. */
export const nowhere = -1;

/** The cursor as opaque text. */
export function encodeLiveCursor(cursor: LiveCursor): string {
  return Buffer.from(JSON.stringify(['live1', cursor.epoch, cursor.sequence])).toString('base64url');
}

/** @throws PortolanError BAD_USER_INPUT for text that is not a cursor of changes. */
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
