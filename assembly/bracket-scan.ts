/**
 * Follows strings, escapes and nesting of JSON text, sixteen bytes at a time. It does not check that the text is JSON.
 *
 * Memory: the state, the text from `textAt` on, and sixteen bytes of any value. The state is depth, inside, escaped and second, four
 * bytes each. The caller writes the text. `scan` reads it and writes the state in which it ends.
 *
 * Example: a scan of this text from the first byte to the last, with stop 0 and depth 0.
 *
 *   text      {"a":["]\""]}
 *   quotes     ^ ^  ^   ^       the escaped quote does not count
 *   strings    ##   ####        from an opening quote up to its closing quote
 *   depth     1    2     10     after each bracket outside of strings; the scan ends where it is 0
 *
 * Quotes, strings and brackets are words of sixteen bits, one bit for each byte. So a vector takes few branches. Quotes, backslashes
 * and brackets are ASCII, and UTF-8 has no ASCII bytes inside other characters.
 */
import * as ascii from './ascii.ts';
import { positionsOf, vectorBytes } from './bytes.ts';

const depthAt: usize = 0;
const insideAt: usize = 4;
const escapedAt: usize = 8;
const secondAt: usize = 12;
/** The address of the text. */
export const textAt: usize = 16;

const notFound: usize = 0;

/**
 * Goes from `at` to the bracket that brings the depth down to `stop`. Returns its address, or 0 when `end` comes first.
 *
 * The last three arguments are the state before the scan. `depth` counts the open brackets. `inside` is -1 in a string, else 0.
 * `escaped` is 1 when a backslash escapes the first byte, else 0. The state after the scan has `second` as well: the address of the
 * last bracket that made the depth 2, or 0.
 */
export function scan(at: usize, end: usize, stop: i32, depth: i32, inside: i32, escaped: i32): usize {
  let second = notFound;
  const least = max(stop, 1);
  for (; at < end; at += vectorBytes) {
    const vector = v128.load(at);
    const count = min(end - at, vectorBytes) as i32;
    const valid = (1 << count) - 1;

    let quotes = positionsOf(vector, ascii.quote) & valid;
    const backslashes = positionsOf(vector, ascii.backslash) & valid;
    if (backslashes | escaped) {
      const escapes = escapedPositions(backslashes, escaped);
      quotes &= ~escapes;
      escaped = (escapes >> count) & 1;
    }
    const strings = parities(quotes) ^ inside;
    inside = -((strings >> 15) & 1);

    const outside = valid & ~strings;
    const bracketsAlone = v128.and(vector, i8x16.splat(~ascii.caseBit as i8));
    const opened = positionsOf(bracketsAlone, ascii.openBracket) & outside;
    const closed = positionsOf(bracketsAlone, ascii.closeBracket) & outside;
    if (depth - popcnt(closed) > least) {
      // Even if all closing brackets came first, the depth would stay above `stop` and above 1. So only the number of brackets
      // matters.
      depth += popcnt(opened) - popcnt(closed);
      continue;
    }
    for (let brackets = opened | closed; brackets !== 0; brackets &= brackets - 1) {
      const position = ctz(brackets);
      if ((opened >> position) & 1) {
        depth += 1;
        if (depth === 2) second = at + position;
      } else {
        depth -= 1;
        if (depth <= stop) {
          writeState(depth, 0, 0, second);
          return at + position;
        }
      }
    }
  }
  writeState(depth, inside, escaped, second);
  return notFound;
}

/**
 * The positions that follow a backslash which is not escaped itself. Bit n stands for byte n of the vector, bit 16 for the byte after
 * the vector.
 */
function escapedPositions(backslashes: i32, firstIsEscaped: i32): i32 {
  let escapes = firstIsEscaped;
  for (; backslashes !== 0; backslashes &= backslashes - 1) {
    const lowest = backslashes & -backslashes;
    if ((escapes & lowest) === 0) escapes |= lowest << 1;
  }
  return escapes;
}

/** Bit n of the result is the parity of the bits 0 to n. For the bits of quotes it says that byte n is in a string. */
function parities(bits: i32): i32 {
  const ofTwo = bits ^ (bits << 1);
  const ofFour = ofTwo ^ (ofTwo << 2);
  const ofEight = ofFour ^ (ofFour << 4);
  return ofEight ^ (ofEight << 8);
}

function writeState(depth: i32, inside: i32, escaped: i32, second: usize): void {
  store<i32>(depthAt, depth);
  store<i32>(insideAt, inside);
  store<i32>(escapedAt, escaped);
  store<usize>(secondAt, second);
}
