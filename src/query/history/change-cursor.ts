/**
 * Cursors of recorded changes: a position in the change log, as opaque text.
 *
 *   base64url( JSON [ version, fingerprint, epoch of the store file, sequence number ] )
 */
import { PortolanError } from '../../base/errors.ts';
import { decodeContent, encodeContent, malformed } from '../plan/cursor.ts';

const version = 1;

/** The list and the store file of a cursor. */
export interface ChangeList {
  readonly fingerprint: string;
  /** Random id of the store file. */
  readonly epoch: string;
}

export function encodeChangeCursor({ fingerprint, epoch }: ChangeList, seq: number): string {
  return encodeContent([version, fingerprint, epoch, seq]);
}

/**
 * The sequence number in a cursor of this list.
 * @throws PortolanError BAD_USER_INPUT for malformed text, or for a cursor of another list. GONE for a cursor of another store file.
 */
export function decodeChangeCursor(text: string, { fingerprint, epoch }: ChangeList): number {
  const [madeBy, madeFor, madeIn, seq, ...more] = decodeContent(text);
  if (typeof madeBy !== 'number' || typeof seq !== 'number' || !Number.isSafeInteger(seq) || more.length > 0) {
    throw malformed(text);
  }
  if (madeBy !== version || madeFor !== fingerprint) {
    throw new PortolanError(
      'BAD_USER_INPUT',
      'The cursor belongs to another list; use a cursor with the object, kinds, namespaces and clusters it was given for.',
    );
  }
  if (madeIn === epoch) return seq;
  throw new PortolanError('GONE', 'The store was rebuilt since the cursor was given; begin again without it.');
}
