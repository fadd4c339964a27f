/**
 * Cuts metadata.managedFields out of an object's bytes before they are parsed: it is not stored, and about a third of the
 * bytes. Events keep its text, which says who made the change.
 *
 * Only the compact form of API servers is recognized, without spaces. The cut is just an optimization, since the store
 * removes any remaining managedFields. So the content of the cut is not validated, and invalid JSON elsewhere stays for the
 * parser.
 *
 * Example: `{"metadata":{"name":"a","managedFields":[{}]}}` becomes `{"metadata":{"name":"a"}}`.
 */
import { load, openObject, scan } from './bracket-scan.ts';

const openBrace = 0x7b;
const closeBrace = 0x7d;
const comma = 0x2c;

const metadataBegins = Buffer.from('"metadata":{');
const managedFieldsBegin = Buffer.from('"managedFields":[');

/** Larger objects keep their managedFields: the scanner's memory grows to the size of the object and never shrinks. */
const maxSearchedBytes = 2 * 1024 * 1024;

/**
 * A JSON object without managedFields. If it lies at `offset` in `bytes` that bracket-scan.ts has loaded, pass both to
 * avoid a reload.
 */
export function withoutManagedFields(object: Buffer, bytes: Buffer = object, offset = 0): Buffer {
  const cut = managedFieldsIn(object, bytes, offset);
  return cut === null ? object : without(object, cut);
}

/** A JSON object as `withoutManagedFields` gives it, and the text of its managedFields; undefined if nothing was cut out. */
export function splitManagedFields(object: Buffer): {
  readonly rest: Buffer;
  readonly managedFields: string | undefined;
} {
  const cut = managedFieldsIn(object, object, 0);
  if (cut === null) return { rest: object, managedFields: undefined };
  return { rest: without(object, cut), managedFields: object.toString('utf8', cut.list, cut.end) };
}

interface Cut {
  /** The member with one adjacent comma. */
  readonly from: number;
  readonly to: number;
  /** The list alone. */
  readonly list: number;
  readonly end: number;
}

function without(object: Buffer, { from, to }: Cut): Buffer {
  const rest = Buffer.allocUnsafe(from + object.length - to);
  object.copy(rest, 0, 0, from);
  object.copy(rest, from, to);
  return rest;
}

/** The range of managedFields with one adjacent comma; `object` is the text at `offset` in `bytes`. */
function managedFieldsIn(object: Buffer, bytes: Buffer, offset: number): Cut | null {
  let from = object.length > maxSearchedBytes ? -1 : object.indexOf(managedFieldsBegin);
  if (from === -1) return null;
  load(bytes);
  const state = openObject(0);
  for (let reached = 0; from !== -1; from = object.indexOf(managedFieldsBegin, from + 1)) {
    scan(offset + reached, offset + from, 0, state);
    reached = from;
    if (state.depth !== 2 || state.inString || !isMetadata(object, state.second - offset)) continue;
    const inside = from + managedFieldsBegin.length;
    const last = scan(offset + inside, offset + object.length, 2, { ...state, depth: 3 }) - offset;
    const list = { list: inside - 1, end: last + 1 };
    if (object[last + 1] === comma) return { ...list, from, to: last + 2 };
    if (object[last + 1] !== closeBrace) return null;
    return { ...list, from: object[from - 1] === comma ? from - 1 : from, to: last + 1 };
  }
  return null;
}

/** True if the object that begins here is the value of `metadata`. */
function isMetadata(object: Buffer, at: number): boolean {
  const from = at + 1 - metadataBegins.length;
  if (from < 1 || (object[from - 1] !== openBrace && object[from - 1] !== comma)) return false;
  return object.compare(metadataBegins, 0, metadataBegins.length, from, at + 1) === 0;
}
