/**
 * As much of WebAssembly as bracket-scan.ts needs, as expressions that give its bytes: one exported function over one memory. See
 * webassembly.github.io/spec for the numbers.
 */

export type Code = readonly number[];

export const get = (local: number): Code => [0x20, local];
export const set = (local: number, value: Code): Code => [...value, 0x21, local];
export const number = (value: number): Code => [0x41, ...signed(value)];

const two =
  (opcode: number) =>
  (left: Code, right: Code): Code => [...left, ...right, opcode];
export const isEqual = two(0x46);
export const isLess = two(0x48);
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

export const when = (condition: Code, yes: readonly Code[], no: readonly Code[] = []): Code => [
  ...condition,
  ...[0x04, 0x40],
  ...yes.flat(),
  ...(no.length === 0 ? [] : [0x05, ...no.flat()]),
  0x0b,
];
/** Does the body again and again, as long as the condition holds. */
export const loop = (condition: Code, body: readonly Code[]): Code => [
  ...[0x03, 0x40],
  ...when(condition, [...body, [0x0c, 1]]),
  0x0b,
];
export const giveBack = (value: Code): Code => [...value, 0x0f];

/** Keeps a number at a fixed place of the memory. */
export const keep = (place: number, value: Code): Code => [...number(place), ...value, 0x36, 2, 0];

/** Sixteen bytes from the memory. */
export const loadVector = (address: Code): Code => [...address, 0xfd, 0, 0, 0];
const splat = (byte: number): Code => [...number(byte), 0xfd, 15];
/** Each of sixteen bytes without the bits that `mask` has not. */
export const maskBytes = (vector: Code, mask: number): Code => [...vector, ...splat(mask), 0xfd, 78];
/** A bit for each of sixteen bytes: is it this one? */
export const placesOf = (vector: Code, byte: number): Code => [...vector, ...splat(byte), 0xfd, 35, 0xfd, 100];

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
  const code = [2, numbers, i32, vectors, v128, ...body.flat(), 0x0b];
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

const section = (id: number, content: Code): Code => [id, ...unsigned(content.length), ...content];
const text = (name: string): Code => [name.length, ...Buffer.from(name)];

function unsigned(value: number): Code {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...unsigned(value >>> 7)];
}

function signed(value: number): Code {
  const [low, rest] = [value & 0x7f, value >> 7];
  return rest === (low & 0x40 ? -1 : 0) ? [low] : [low | 0x80, ...signed(rest)];
}
