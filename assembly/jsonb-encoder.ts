/**
 * Makes SQLite's JSONB of the text of one JSON value (RFC 8259), in one pass: the same bytes as SQLite's jsonb().
 *
 * Memory: the stack, the text from `textAt` on, sixteen bytes that `encode` clears, and the output. The caller writes the text and
 * chooses where the output begins. The output takes at most twice the bytes of the text, and 16 bytes after it are overwritten. The
 * stack has an entry of eight bytes for each open array and object. Bytes 0 to 3 of an entry are the address of the container's header.
 * Bytes 4 to 7 are 1 if the container is inside an object, else 0.
 *
 *   text                   {"a":[1]}
 *   output after the 1     __ __ 17 61 __ __ 13 31    two headers are reserved; the stack is (out, 0), (out + 4, 1)
 *   output after the ]     __ __ 17 61 2b 13 31       the array's header takes one byte, so its payload moved
 *   output after the }     5c 17 61 2b 13 31          the object's too
 *
 * Nearly all bytes of all lists pass here, and their speed depends on the compiler. It inlines a function with several callers only
 * while the function is small. It turns a short `if` into a `select`. Then the next address depends on a load from memory, which is
 * slower. Run `npm run bench -- bytes` after each change.
 */
import * as ascii from './ascii.ts';
import { byteAt, isAscii } from './bytes.ts';
import {
  endOfEscapedText,
  endOfFraction,
  endOfInteger,
  endOfPlainText,
  endOfWhitespace,
  isDigit,
  notJson,
} from './json-tokens.ts';
import {
  endContainer,
  reservedBytes,
  typeArray,
  typeEscapedText,
  typeFalse,
  typeFloat,
  typeInteger,
  typeNull,
  typeObject,
  typeText,
  typeTrue,
  writeHeader,
  writePayload,
} from './jsonb-writer.ts';

/** Maximum nesting depth of arrays and objects. SQLite allows 1,000. */
const maxDepth: i32 = 500;
const entryBytes: i32 = 8;
/** The address of the text. */
export const textAt: usize = maxDepth * entryBytes;

/** The bytes of `null` as a little-endian integer. */
const wordNull: i32 = 0x6c6c756e;
/** The bytes of `true` as a little-endian integer. */
const wordTrue: i32 = 0x65757274;
/** The first four bytes of `false` as a little-endian integer. */
const wordFals: i32 = 0x736c6166;

export { isAscii };

/** Writes the JSONB of the text from `at` to `end` to `out`. Returns the address after it, or 0 for what is not JSON or too deep. */
export function encode(at: usize, end: usize, out: usize): usize {
  v128.store(end, i64x2.splat(0));
  let depth = 0;
  let inObject = false;
  let isName = false;
  while (true) {
    // A name with its colon, the beginning of an array or object, or a whole value.
    at = endOfWhitespace(at);
    const first = byteAt(at);
    if (first === ascii.quote) {
      const from = at + 1;
      at = endOfPlainText(from);
      let type = typeText;
      if (byteAt(at) !== ascii.quote) {
        type = typeEscapedText;
        at = endOfEscapedText(at);
        if (at === notJson) return notJson;
      }
      out = writeHeader(out, type, (at - from) as i32);
      out = writePayload(out, from, at);
      at += 1;
      if (isName) {
        at = endOfWhitespace(at);
        if (byteAt(at) !== ascii.colon) return notJson;
        at += 1;
        isName = false;
        continue;
      }
    } else if (isName) return notJson;
    else if (first === ascii.openBrace || first === ascii.openBracket) {
      if (depth === maxDepth) return notJson;
      store<usize>(depth * entryBytes, out);
      store<i32>(depth * entryBytes, i32(inObject), 4);
      depth += 1;
      out += reservedBytes;
      inObject = first === ascii.openBrace;
      at = endOfWhitespace(at + 1);
      if (byteAt(at) !== closingBracket(inObject)) {
        isName = inObject;
        continue;
      }
    } else if (first === ascii.minus || isDigit(first)) {
      const from = at;
      const integerEnd = endOfInteger(from);
      if (integerEnd === notJson) return notJson;
      at = endOfFraction(integerEnd);
      if (at === notJson) return notJson;
      out = writeHeader(out, at === integerEnd ? typeInteger : typeFloat, (at - from) as i32);
      out = writePayload(out, from, at);
    } else if (load<i32>(at) === wordNull) {
      store<u8>(out, typeNull);
      out += 1;
      at += 4;
    } else if (load<i32>(at) === wordTrue) {
      store<u8>(out, typeTrue);
      out += 1;
      at += 4;
    } else if (load<i32>(at) === wordFals && byteAt(at + 4) === ascii.e) {
      store<u8>(out, typeFalse);
      out += 1;
      at += 5;
    } else return notJson;

    // After a value: the ends of arrays and objects, up to a comma or the end of the text.
    while (true) {
      at = endOfWhitespace(at);
      if (depth === 0) return at === end ? out : notJson;
      const mark = byteAt(at);
      at += 1;
      if (mark === ascii.comma) break;
      if (mark !== closingBracket(inObject)) return notJson;
      depth -= 1;
      out = endContainer(load<usize>(depth * entryBytes), out, inObject ? typeObject : typeArray);
      inObject = load<i32>(depth * entryBytes, 4) !== 0;
    }
    isName = inObject;
  }
}

function closingBracket(inObject: bool): i32 {
  return inObject ? ascii.closeBrace : ascii.closeBracket;
}
