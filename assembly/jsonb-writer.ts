/**
 * Writes elements of SQLite's JSONB (sqlite.org/jsonb.html). An element is a header of one to five bytes and a payload. The lower
 * four bits of the header's first byte are the type. Its upper four bits are the payload's size up to 11. For larger sizes they say
 * how many bytes follow with the size: one, two or four, the highest first.
 *
 *   "abc"                      37 61 62 63          text of 3 bytes
 *   a string of 300 letters    d7 01 2c 61 61 ...   text of 300 bytes, the size in two bytes
 *   [[]]                       1b 0b                array of 1 byte, which is an array of 0 bytes
 *
 * The size of an array or object is known when it ends. So two bytes are reserved for its header, and its payload is moved when the
 * header takes one, three or five.
 *
 * Payloads are copied as whole vectors, because a branch on their size would often be mispredicted. So up to 16 bytes after the
 * payload are read, and up to 16 bytes after the output are overwritten.
 */
import { vectorBytes } from './bytes.ts';

export const typeNull: i32 = 0;
export const typeTrue: i32 = 1;
export const typeFalse: i32 = 2;
export const typeInteger: i32 = 3;
export const typeFloat: i32 = 5;
export const typeText: i32 = 7;
export const typeEscapedText: i32 = 8;
export const typeArray: i32 = 11;
export const typeObject: i32 = 12;

/** The largest sizes for which the header has one, two and three bytes. */
const mostInFirstByte: i32 = 11;
const mostInOneMore: i32 = 0xff;
const mostInTwoMore: i32 = 0xffff;
/** The upper four bits of the first byte when one, two or four more bytes have the size. */
const oneMore: i32 = 0xc0;
const twoMore: i32 = 0xd0;
const fourMore: i32 = 0xe0;

/** Bytes reserved for the header of an array or object. */
export const reservedBytes: i32 = 2;

/** Writes the header for a payload of `size` bytes. Returns the address after it, where up to three bytes are overwritten. */
export function writeHeader(out: usize, type: i32, size: i32): usize {
  if (size > mostInOneMore) return writeLargeHeader(out, type, size);
  // Both forms are computed, because a branch on the size would often be mispredicted.
  const more = i32(size > mostInFirstByte);
  store<u32>(out, type | select<i32>(oneMore | (size << 8), size << 4, more));
  return out + 1 + more;
}

function writeLargeHeader(out: usize, type: i32, size: i32): usize {
  const more = size > mostInTwoMore ? 4 : 2;
  store<u8>(out, type | (size > mostInTwoMore ? fourMore : twoMore));
  store<u32>(out + 1, bswap(size << (32 - 8 * more)));
  return out + 1 + more;
}

/** Copies the payload from `from` to `end`. Returns the address after the copy. */
export function writePayload(out: usize, from: usize, end: usize): usize {
  const size = (end - from) as i32;
  v128.store(out, v128.load(from));
  for (let copied = vectorBytes; copied < size; copied += vectorBytes) {
    v128.store(out + copied, v128.load(from + copied));
  }
  return out + size;
}

/**
 * Writes the header of the array or object whose reserved bytes are at `start` and whose payload ends at `end`. Returns the address
 * after the payload, which may have moved.
 */
export function endContainer(start: usize, end: usize, type: i32): usize {
  const reserved = start + reservedBytes;
  const size = (end - reserved) as i32;
  if (size > mostInOneMore) {
    // The first vector is stored last, because the header overwrites some of its bytes.
    const head = v128.load(reserved);
    const payload = start + (size > mostInTwoMore ? 5 : 3);
    memory.copy(payload, reserved, size);
    writeLargeHeader(start, type, size);
    v128.store(payload, head);
    return payload + size;
  }
  if (size > mostInFirstByte) {
    store<u8>(start, type | oneMore);
    store<u8>(start + 1, size);
    return end;
  }
  v128.store(start + 1, v128.load(reserved));
  store<u8>(start, type | (size << 4));
  return end - 1;
}
