/**
 * Follows strings, escapes and nesting of JSON, sixteen bytes at a time. It does not check that the bytes are JSON.
 *
 * Nearly all bytes of all lists pass through this scan. A loop over single bytes in JavaScript takes several times as long, because
 * the processor cannot predict where the many short strings end. So the loop is WebAssembly: assembly/bracket-scan.ts, which describes
 * its memory.
 *
 *   load(bytes) -> scan(from, to, stop, state) -> the position where the depth came down to `stop`, or -1
 *
 *   load of {"a":[1,"]"         scan(0, 11, 0, openObject(0)) is -1; the state has depth 2 and second 5
 *   load of ]},{"a":2}          scan(0, 10, 0, the same state) is 1, where the object ends
 *
 * The scans of a thread share one memory. Loaded bytes stay in it until others are loaded.
 */
import { wasm } from '../generated/bracket-scan.ts';

export interface ScanState {
  /** Number of open brackets. */
  depth: number;
  inString: boolean;
  /** A backslash escapes the next byte. */
  escaped: boolean;
  /** The position of the last bracket that raised the depth to 2, in the bytes loaded at that time; -1 before the first. */
  second: number;
}

/** The state before the first bracket of an object (depth 0) or after it (depth 1). */
export function openObject(depth: 0 | 1): ScanState {
  return { depth, inString: false, escaped: false, second: -1 };
}

interface Exports {
  readonly memory: WebAssembly.Memory;
  /** The address of the text. */
  readonly textAt: { readonly value: number };
  /** Returns the address of the bracket that was searched for, or 0. */
  readonly scan: (at: number, end: number, stop: number, depth: number, inside: number, escaped: number) => number;
}

const instance = new WebAssembly.Instance(new WebAssembly.Module(Buffer.from(wasm, 'base64')));
const { memory, textAt, scan: run } = instance.exports as unknown as Exports;
/** The scan state, four 32-bit numbers, is stored before the text. */
const stateBytes = textAt.value;
/** A scan reads vectors of sixteen bytes, so it may read past the end of the text. */
const spareBytes = stateBytes + 16;
const pageBytes = 65_536;

let whole = new Uint8Array(memory.buffer);
let state = new Int32Array(memory.buffer, 0, stateBytes / 4);
let loaded: Uint8Array | null = null;

/** Loads the bytes for the next scans. They must not change until other bytes are loaded. */
export function load(bytes: Uint8Array): void {
  if (loaded === bytes) return;
  const missing = bytes.length + spareBytes - whole.length;
  if (missing > 0) {
    memory.grow(Math.ceil(missing / pageBytes));
    whole = new Uint8Array(memory.buffer);
    state = new Int32Array(memory.buffer, 0, stateBytes / 4);
  }
  whole.set(bytes, stateBytes);
  loaded = bytes;
}

/** Scans from `from` to the bracket that lowers the depth to `stop`. Returns its position, or -1 if `to` is reached first. */
export function scan(from: number, to: number, stop: number, known: ScanState): number {
  const { depth, inString, escaped } = known;
  const found = run(from + stateBytes, to + stateBytes, stop, depth, inString ? -1 : 0, escaped ? 1 : 0);
  const [newDepth = 0, newInside = 0, newEscaped = 0, newSecond = 0] = [state[0], state[1], state[2], state[3]];
  known.depth = newDepth;
  known.inString = newInside !== 0;
  known.escaped = newEscaped !== 0;
  if (newSecond !== 0) known.second = newSecond - stateBytes;
  return found === 0 ? -1 : found - stateBytes;
}
