/**
 * Makes SQLite's JSONB (sqlite.org/jsonb.html) of JSON text: the same bytes as SQLite's jsonb() for JSON as in RFC 8259. The callers
 * leave everything else to SQLite.
 *
 * Nearly all bytes of all lists pass here, so the loop is WebAssembly: assembly/jsonb-encoder.ts, which describes its memory. It
 * looks for the end of a string in sixteen bytes at a time, because the processor cannot predict where the many short strings end.
 *
 *   {"a":[1]}   ->   5c 17 61 2b 13 31   object of 5 bytes, text "a", array of 2 bytes, integer "1"
 */
import { wasm } from '../generated/jsonb-encoder.ts';

interface Exports {
  readonly memory: WebAssembly.Memory;
  /** The address of the text. */
  readonly textAt: { readonly value: number };
  /** Returns the address after the output, or 0. */
  readonly encode: (at: number, end: number, out: number) => number;
  /** For a text that has been encoded; returns 1 or 0. */
  readonly isAscii: (at: number, end: number) => number;
}

const instance = new WebAssembly.Instance(new WebAssembly.Module(Buffer.from(wasm, 'base64')));
const { memory, textAt, encode, isAscii } = instance.exports as unknown as Exports;
const inputAt = textAt.value;
/** The longest text in bytes. The memory never shrinks, and few objects are nearly as long. */
const longest = 4 * 1024 * 1024;
/** The loop reads and writes vectors of sixteen bytes, so it may pass the end of the text and of the output. */
const spareBytes = 32;
const pageBytes = 65_536;

let whole = Buffer.from(memory.buffer);

interface EncodedJson {
  /** Valid until the next call, which overwrites this memory. */
  readonly jsonb: Buffer;
  /** All bytes of the text are ASCII. */
  readonly isAscii: boolean;
}

/**
 * JSONB of the bytes of one JSON value. Returns null where the bytes are not JSON, nest deeper than 500, or are more than 4 MiB. Does
 * not check that they are UTF-8.
 */
export function encodeJsonb(bytes: Uint8Array): EncodedJson | null {
  if (bytes.length > longest) return null;
  const inputEnd = inputAt + bytes.length;
  const outputAt = inputEnd + spareBytes;
  // The output takes at most twice the bytes of the text: an open bracket or a number of one digit takes two bytes.
  const missing = outputAt + 2 * bytes.length + spareBytes - whole.length;
  if (missing > 0) {
    memory.grow(Math.ceil(missing / pageBytes));
    whole = Buffer.from(memory.buffer);
  }
  whole.set(bytes, inputAt);
  const outputEnd = encode(inputAt, inputEnd, outputAt);
  if (outputEnd === 0) return null;
  return { jsonb: whole.subarray(outputAt, outputEnd), isAscii: isAscii(inputAt, inputEnd) !== 0 };
}
