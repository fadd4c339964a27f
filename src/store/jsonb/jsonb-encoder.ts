/**
 * Makes SQLite's JSONB of JSON text: the same bytes as its own jsonb(), for what JSON (RFC 8259) is; what is more or less than that
 * is left to SQLite. The form is described at sqlite.org/jsonb.html.
 *
 * Nearly all bytes of all lists pass here, so it is WebAssembly, which looks for the end of a string in sixteen bytes at a time:
 * the processor cannot guess where the many short strings end.
 *
 *   bytes -> input -> one pass: each element's header and what it holds -> output
 *
 * A header says how large its element is, and has one to five bytes for it. Of strings and numbers that is known; arrays and objects
 * get two bytes at first, and when they end, what they hold is moved if that was not right.
 */
import * as code from '../../base/wasm-code.ts';
import { elementTypes as types } from './jsonb.ts';

type Code = code.Code;

const { get, set, number, and, or, add, subtract, shiftLeft, shiftRight, raise } = code;
const { isEqual, isOther, isBelow, isMore, isLessOrEqual, when, loop, forever, block, goTo, byteAt } = code;

/** Arrays and objects inside one another; SQLite takes 1,000. */
const deepest = 500;
/** At the beginning of the memory: for each that is open, where it begins, and whether it is inside an object. */
const stackEntry = 8;
const inputAt = deepest * stackEntry;
/** Bytes of the longest text: the memory that it takes is kept, and few objects come near. */
const longest = 4 * 1024 * 1024;
/** Steps of sixteen bytes may look at so many behind the end, and write as many. */
const spareBytes = 32;

const ascii = (character: string): Code => number(character.charCodeAt(0));

// Locals. The parameters, and what goes through the text:
const [at, end, out, character, depth, inObject, isName] = [0, 1, 2, 3, 4, 5, 6];
// Of the element:
const [from, size, type, bits, place] = [7, 8, 9, 10, 11];
/** All that is not ASCII has its highest bit somewhere in the second. */
const [vector, seen] = [12, 13];

const refuse = code.giveBack(number(-1));
const refuseUnless = (condition: Code): Code => when(condition, [], [refuse]);
const read = set(character, byteAt(get(at)));
const is = (expected: string): Code => isEqual(get(character), ascii(expected));
const isBetween = (value: Code, first: string, last: string): Code =>
  isBelow(subtract(value, ascii(first)), number(last.charCodeAt(0) - first.charCodeAt(0) + 1));
const isDigit = isBetween(get(character), '0', '9');

/** To the next character that is no white space. What stands behind the text is a zero. */
const readMark = [
  read,
  when(isLessOrEqual(get(character), number(0x20)), [
    loop(or(isEqual(get(character), number(0x20)), or(is('\n'), or(is('\r'), is('\t')))), [raise(at, 1), read]),
  ]),
];

/** The type, and in the upper four bits how many bytes say the size. */
const longHeader = (place: number, mark: number): Code => code.storeByte(get(place), or(get(type), number(mark)));
const sizeByte = (place: number, offset: number, shift: number): Code =>
  code.storeByte(add(get(place), number(offset)), shiftRight(get(size), number(shift)));

const shortHeader = (place: number): Code => code.storeByte(get(place), or(shiftLeft(get(size), number(4)), get(type)));
const header = {
  ofOne: (place: number) => [longHeader(place, 0xc0), sizeByte(place, 1, 0)],
  ofTwo: (place: number) => [longHeader(place, 0xd0), sizeByte(place, 1, 8), sizeByte(place, 2, 0)],
  ofFour: (place: number) => [
    longHeader(place, 0xe0),
    ...[24, 16, 8, 0].map((shift, index) => sizeByte(place, 1 + index, shift)),
  ],
};

const copySixteen = (place: Code): Code =>
  code.storeVector(add(get(out), place), code.loadVector(add(get(from), place)));
/**
 * The header of an element whose size is known, and what it holds, from `from` on. Most take one or two bytes for the header and up
 * to sixteen for the rest: those are written without a choice, which could not be guessed.
 */
