/**
 * Finds where tokens of JSON text (RFC 8259) end. Each function takes the address where a part of a token begins. It returns the
 * address after that part, or 0 when the text is not JSON. A zero byte must follow the text, because it ends every token.
 *
 *   a\nb",   endOfPlainText(0) is 1, the backslash; endOfEscapedText(1) is 4, the closing quote
 *   -1.5e3,  endOfInteger(0) is 2, the dot; endOfFraction(2) is 6, the comma
 *   -1,      endOfInteger(0) is 2, the comma; endOfFraction(2) is 2 as well
 *
 * The functions return only addresses. Flags in variables of the module would cost a tenth of the time.
 */
import * as ascii from './ascii.ts';
import { byteAt, bytesEqual, bytesUpTo, vectorBytes } from './bytes.ts';

/** The result for text that is not JSON. */
export const notJson: usize = 0;

export function endOfWhitespace(at: usize): usize {
  // Most JSON has no white space between tokens. One comparison before the loop is faster than entering the loop.
  if (byteAt(at) > ascii.space) return at;
  while (true) {
    while (byteAt(at) === ascii.space) at += 1;
    const byte = byteAt(at);
    if (byte !== ascii.lineFeed && byte !== ascii.carriageReturn && byte !== ascii.tab) return at;
    at += 1;
  }
}

/** From a byte inside a string to the next quote, backslash or control character. */
export function endOfPlainText(at: usize): usize {
  let ends = endsOfPlainText(v128.load(at));
  while (ends === 0) {
    at += vectorBytes;
    ends = endsOfPlainText(v128.load(at));
  }
  return at + ctz(ends);
}

/** The positions of quotes, backslashes and control characters. */
function endsOfPlainText(vector: v128): i32 {
  const quotesAndBackslashes = v128.or(bytesEqual(vector, ascii.quote), bytesEqual(vector, ascii.backslash));
  return i8x16.bitmask(v128.or(bytesUpTo(vector, ascii.lastControl), quotesAndBackslashes));
}

/** From the first backslash or control character of a string to its closing quote. */
export function endOfEscapedText(at: usize): usize {
  do {
    if (byteAt(at) !== ascii.backslash) return notJson;
    at = endOfEscape(at + 1);
    if (at === notJson) return notJson;
    at = endOfPlainText(at);
  } while (byteAt(at) !== ascii.quote);
  return at;
}

/** From the byte after a backslash. */
function endOfEscape(at: usize): usize {
  switch (byteAt(at)) {
    case ascii.quote:
    case ascii.backslash:
    case ascii.slash:
    case ascii.b:
    case ascii.f:
    case ascii.n:
    case ascii.r:
    case ascii.t:
      return at + 1;
    case ascii.u:
      return endOfFourHexDigits(at + 1);
    default:
      return notJson;
  }
}

function endOfFourHexDigits(at: usize): usize {
  for (const end = at + 4; at < end; at += 1) {
    const byte = byteAt(at);
    if (!isDigit(byte) && !isBetween(byte | ascii.caseBit, ascii.a, ascii.f)) return notJson;
  }
  return at;
}

// The loops over digits are inlined by hand, because each has two results: the address, and the byte that was read last.

/** The sign and the digits before the dot. */
export function endOfInteger(at: usize): usize {
  let byte = byteAt(at);
  if (byte === ascii.minus) {
    at += 1;
    byte = byteAt(at);
  }
  if (byte === ascii.digit0) return at + 1;
  if (!isDigit(byte)) return notJson;
  while (isDigit(byte)) {
    at += 1;
    byte = byteAt(at);
  }
  return at;
}

/** The dot with its digits, and the exponent. Returns `at` where both are absent. */
export function endOfFraction(at: usize): usize {
  let byte = byteAt(at);
  if (byte === ascii.dot) {
    at += 1;
    byte = byteAt(at);
    if (!isDigit(byte)) return notJson;
    while (isDigit(byte)) {
      at += 1;
      byte = byteAt(at);
    }
  }
  if ((byte | ascii.caseBit) !== ascii.e) return at;
  at += 1;
  byte = byteAt(at);
  if (byte === ascii.plus || byte === ascii.minus) at += 1;
  byte = byteAt(at);
  if (!isDigit(byte)) return notJson;
  while (isDigit(byte)) {
    at += 1;
    byte = byteAt(at);
  }
  return at;
}

export function isDigit(byte: i32): bool {
  return isBetween(byte, ascii.digit0, ascii.digit9);
}

function isBetween(byte: i32, first: i32, last: i32): bool {
  return ((byte - first) as u32) <= ((last - first) as u32);
}
