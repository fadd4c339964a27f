/**
 * Follows strings, escapes and nesting of JSON, sixteen bytes at a time: nearly all bytes of all lists pass here. A loop over single
 * bytes in JavaScript takes several times as long, because the processor cannot guess where the many short strings end, so this one
 * is WebAssembly. Its marks are ASCII, which UTF-8 never has inside another character. It does not judge JSON.
 *
 *   load(bytes) -> scan(from, to, stop, state): where the nesting came down to `stop`, or -1 and the state at `to`
 *
 * All who scan in a thread share one memory: what was loaded is there until somebody loads something else.
 */
import * as code from '../../base/wasm-code.ts';

export interface ScanState {
  /** How many brackets are open. */
  depth: number;
  inString: boolean;
  /** The next byte is escaped. */
  escaped: boolean;
  /** Where the bracket stands that made the depth 2, counted in what was loaded; -1 when there was none since this was last set. */
  second: number;
}

/** Where nothing of an object has been scanned yet, or its first bracket has. */
export function openObject(depth: 0 | 1): ScanState {
  return { depth, inString: false, escaped: false, second: -1 };
}

const { get, set, number, and, or, xor, add, subtract, isEqual, isLess, isMore, when, loop } = code;

// Locals. The parameters:
const [at, end, stop, depth, inside, escaped] = [0, 1, 2, 3, 4, 5];
// Bits for sixteen bytes each:
const [quotes, slashes, strings, opened, closed, valid] = [6, 7, 8, 9, 10, 11];
const [place, second] = [12, 13];
const [vector, folded] = [14, 15];

const quote = 0x22;
const backslash = 0x5c;
const openBracket = 0x5b;
const closeBracket = 0x5d;
/** Braces differ from brackets in this bit only. */
const braceBit = 0x20;

/** What is kept at the beginning of the memory: depth, inside, escaped, second; four bytes each. */
const stateBytes = 16;
const keepState = [depth, inside, escaped, second].map((local, index) => code.keep(index * 4, get(local)));
const without = (bits: number, others: number): code.Code => and(get(bits), xor(get(others), number(-1)));
const bitsOf = (local: number, byte: number): code.Code => and(code.placesOf(get(local), byte), get(valid));

/** `place` goes over the bytes of this step; quotes that are escaped are none. */
const dropEscaped = [
  set(place, number(0)),
  loop(and(isLess(get(place), number(16)), isLess(add(get(at), get(place)), get(end))), [
    when(
      get(escaped),
      [set(quotes, and(get(quotes), xor(code.shiftLeft(number(1), get(place)), number(-1)))), set(escaped, number(0))],
      [set(escaped, and(code.shiftRight(get(slashes), get(place)), number(1)))],
    ),
    set(place, add(get(place), number(1))),
  ]),
];

/** Goes from bracket to bracket; `place` is the bit of one. */
const eachBracket = [
  set(strings, or(get(opened), get(closed))),
  loop(get(strings), [
    set(place, and(get(strings), subtract(number(0), get(strings)))),
    set(strings, xor(get(strings), get(place))),
    when(
      and(get(opened), get(place)),
      [
        set(depth, add(get(depth), number(1))),
        when(isEqual(get(depth), number(2)), [set(second, add(get(at), code.lowestBit(get(place))))]),
      ],
      [
        set(depth, subtract(get(depth), number(1))),
        when(code.isLessOrEqual(get(depth), get(stop)), [
          set(inside, number(0)),
          set(escaped, number(0)),
          ...keepState,
          code.giveBack(add(get(at), code.lowestBit(get(place)))),
        ]),
      ],
    ),
  ]),
];

const scanner = code.moduleOf({
  parameters: 6,
  numbers: 8,
  vectors: 2,
  body: [
    set(second, number(-1)),
    loop(isLess(get(at), get(end)), [
      set(vector, code.loadVector(get(at))),
      set(place, subtract(get(end), get(at))),
      set(
        valid,
        code.choose(
          isLess(get(place), number(16)),
          subtract(code.shiftLeft(number(1), get(place)), number(1)),
          number(0xffff),
        ),
      ),
      set(quotes, bitsOf(vector, quote)),
      set(slashes, bitsOf(vector, backslash)),
      when(or(get(slashes), get(escaped)), dropEscaped),
      // Each bit becomes the parity of the quotes up to it: is it inside a string?
      set(strings, get(quotes)),
      ...[1, 2, 4, 8].map((by) => set(strings, xor(get(strings), code.shiftLeft(get(strings), number(by))))),
      set(strings, xor(get(strings), get(inside))),
      set(inside, subtract(number(0), and(code.shiftRight(get(strings), number(15)), number(1)))),
      set(folded, code.maskBytes(get(vector), 0xff ^ braceBit)),
      set(opened, bitsOf(folded, openBracket)),
      set(opened, without(opened, strings)),
      set(closed, bitsOf(folded, closeBracket)),
      set(closed, without(closed, strings)),
      when(
        isMore(subtract(get(depth), code.bitCount(get(closed))), or(get(stop), number(1))),
        [set(depth, subtract(add(get(depth), code.bitCount(get(opened))), code.bitCount(get(closed))))],
        eachBracket,
      ),
      set(at, add(get(at), number(16))),
    ]),
    ...keepState,
    number(-1),
  ],
});

type Run = (at: number, end: number, stop: number, depth: number, inside: number, escaped: number) => number;
const { memory, run } = new WebAssembly.Instance(scanner).exports as unknown as {
  readonly memory: WebAssembly.Memory;
  readonly run: Run;
};
const pageBytes = 65_536;
/** The last step may look at fifteen bytes behind the end. */
const spareBytes = stateBytes + 16;

let whole = new Uint8Array(memory.buffer);
let state = new Int32Array(memory.buffer, 0, stateBytes / 4);
let loaded: Uint8Array | null = null;

/** Makes these bytes those that `scan` goes over. They are not to change as long as they are. */
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

/** Goes from `from` to the bracket that brings the depth down to `stop`, and gives its place; -1 when it came to `to` before. */
export function scan(from: number, to: number, stop: number, known: ScanState): number {
  const { depth: open, inString, escaped: next } = known;
  const found = run(from + stateBytes, to + stateBytes, stop, open, inString ? -1 : 0, next ? 1 : 0);
  const [newDepth = 0, newInside = 0, newEscaped = 0, newSecond = -1] = [state[0], state[1], state[2], state[3]];
  known.depth = newDepth;
  known.inString = newInside !== 0;
  known.escaped = newEscaped !== 0;
  if (newSecond !== -1) known.second = newSecond - stateBytes;
  return found === -1 ? -1 : found - stateBytes;
}
