/**
 * Cuts metadata.managedFields out of an object's bytes before anybody parses them: nobody wants it, and it is a third of them.
 *
 * It is found where it is written as API servers write it, without spaces. That is only a saving, the store removes what is left of
 * it; so what stands in it is not judged, and what is no JSON elsewhere stays as it is for whoever parses it.
 */
import { load, openObject, scan } from './bracket-scan.ts';

const openBrace = 0x7b;
const closeBrace = 0x7d;
const comma = 0x2c;

const metadataBegins = Buffer.from('"metadata":{');
const managedFieldsBegin = Buffer.from('"managedFields":[');

/** Bytes of an object up to which its managedFields are cut out: what it takes to look for them is kept. */
const mostCut = 2 * 1024 * 1024;
/** A JSON object without them. Where it stands in bytes that are loaded for bracket-scan.ts, say so: they are not loaded again. */
export function withoutManagedFields(object: Buffer, bytes: Buffer = object, offset = 0): Buffer {
  const cut = managedFieldsIn(object, bytes, offset);
  if (cut === null) return object;
  const rest = Buffer.allocUnsafe(cut.from + object.length - cut.to);
  object.copy(rest, 0, 0, cut.from);
  object.copy(rest, cut.from, cut.to);
  return rest;
}

/** Where they stand, with one of the commas around them; `object` is what stands at `offset` in `bytes`. */
function managedFieldsIn(
  object: Buffer,
  bytes: Buffer,
  offset: number,
): { readonly from: number; readonly to: number } | null {
  let from = object.length > mostCut ? -1 : object.indexOf(managedFieldsBegin);
  if (from === -1) return null;
  load(bytes);
  const state = openObject(0);
  for (let reached = 0; from !== -1; from = object.indexOf(managedFieldsBegin, from + 1)) {
    scan(offset + reached, offset + from, 0, state);
    reached = from;
    if (state.depth !== 2 || state.inString || !isMetadata(object, state.second - offset)) continue;
    const inside = from + managedFieldsBegin.length;
    const last = scan(offset + inside, offset + object.length, 2, { ...state, depth: 3 }) - offset;
    if (object[last + 1] === comma) return { from, to: last + 2 };
    if (object[last + 1] !== closeBrace) return null;
    return { from: object[from - 1] === comma ? from - 1 : from, to: last + 1 };
  }
  return null;
}

/** Does the object that begins here belong to the name metadata? */
function isMetadata(object: Buffer, at: number): boolean {
  const from = at + 1 - metadataBegins.length;
  if (from < 1 || (object[from - 1] !== openBrace && object[from - 1] !== comma)) return false;
  return object.compare(metadataBegins, 0, metadataBegins.length, from, at + 1) === 0;
}
