/**
 * Cursors of lists. A cursor is a position in an order, as opaque text. It does not refer to a row: when the object changes or is
 * deleted, the position stays the same.
 *
 *   base64url( JSON [ version, fingerprint, [order key, …], cluster, resourceKey, namespace, name ] )
 *
 * A 64-bit integer order key is written as { "i": digits }. Example, for the Pod shop/web of cluster east ordered by one integer:
 *
 *   [1,"Xb3kQ1",[{"i":"5"}],"east","pods","shop","web"]
 *
 * The fingerprint binds a cursor to kinds, filter and order. A cursor contains no secret. Its content is not trusted.
 */
import { PortolanError } from '../../base/errors.ts';
import type { OrderKey } from '../../catalog/values/values.ts';
import { jsonListParts, pageColumns } from '../../store/pages/page-columns.ts';
import type { RowPart } from '../../store/pages/page-template.ts';
import type { Position } from './plan.ts';

const version = 1;
/** The members of the identity, in the order of a cursor. */
const members = ['cluster', 'key', 'namespace', 'name'] as const;
const minInt64 = -(2n ** 63n);
const maxInt64 = 2n ** 63n - 1n;

export function encodeCursor({ keys, identity }: Position, fingerprint: string): string {
  return encodeContent([version, fingerprint, keys.map(plainKey), ...members.map((member) => identity[member])]);
}

/** A JSON list as opaque text. */
export function encodeContent(content: readonly unknown[]): string {
  return Buffer.from(JSON.stringify(content)).toString('base64url');
}

/** An order key as a JSON value. */
export function plainKey(key: OrderKey | null): string | number | { readonly i: string } | null {
  return typeof key === 'bigint' ? { i: key.toString() } : key;
}

/** The parts that write the cursor of a row into a page template. `keys` write the row's order keys. */
export function cursorParts(key: string, keys: readonly RowPart[], fingerprint: string): readonly RowPart[] {
  const text = (value: unknown): RowPart => ({ is: 'text', text: JSON.stringify(value) });
  const identity = members.map(
    (member): RowPart =>
      member === 'key'
        ? text(key)
        : { is: 'column', at: pageColumns[member], otherwise: member === 'namespace' ? 'null' : '""' },
  );
  return [{ is: 'opaque', of: jsonListParts([text(version), text(fingerprint), jsonListParts(keys), ...identity]) }];
}

/**
 * The position in a cursor.
 * @throws PortolanError BAD_USER_INPUT for malformed text, or for a cursor of another list.
 */
export function decodeCursor(text: string, fingerprint: string): Position {
  const content = decodeContent(text);
  if (content.length !== 7 || typeof content[0] !== 'number') throw malformed(text);
  const [madeBy, madeFor, keys, cluster, key, namespace, name] = content;
  if (madeBy !== version || madeFor !== fingerprint) {
    throw new PortolanError(
      'BAD_USER_INPUT',
      `The cursor ${abbreviated(text)} belongs to another list; use a cursor with the kinds, filter and order it was given for.`,
    );
  }
  if (
    !Array.isArray(keys) ||
    typeof cluster !== 'string' ||
    typeof key !== 'string' ||
    (namespace !== null && typeof namespace !== 'string') ||
    typeof name !== 'string'
  ) {
    throw malformed(text);
  }
  return { keys: keys.map((item) => readPlainKey(item, text)), identity: { cluster, key, namespace, name } };
}

/**
 * The JSON list that encodeContent encoded.
 * @throws PortolanError BAD_USER_INPUT for any other text.
 */
export function decodeContent(text: string): readonly unknown[] {
  let content: unknown;
  try {
    content = JSON.parse(Buffer.from(text, 'base64url').toString()) as unknown;
  } catch {
    throw malformed(text);
  }
  if (!Array.isArray(content)) throw malformed(text);
  return content as unknown[];
}

/** The inverse of plainKey. `text` is the whole cursor, for the error. @throws PortolanError BAD_USER_INPUT */
export function readPlainKey(item: unknown, text: string): OrderKey | null {
  if (item === null || typeof item === 'string' || typeof item === 'number') return item;
  const digits = typeof item === 'object' && 'i' in item ? item.i : null;
  if (typeof digits !== 'string' || !/^-?[0-9]{1,19}$/.test(digits)) throw malformed(text);
  const key = BigInt(digits);
  if (key < minInt64 || key > maxInt64) throw malformed(text);
  return key;
}

/** The error for text that is not a cursor. */
export function malformed(text: string): PortolanError {
  return new PortolanError(
    'BAD_USER_INPUT',
    `${abbreviated(text)} is not a cursor; use one from pageInfo or an edge, just as it was given.`,
  );
}

function abbreviated(text: string): string {
  return JSON.stringify(text.length > 24 ? `${text.slice(0, 24)}…` : text);
}
