/**
 * As much of WebAssembly as loops over bytes need, as expressions that give its bytes: one exported function over one memory. See
 * webassembly.github.io/spec for the numbers.
 */

/** What begins and ends something that can be left or done again, and what does so; branches count those that are open around them. */
type Mark = { readonly begins: string } | { readonly goes: string } | 'ends';

export type Code = readonly (number | Mark)[];

export const get = (local: number): Code => [0x20, local];
export const set = (local: number, value: Code): Code => [...value, 0x21, local];
export const number = (value: number): Code => [0x41, ...signed(value)];

const two =
  (opcode: number) =>
  (left: Code, right: Code): Code => [...left, ...right, opcode];
export const isEqual = two(0x46);
export const isOther = two(0x47);
export const isLess = two(0x48);
/** Of whole numbers without a sign: those that are negative with one are the largest. */
export const isBelow = two(0x49);
export const isMore = two(0x4a);
export const isLessOrEqual = two(0x4c);
export const add = two(0x6a);
export const subtract = two(0x6b);
export const and = two(0x71);
export const or = two(0x72);
export const xor = two(0x73);
export const shiftLeft = two(0x74);
export const shiftRight = two(0x76);
/** The place of the lowest bit that is set. */
export const lowestBit = (value: Code): Code => [...value, 0x68];
/** How many bits are set. */
export const bitCount = (value: Code): Code => [...value, 0x69];
export const choose = (condition: Code, yes: Code, no: Code): Code => [...yes, ...no, ...condition, 0x1b];
/** Adds to a local. */
export const raise = (local: number, by: number | Code): Code =>
  set(local, add(get(local), typeof by === 'number' ? number(by) : by));

const unnamed = '';
export const when = (condition: Code, yes: readonly Code[], no: readonly Code[] = []): Code => [
  ...condition,
  ...[0x04, 0x40, { begins: unnamed }],
  ...yes.flat(),
  ...(no.length === 0 ? [] : [0x05, ...no.flat()]),
  ...[0x0b, 'ends' as const],
];
/** Does the body again and again, as long as the condition holds. */
export const loop = (condition: Code, body: readonly Code[]): Code =>
  named('loop', [when(condition, [...body, goTo('loop')])]);
/** Does the body again and again, until something goes elsewhere; `goTo` begins it anew. */
export const forever = (name: string, body: readonly Code[]): Code => named(name, [...body, goTo(name)]);
const named = (name: string, body: readonly Code[]): Code => [
  ...[0x03, 0x40, { begins: name }],
  ...body.flat(),
  ...[0x0b, 'ends' as const],
];
/** Does the body once; `goTo` goes behind it. */
export const block = (name: string, body: readonly Code[]): Code => [
  ...[0x02, 0x40, { begins: name }],
  ...body.flat(),
  ...[0x0b, 'ends' as const],
];
/** From inside a `forever` or a `block`. */
export const goTo = (name: string): Code => [0x0c, { goes: name }];
export const giveBack = (value: Code): Code => [...value, 0x0f];

/** Keeps a number at a fixed place of the memory. */
export const keep = (place: number, value: Code): Code => storeNumber(number(place), value);
export const byteAt = (address: Code): Code => [...address, 0x2d, 0, 0];
export const storeByte = (address: Code, value: Code): Code => [...address, ...value, 0x3a, 0, 0];
/** Four bytes, the lowest first; the address may be any. */
export const numberAt = (address: Code): Code => [...address, 0x28, 0, 0];
export const storeNumber = (address: Code, value: Code): Code => [...address, ...value, 0x36, 0, 0];
/** The places may overlap. */
export const copyBytes = (to: Code, from: Code, count: Code): Code => [...to, ...from, ...count, 0xfc, 10, 0, 0];

/** Sixteen bytes from the memory. */
export const loadVector = (address: Code): Code => [...address, 0xfd, 0, 0, 0];
export const storeVector = (address: Code, vector: Code): Code => [...address, ...vector, 0xfd, 11, 0, 0];
const splat = (byte: number): Code => [...number(byte), 0xfd, 15];
/** Each of sixteen bytes without the bits that `mask` has not. */
export const maskBytes = (vector: Code, mask: number): Code => [...vector, ...splat(mask), 0xfd, 78];
/** Of sixteen bytes, all bits of those that are this one. */
export const bytesLike = (vector: Code, byte: number): Code => [...vector, ...splat(byte), 0xfd, 35];
/** Of sixteen bytes, all bits of those that are less than this one. */
export const bytesBelow = (vector: Code, byte: number): Code => [...vector, ...splat(byte), 0xfd, 38];
export const eitherVector = (left: Code, right: Code): Code => [...left, ...right, 0xfd, 80];
/** The highest bit of each of sixteen bytes. */
export const highestBits = (vector: Code): Code => [...vector, 0xfd, 100];
/** A bit for each of sixteen bytes: is it this one? */
export const placesOf = (vector: Code, byte: number): Code => highestBits(bytesLike(vector, byte));

interface FunctionParts {
  /** Parameters, all of them whole numbers of 32 bits, as is the result; they are the first locals. */
  readonly parameters: number;
  readonly numbers: number;
  /** The last locals. */
  readonly vectors: number;
  readonly body: readonly Code[];
}

const i32 = 0x7f;
const v128 = 0x7b;

/** A module that exports `memory`, of one page at first, and the function as `run`. */
export function moduleOf({ parameters, numbers, vectors, body }: FunctionParts): WebAssembly.Module {
  const code = [2, numbers, i32, vectors, v128, ...branched(body.flat()), 0x0b];
  return new WebAssembly.Module(
    new Uint8Array([
      ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
      ...section(1, [1, 0x60, parameters, ...Array<number>(parameters).fill(i32), 1, i32]),
      ...section(3, [1, 0]),
      ...section(5, [1, 0, 1]),
      ...section(7, [2, ...text('memory'), 2, 0, ...text('run'), 0, 0]),
      ...section(10, [1, ...unsigned(code.length), ...code]),
    ]),
  );
}

/** With the names of branches as how many are open between. */
function branched(code: Code): readonly number[] {
  const open: string[] = [];
  return code.flatMap((part) => {
    if (typeof part === 'number') return [part];
    if (part === 'ends') open.pop();
    else if ('begins' in part) open.push(part.begins);
    else return [open.length - 1 - open.lastIndexOf(part.goes)];
    return [];
  });
}

const section = (id: number, content: readonly number[]): readonly number[] => [
  id,
  ...unsigned(content.length),
  ...content,
];
const text = (name: string): readonly number[] => [name.length, ...Buffer.from(name)];

function unsigned(value: number): readonly number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...unsigned(value >>> 7)];
}

function signed(value: number): readonly number[] {
  const [low, rest] = [value & 0x7f, value >> 7];
  return rest === (low & 0x40 ? -1 : 0) ? [low] : [low | 0x80, ...signed(rest)];
}