const writeElement = [
  when(
    isMore(get(size), number(0xff)),
    [
      when(
        isMore(get(size), number(0xffff)),
        [...header.ofFour(out), raise(out, 5)],
        [...header.ofTwo(out), raise(out, 3)],
      ),
    ],
    [
      set(place, isMore(get(size), number(11))),
      code.storeNumber(
        get(out),
        or(
          get(type),
          code.choose(get(place), or(number(0xc0), shiftLeft(get(size), number(8))), shiftLeft(get(size), number(4))),
        ),
      ),
      raise(out, add(number(1), get(place))),
    ],
  ),
  copySixteen(number(0)),
  set(place, number(16)),
  loop(code.isLess(get(place), get(size)), [copySixteen(get(place)), raise(place, 16)]),
  raise(out, get(size)),
];

/** Behind a backslash. */
const passEscape = [
  raise(at, 1),
  read,
  when(
    is('u'),
    [
      set(place, number(4)),
      loop(get(place), [
        raise(at, 1),
        read,
        // Letters of both cases are the same but for this bit.
        refuseUnless(or(isDigit, isBetween(or(get(character), number(0x20)), 'a', 'f'))),
        raise(place, -1),
      ]),
    ],
    [refuseUnless([...'"\\/bfnrt'].map(is).reduce((one, other) => or(one, other)))],
  ),
  raise(at, 1),
];

/** `at` stands on the quote before it, and afterwards behind the one that ends it. */
const encodeString = [
  raise(at, 1),
  set(from, get(at)),
  set(type, number(types.text)),
  block('string', [
    forever('piece', [
      set(vector, code.loadVector(get(at))),
      set(seen, code.eitherVector(get(seen), get(vector))),
      set(
        bits,
        code.highestBits(
          code.eitherVector(
            code.bytesBelow(get(vector), 0x20),
            code.eitherVector(
              code.bytesLike(get(vector), '"'.charCodeAt(0)),
              code.bytesLike(get(vector), '\\'.charCodeAt(0)),
            ),
          ),
        ),
      ),
      when(
        get(bits),
        [
          raise(at, code.lowestBit(get(bits))),
          read,
          when(is('"'), [goTo('string')]),
          refuseUnless(is('\\')),
          set(type, number(types.escapedText)),
          ...passEscape,
        ],
        [raise(at, 16)],
      ),
    ]),
  ]),
  set(size, subtract(get(at), get(from))),
  raise(at, 1),
  ...writeElement,
];

const passDigits = [refuseUnless(isDigit), loop(isDigit, [raise(at, 1), read])];
const encodeNumber = [
  set(from, get(at)),
  set(type, number(types.integer)),
  when(is('-'), [raise(at, 1), read]),
  when(is('0'), [raise(at, 1), read], passDigits),
  when(is('.'), [set(type, number(types.float)), raise(at, 1), read, ...passDigits]),
  when(isEqual(or(get(character), number(0x20)), ascii('e')), [
    set(type, number(types.float)),
    raise(at, 1),
    read,
    when(or(is('+'), is('-')), [raise(at, 1), read]),
    ...passDigits,
  ]),
  set(size, subtract(get(at), get(from))),
  ...writeElement,
];

const fourBytes = (text: string): Code => number(Buffer.from(text).readInt32LE());
const encodeWord = (word: string, wordType: number, next: Code): Code =>
  when(
    and(
      isEqual(code.numberAt(get(at)), fourBytes(word.slice(0, 4))),
      word.length === 4 ? number(1) : isEqual(byteAt(add(get(at), number(4))), ascii(word.slice(4))),
    ),
    [code.storeByte(get(out), number(wordType)), raise(out, 1), raise(at, word.length)],
    [next],
  );

