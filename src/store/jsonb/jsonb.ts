/**
 * The form of SQLite's JSONB. An element begins with a byte of its type (the lower four bits) and the size of what follows: up to 11
 * in that byte itself, else the number of bytes, big-endian, that say it. See sqlite.org/jsonb.html.
 */

/** Those that JSON gives: SQLite knows some more, for JSON5 and for texts of its own. */
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

/** The object `body` with all members of `members`, another object, in front of its own. None of its names may stand in both. */
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

/** Where what an element holds begins. */
export function payloadAt(jsonb: Uint8Array, at: number): number {
  const mark = (jsonb[at] as number) >> 4;
  return at + (mark <= 11 ? 1 : mark === 12 ? 2 : mark === 13 ? 3 : mark === 14 ? 5 : 9);
}

/** The bytes of what an element holds. */
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

/** The shortest one, as SQLite writes it. */
function headerOf(size: number): readonly number[] {
  const { object } = elementTypes;
  if (size <= 11) return [(size << 4) | object];
  if (size <= 0xff) return [0xc0 | object, size];
  if (size <= 0xffff) return [0xd0 | object, size >> 8, size & 0xff];
  return [0xe0 | object, (size >>> 24) & 0xff, (size >> 16) & 0xff, (size >> 8) & 0xff, size & 0xff];
}
