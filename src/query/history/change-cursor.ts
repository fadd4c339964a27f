/**
 * Cursors of recorded changes: a position in the change log, as opaque text.
 *
 *   base64url( JSON [ version, fingerprint, epoch of the store file, sequence number ] )
 *
 * The position in the logs of several cells has an epoch and a number for each, separated by commas.
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

/** The cursor of a position in several logs. */
export function encodeCellsCursor(lists: readonly ChangeList[], seqs: readonly number[]): string {
  return encodeContent([version, lists[0]?.fingerprint, epochsOf(lists), seqs.join()]);
}

/** The sequence numbers in a cursor of these lists. @throws as decodeChangeCursor */
export function decodeCellsCursor(text: string, lists: readonly ChangeList[]): readonly number[] {
  const [, , , seqs] = decodeContent(text);
  const numbers = (typeof seqs === 'string' ? seqs : '')
    .split(',')
    .map((each) => (/^\d+$/.test(each) ? Number(each) : Number.NaN));
  if (!numbers.every((each) => Number.isSafeInteger(each))) throw malformed(text);
  checkCursor(text, lists[0]?.fingerprint, epochsOf(lists));
  if (numbers.length !== lists.length) throw malformed(text);
  return numbers;
}

function epochsOf(lists: readonly ChangeList[]): string {
  return lists.map(({ epoch }) => epoch).join();
}

/** @throws as decodeChangeCursor, except for a place that is malformed */
function checkCursor(text: string, fingerprint: string | undefined, epoch: string): void {
  const [madeBy, madeFor, madeIn, , ...more] = decodeContent(text);
  if (typeof madeBy !== 'number' || more.length > 0) throw malformed(text);
  if (madeBy !== version || madeFor !== fingerprint) {
    throw new PortolanError(
      'BAD_USER_INPUT',
      'The cursor belongs to another list; use a cursor with the object, kinds, namespaces and clusters it was given for.',
    );
  }
  if (madeIn === epoch) return;
  throw new PortolanError('GONE', 'The store was rebuilt since the cursor was given; begin again without it.');
}

/**
 * The sequence number in a cursor of this list.
 * @throws PortolanError BAD_USER_INPUT for malformed text, or for a cursor of another list. GONE for a cursor of another store file.
 */
export function decodeChangeCursor(text: string, { fingerprint, epoch }: ChangeList): number {
  const [, , , seq] = decodeContent(text);
  if (typeof seq !== 'number' || !Number.isSafeInteger(seq)) throw malformed(text);
  checkCursor(text, fingerprint, epoch);
  return seq;
}
