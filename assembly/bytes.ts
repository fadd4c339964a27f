/** Reads bytes of the memory: one at a time, or sixteen at a time as a vector. */

export const vectorBytes: i32 = 16;

export function byteAt(address: usize): i32 {
  return load<u8>(address);
}

/** Bit n of the result is set where byte n of the vector is `byte`. */
export function positionsOf(vector: v128, byte: i32): i32 {
  return i8x16.bitmask(bytesEqual(vector, byte));
}

/** All bits of the bytes that are `byte`, no bits of the others. */
export function bytesEqual(vector: v128, byte: i32): v128 {
  return i8x16.eq(vector, i8x16.splat(byte as i8));
}

/** All bits of the bytes from 0 to `byte`, no bits of the others. */
export function bytesUpTo(vector: v128, byte: i32): v128 {
  return i8x16.le_u(vector, i8x16.splat(byte as i8));
}

/** Says if all bytes from `at` to `end` are ASCII. Fifteen bytes of ASCII must follow `end`. */
export function isAscii(at: usize, end: usize): bool {
  let seen: v128 = i64x2.splat(0);
  for (; at + 4 * vectorBytes <= end; at += 4 * vectorBytes) {
    const first = v128.or(v128.load(at), v128.load(at, 16));
    const second = v128.or(v128.load(at, 32), v128.load(at, 48));
    seen = v128.or(seen, v128.or(first, second));
  }
  for (; at < end; at += vectorBytes) seen = v128.or(seen, v128.load(at));
  return i8x16.bitmask(seen) === 0;
}
