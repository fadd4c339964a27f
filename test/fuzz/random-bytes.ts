/** Bytes that are JSON or nearly JSON. They have strings of about 16 bytes, all escapes, and payloads for all sizes of JSONB headers. */
import type { Dice } from './dice.ts';

const letters = ['a', 'Z', ' ', 'é', '€', '😀', '~', '{', '}', '[', ']', ':', ',', '/', '0', '\u007f'];
const escapes = ['\\"', '\\\\', '\\/', '\\b', '\\n', '\\t', '\\u0000', '\\u00E9', '\\ud83d\\ude00', '\\uD800'];
const broken = ['\\', '\\x', '\\u12', '\\u12g4', '\n', '\u0000', '\u001f', '"', '\\u'];
const numbers = ['0', '-0', '7', '-12', '0.5', '1e3', '1E+30', '-2.50e-3', '123456789012345678901234567890', '1.0'];
const badNumbers = ['01', '-', '+1', '.5', '5.', '1e', '1e+', '0x1', '--1', '1.e1', 'Infinity', 'NaN'];
const words = ['null', 'true', 'false'];
const badWords = ['nul', 'True', 'nulll', 'fals', 'undefined', "'a'", ''];
const spaces = ['', '', '', ' ', '\n', '\r\n\t', '                ', '\n          '];
const badSpaces = ['\v', '\u00a0', '/**/', '\u0000'];
const marks = [...'{}[]:,"\\ \n0-.eEtfn\u0000'];

/** One text; three of four are JSON, and none nests deeper than 500. */
export function randomBytes(dice: Dice): Buffer {
  const isValid = dice.chance(0.7);
  const text = new RandomJson(dice, isValid ? 0 : 0.03).text();
  const bytes = Buffer.from(text);
  return dice.chance(0.3) ? changed(bytes, dice) : bytes;
}

/** With some bytes removed, replaced or inserted; what remains may not be UTF-8. */
function changed(bytes: Buffer, dice: Dice): Buffer {
  let result = bytes;
  for (let count = dice.between(1, 3); count > 0; count -= 1) {
    const at = dice.below(result.length + 1);
    const put = dice.choose<Buffer>([
      [3, () => Buffer.from(dice.pick(marks))],
      [1, () => Buffer.from([dice.below(256)])],
      [1, () => Buffer.alloc(0)],
    ]);
    result = Buffer.concat([result.subarray(0, at), put, result.subarray(at + dice.below(3))]);
  }
  return result;
}

/** Makes JSON text; each part is wrong with the given probability. */
class RandomJson {
  readonly #dice: Dice;
  readonly #wrong: number;

  constructor(dice: Dice, wrong: number) {
    this.#dice = dice;
    this.#wrong = wrong;
  }

  text(): string {
    const deep = this.#dice.chance(0.01) ? this.#dice.between(1, 490) : 0;
    const [open, close] = this.#dice.pick([
      ['[', ']'],
      ['{"a":', '}'],
    ] as const);
    return `${open.repeat(deep)}${this.#value(this.#dice.between(0, 4))}${close.repeat(deep)}`;
  }

  #value(depth: number): string {
    const dice = this.#dice;
    const bare = dice.choose([
      [depth === 0 ? 0 : 3, () => this.#container('[', ']', () => this.#value(depth - 1))],
      [depth === 0 ? 0 : 3, () => this.#container('{', '}', () => `${this.#name()}:${this.#value(depth - 1)}`)],
      [4, () => this.#string()],
      [2, () => this.#pick(numbers, badNumbers)],
      [1, () => String(dice.below(2 ** 31) * (dice.chance(0.5) ? 1 : -1e-7))],
      [1, () => this.#pick(words, badWords)],
    ]);
    return `${this.#space()}${bare}${this.#space()}`;
  }

  #name(): string {
    return `${this.#space()}${this.#string()}${this.#space()}`;
  }

  #container(open: string, close: string, item: () => string): string {
    const count = this.#dice.chance(0.02) ? this.#dice.below(40) : this.#dice.below(5);
    const items = this.#dice.times(count, item).join(',');
    return `${this.#pick([open], ['', ',', open + open])}${items || this.#space()}${this.#pick([close], ['', ']', '}', ','])}`;
  }

  #string(): string {
    const dice = this.#dice;
    const plain = 'x'.repeat(this.#length());
    const rest = dice.times(dice.below(4), () =>
      dice.choose([
        [3, () => dice.pick(letters)],
        [1, () => this.#pick(escapes, broken)],
        [1, () => 'y'.repeat(dice.below(20))],
      ]),
    );
    return `"${plain}${rest.join('')}"`;
  }

  #length(): number {
    return this.#dice.choose([
      [100, () => this.#dice.below(20)],
      [20, () => this.#dice.between(28, 36)],
      [2, () => this.#dice.between(250, 262)],
      [0.05, () => this.#dice.between(65_528, 65_542)],
    ]);
  }

  #space(): string {
    return this.#pick(spaces, badSpaces);
  }

  #pick(right: readonly string[], wrong: readonly string[]): string {
    return this.#dice.pick(this.#dice.chance(this.#wrong) ? wrong : right);
  }
}
