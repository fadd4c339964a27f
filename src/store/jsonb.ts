/**
 * The little of SQLite's JSONB that is done in JavaScript. An element begins with a byte of its type (the lower four bits) and the
 * size of what follows: up to 11 in that byte itself, else the number of bytes, big-endian, that say it. See sqlite.org/jsonb.html.
 */

const object = 12;

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

function payload(element: Uint8Array): Uint8Array {
  const sizeBytes = [0, 1, 2, 4, 8][Math.max(0, ((element[0] ?? 0) >> 4) - 11)] ?? 0;
  return element.subarray(1 + sizeBytes);
}

/** The shortest one, as SQLite writes it. */
function headerOf(size: number): readonly number[] {
  if (size <= 11) return [(size << 4) | object];
  if (size <= 0xff) return [0xc0 | object, size];
  if (size <= 0xffff) return [0xd0 | object, size >> 8, size & 0xff];
  return [0xe0 | object, (size >>> 24) & 0xff, (size >> 16) & 0xff, (size >> 8) & 0xff, size & 0xff];
}