const stackPlace = shiftLeft(get(depth), number(Math.log2(stackEntry)));
/** `at` stands on the bracket. */
const begin = [
  refuseUnless(isBelow(get(depth), number(deepest))),
  code.storeNumber(stackPlace, get(out)),
  code.storeNumber(add(stackPlace, number(4)), get(inObject)),
  raise(depth, 1),
  raise(out, 2),
  raise(at, 1),
  set(inObject, is('{')),
  ...readMark,
  // What ends at once is taken as one that has just had a value.
  when(isOther(get(character), code.choose(get(inObject), ascii('}'), ascii(']'))), [
    set(isName, get(inObject)),
    goTo('value'),
  ]),
];

const moveTo = (offset: number): readonly Code[] => [
  code.copyBytes(add(get(from), number(offset)), add(get(from), number(2)), get(size)),
  raise(out, offset - 2),
];
const finish = [
  raise(depth, -1),
  set(from, code.numberAt(stackPlace)),
  set(type, add(number(types.array), get(inObject))),
  set(inObject, code.numberAt(add(stackPlace, number(4)))),
  set(size, subtract(subtract(get(out), get(from)), number(2))),
  when(
    isMore(get(size), number(0xff)),
    [
      when(
        isMore(get(size), number(0xffff)),
        [...moveTo(5), ...header.ofFour(from)],
        [...moveTo(3), ...header.ofTwo(from)],
      ),
    ],
    [
      when(isMore(get(size), number(11)), header.ofOne(from), [
        code.storeVector(add(get(from), number(1)), code.loadVector(add(get(from), number(2)))),
        raise(out, -1),
        shortHeader(from),
      ]),
    ],
  ),
];

const encoder = code.moduleOf({
  parameters: 3,
  numbers: 9,
  vectors: 2,
  body: [
    forever('value', [
      ...readMark,
      when(
        is('"'),
        [
          ...encodeString,
          when(get(isName), [...readMark, refuseUnless(is(':')), raise(at, 1), set(isName, number(0)), goTo('value')]),
        ],
        [
          when(get(isName), [refuse]),
          when(or(is('{'), is('[')), begin, [
            encodeWord(
              'null',
              types.null,
              encodeWord('true', types.true, encodeWord('false', types.false, encodeNumber.flat())),
            ),
          ]),
        ],
      ),
      forever('behind', [
        ...readMark,
        when(
          get(depth),
          [],
          [
            refuseUnless(isEqual(get(at), get(end))),
            code.keep(0, code.highestBits(get(seen))),
            code.giveBack(get(out)),
          ],
        ),
        raise(at, 1),
        when(is(','), [set(isName, get(inObject)), goTo('value')]),
        refuseUnless(isEqual(get(character), code.choose(get(inObject), ascii('}'), ascii(']')))),
        ...finish,
      ]),
    ]),
    number(-1),
  ],
});

const { memory, run } = new WebAssembly.Instance(encoder).exports as unknown as {
  readonly memory: WebAssembly.Memory;
  readonly run: (at: number, end: number, out: number) => number;
};
const pageBytes = 65_536;
let whole = Buffer.from(memory.buffer);

export interface EncodedJson {
  /** In memory that the next call writes to. */
  readonly jsonb: Buffer;
  /** False where there may be other characters than those of ASCII. */
  readonly isAscii: boolean;
}

/**
 * JSONB of the bytes of one JSON value, which are not judged as UTF-8; null where it is none, arrays and objects are too deep inside
 * one another, or it is very long.
 */
export function encodeJsonb(bytes: Uint8Array): EncodedJson | null {
  if (bytes.length > longest) return null;
  const inputEnd = inputAt + bytes.length;
  const outputAt = inputEnd + spareBytes;
  // A header takes no more than twice the brackets or quotes around what it is for, while it may yet change and afterwards.
  const missing = outputAt + 2 * bytes.length + spareBytes - whole.length;
  if (missing > 0) {
    memory.grow(Math.ceil(missing / pageBytes));
    whole = Buffer.from(memory.buffer);
  }
  whole.set(bytes, inputAt);
  whole[inputEnd] = 0;
  const outputEnd = run(inputAt, inputEnd, outputAt);
  if (outputEnd === -1) return null;
  return { jsonb: whole.subarray(outputAt, outputEnd), isAscii: whole.readInt32LE() === 0 };
}
