/**
 * The format of SQLite's JSONB (sqlite.org/jsonb.html). An element is a header and a payload. The lower four bits of the first byte are
 * the element's type. The upper four bits are the payload's size up to 11. The values 12 to 15 mean that the size follows in 1, 2, 4
 * or 8 bytes, big-endian.
 */

/** The types of elements made from JSON. SQLite has more types, for JSON5 and for raw texts. */
export const elementTypes = {
  null: 0,
  true: 1,
  false: 2,
  integer: 3,
  float: 5,
  text: 7,
  escapedText: 8,
  array: 11,
  object: 12,
} as const;

/** The object `body` with the members of the object `members` before its own. The two objects must have no name in common. */
export function withMembersBefore(members: Uint8Array, body: Uint8Array): Uint8Array {
  const first = payload(members);
  const second = payload(body);
  const size = first.length + second.length;
  const header = headerOf(size);
  const whole = Buffer.allocUnsafe(header.length + size);
  whole.set(header);
  whole.set(first, header.length);
  whole.set(second, header.length + first.length);
  return whole;
}

/** The position of an element's payload. */
export function payloadAt(jsonb: Uint8Array, at: number): number {
  const mark = (jsonb[at] as number) >> 4;
  return at + (mark <= 11 ? 1 : mark === 12 ? 2 : mark === 13 ? 3 : mark === 14 ? 5 : 9);
}

/** The size of an element's payload in bytes. */
export function payloadSize(jsonb: Uint8Array, at: number): number {
  const mark = (jsonb[at] as number) >> 4;
  if (mark <= 11) return mark;
  if (mark === 12) return jsonb[at + 1] as number;
  let size = 0;
  for (let place = at + 1; place < payloadAt(jsonb, at); place += 1) size = size * 256 + (jsonb[place] as number);
  return size;
}

function payload(element: Uint8Array): Uint8Array {
  return element.subarray(payloadAt(element, 0));
}

/** The shortest header of an object, as SQLite writes it. */
function headerOf(size: number): readonly number[] {
  const { object } = elementTypes;
  if (size <= 11) return [(size << 4) | object];
  if (size <= 0xff) return [0xc0 | object, size];
  if (size <= 0xffff) return [0xd0 | object, size >> 8, size & 0xff];
  return [0xe0 | object, (size >>> 24) & 0xff, (size >> 16) & 0xff, (size >> 8) & 0xff, size & 0xff];
}
