/**
 * Cursors of lists: a place in an order, as an opaque text. Not a row: the object it was made of may change or go, and the place
 * stays where it was.
 *
 *   base64url( JSON [ version, fingerprint, [key, …], cluster, key, namespace, name ] )    a 64-bit integer key is { "i": digits }
 *
 * The fingerprint ties it to kinds, filter and order. Nothing in it is secret, and nothing in it is trusted.
 */
import { PortolanError } from '../../base/errors.ts';
import type { OrderKey } from '../../catalog/values/values.ts';
import { jsonListParts, pageColumns } from '../../store/pages/page-columns.ts';
import type { RowPart } from '../../store/pages/page-template.ts';
import type { Position } from './plan.ts';

const version = 1;
/** Of the identity, in the order in which a cursor has them. */
const members = ['cluster', 'key', 'namespace', 'name'] as const;
const minInt64 = -(2n ** 63n);
const maxInt64 = 2n ** 63n - 1n;

export function encodeCursor({ keys, identity }: Position, fingerprint: string): string {
  return encodeContent([version, fingerprint, keys.map(plainKey), ...members.map((member) => identity[member])]);
}

/** Any JSON list as an opaque text. */
export function encodeContent(content: readonly unknown[]): string {
  return Buffer.from(JSON.stringify(content)).toString('base64url');
}

/** A key as JSON has it. */
export function plainKey(key: OrderKey | null): string | number | { readonly i: string } | null {
  return typeof key === 'bigint' ? { i: key.toString() } : key;
}

/** The parts that write the cursor of a row, for a page that is written as text; `keys` write its order keys. */
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
 * The place that a cursor names.
 * @throws PortolanError BAD_USER_INPUT when it is no cursor, or one of another list.
 */
export function decodeCursor(text: string, fingerprint: string): Position {
  const content = decodeContent(text);
  if (content.length !== 7 || typeof content[0] !== 'number') throw malformed(text);
  const [made, of, keys, cluster, key, namespace, name] = content;
  if (made !== version || of !== fingerprint) {
    throw new PortolanError(
      'BAD_USER_INPUT',
      `The cursor ${shown(text)} belongs to another list; use a cursor with the kinds, filter and order it was given for.`,
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
 * What encodeContent made this text of.
 * @throws PortolanError BAD_USER_INPUT when it made none.
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

/** The key of plainKey; `text` is the whole cursor, for the error. */
export function readPlainKey(item: unknown, text: string): OrderKey | null {
  if (item === null || typeof item === 'string' || typeof item === 'number') return item;
  const digits = typeof item === 'object' && 'i' in item ? item.i : null;
  if (typeof digits !== 'string' || !/^-?[0-9]{1,19}$/.test(digits)) throw malformed(text);
  const key = BigInt(digits);
  if (key < minInt64 || key > maxInt64) throw malformed(text);
  return key;
}

export function malformed(text: string): PortolanError {
  return new PortolanError(
    'BAD_USER_INPUT',
    `${shown(text)} is not a cursor; use one from pageInfo or an edge, just as it was given.`,
  );
}

function shown(text: string): string {
  return JSON.stringify(text.length > 24 ? `${text.slice(0, 24)}…` : text);
}
