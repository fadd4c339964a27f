/**
 * The JSONPath of printer columns, with the results of the API server (k8s.io/client-go/util/jsonpath).
 *
 *   .spec.list[*].name              the names of all elements
 *   .status.conditions[-1:].type    that of the last element
 *   .spec.rules[?(@.weight>1)].to   those of the elements that pass
 *   .metadata.labels['app\.io/name']   a key; without the backslashes, fields below each other
 *   ..image                         at any depth
 *
 * A list that is shorter than an index, and operands of different types, are errors: the column is empty then. The members of an object
 * are in the order of the stored object; the API server's order changes.
 */
import { isRecord } from '../../base/json.ts';
import { goFloat } from '../../base/text/go-float.ts';
import { requireShallow } from '../tree/nesting.ts';
import { isRawJson, rawJson } from '../values/raw-json.ts';

type Node =
  | { readonly is: 'field'; readonly name: string }
  | { readonly is: 'wildcard' }
  | { readonly is: 'recursive' }
  | { readonly is: 'slice'; readonly bounds: readonly (number | null)[]; readonly derived: boolean }
  | { readonly is: 'union'; readonly of: readonly (readonly Node[])[] }
  | {
      readonly is: 'filter';
      readonly left: readonly Node[];
      readonly operator: string;
      readonly right: readonly Node[];
    }
  | { readonly is: 'value'; readonly value: unknown };

/**
 * Reads the values of a JSONPath in a body; none where the API server has an error.
 * @throws PortolanError QUERY_TOO_COSTLY for `..` in a body that nests too deep.
 */
type JsonPathReader = (body: unknown) => readonly unknown[];

/** Values that one evaluation looks at. A path with several `..` looks at the same values many times. */
const mostValues = 100_000;

/** Null for a JSONPath that the API server refuses. */
export function jsonPathReader(text: string): JsonPathReader | null {
  let nodes: readonly Node[];
  try {
    nodes = parse(text);
  } catch {
    return null;
  }
  return (body) => {
    try {
      return new Evaluation().list([body], nodes);
    } catch (error) {
      if (error instanceof Problem) return [];
      throw error;
    }
  };
}

class Problem extends Error {}

class Float {
  readonly number: number;

  constructor(number: number) {
    this.number = number;
  }
}

const terminator = /[ \t\r\n.,[\]$@{}]/;
const nameStart = /^[\p{L}\p{Nd}_]/u;
const sliceText = /^(-?\d*)(:-?\d*)?(:-?\d*)?$/;
const comparisonText = /^([^!<>=]+)([!<>=]+)(.+)$/s;

/** @throws Problem */
function parse(text: string): readonly Node[] {
  const nodes: Node[] = [];
  let at = 0;
  while (at < text.length) {
    const letter = text[at] ?? '';
    if (text.startsWith('[?(', at)) {
      const end = filterEnd(text, at + 3);
      nodes.push(filterOf(text.slice(at + 3, end)));
      at = end + 2;
    } else if (text.startsWith('..', at)) {
      if (nodes.at(-1)?.is === 'recursive') throw new Problem();
      nodes.push({ is: 'recursive' });
      // A name may follow at once.
      at += nameStart.test(text.slice(at + 2)) ? 1 : 2;
    } else if (letter === ' ' || letter === '@' || letter === '$') at += 1;
    else if (letter === '[') {
      const end = text.indexOf(']', at);
      if (end < 0) throw new Problem();
      nodes.push(...bracketOf(text.slice(at + 1, end)));
      at = end + 1;
    } else if (letter === '"' || letter === "'") {
      let end = at + 1;
      while (end < text.length && (text[end] !== letter || text[end - 1] === '\\')) end += 1;
      if (end === text.length) throw new Problem();
      nodes.push({ is: 'value', value: unquoted(text.slice(at + 1, end), letter) });
      at = end + 1;
    } else if (letter === '.') {
      let name = '';
      at += 1;
      for (; at < text.length && !terminator.test(text[at] ?? ''); at += 1) {
        if (text[at] === '\\') at += 1;
        name += text[at] ?? '';
      }
      nodes.push(name === '*' ? { is: 'wildcard' } : { is: 'field', name });
    } else {
      const word = /^(?:[+-]?[0-9.]+|\w+)/.exec(text.slice(at))?.[0] ?? '';
      nodes.push({ is: 'value', value: wordValue(word) });
      at += word.length;
    }
  }
  return nodes;
}

/** A boolean, an integer or a float. @throws Problem for another word */
function wordValue(word: string): unknown {
  if (word === 'true' || word === 'false') return word === 'true';
  const number = Number(word);
  if (word === '' || Number.isNaN(number)) throw new Problem();
  // A float of a filter is no integer, also without a fraction.
  if (word.includes('.')) return new Float(number);
  return Number.isSafeInteger(number) || !/^[+-]?[0-9]+$/.test(word) ? number : rawJson(String(BigInt(word)));
}

/** One character of a quoted text: an escape of Go, or itself. */
const quotedCharacter =
  /\\(?:([abfnrtv\\'"])|x([0-9a-fA-F]{2})|([0-7]{3})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8}))|([^\\])/suy;
const namedEscapes: Readonly<Record<string, string>> = {
  ...{ a: '\x07', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' },
  ...{ '\\': '\\', "'": "'", '"': '"' },
};

/** The value of a quoted text, as Go's strconv.UnquoteChar reads it. @throws Problem for an escape that Go does not have */
function unquoted(text: string, quote: string): string {
  const parts: Buffer[] = [];
  quotedCharacter.lastIndex = 0;
  for (let at = 0; at < text.length; at = quotedCharacter.lastIndex) {
    quotedCharacter.lastIndex = at;
    const found = quotedCharacter.exec(text);
    if (found === null) throw new Problem();
    const [, name, hex, octal, short, long, plain] = found;
    const isOther = (name === "'" || name === '"') && name !== quote;
    const [byte, code] = [parsed(hex, 16) ?? parsed(octal, 8), parsed(short ?? long, 16)];
    const isSurrogate = code !== null && code >= 0xd800 && code <= 0xdfff;
    if (isOther || isSurrogate || (byte ?? 0) > 0xff || (code ?? 0) > 0x10ffff || plain === '\n') throw new Problem();
    const character = plain ?? (name === undefined ? String.fromCodePoint(code ?? 0) : (namedEscapes[name] ?? ''));
    parts.push(byte === null ? Buffer.from(character) : Buffer.from([byte]));
  }
  return Buffer.concat(parts).toString('utf8');
}

function parsed(digits: string | undefined, base: number): number | null {
  return digits === undefined ? null : Number.parseInt(digits, base);
}

/** Position of the `)` that ends a filter. A quote hides it. */
function filterEnd(text: string, start: number): number {
  let quote = '';
  for (let at = start; at < text.length; at += 1) {
    const letter = text[at] ?? '';
    if (quote !== '') {
      if (letter === quote && text[at - 1] !== '\\') quote = '';
    } else if (letter === '"' || letter === "'") quote = letter;
    else if (letter === ')') {
      if (text[at + 1] !== ']') break;
      return at;
    }
  }
  throw new Problem();
}

function filterOf(text: string): Node {
  const compared = comparisonText.exec(text);
  if (compared === null) return { is: 'filter', left: parse(text), operator: 'exists', right: [] };
  return { is: 'filter', left: parse(compared[1] ?? ''), operator: compared[2] ?? '', right: parse(compared[3] ?? '') };
}

function bracketOf(text: string): readonly Node[] {
  const parts = text.split(',');
  if (parts.length > 1) return [{ is: 'union', of: parts.map((part) => bracketOf(part.replace(/^ +| +$/g, ''))) }];
  const key = /^'([^']*)'$/.exec(text);
  if (key !== null) return parse(`.${key[1]}`);
  const found = sliceText.exec(text === '*' ? ':' : text);
  if (found === null) throw new Problem();
  const bounds = [found[1] ?? '', found[2]?.slice(1) ?? '', found[3]?.slice(1) ?? ''].map((each) => {
    if (each === '') return null;
    if (each === '-') throw new Problem();
    return Number(each);
  });
  if (found[2] !== undefined) return [{ is: 'slice', bounds, derived: false }];
  return [{ is: 'slice', bounds: [bounds[0] ?? null, (bounds[0] ?? 0) + 1, bounds[2] ?? null], derived: true }];
}

class Evaluation {
  #looked = 0;

  /** @throws Problem */
  list(values: readonly unknown[], nodes: readonly Node[]): readonly unknown[] {
    let current = values;
    for (const node of nodes) {
      current = this.#step(current, node);
      this.#looked += current.length;
      if (this.#looked > mostValues) throw new Problem();
    }
    return current;
  }

  #step(values: readonly unknown[], node: Node): readonly unknown[] {
    switch (node.is) {
      case 'field':
        return values.flatMap((value) =>
          isObject(value) && Object.hasOwn(value, node.name) ? [value[node.name]] : [],
        );
      case 'wildcard':
        return values.flatMap(membersOf);
      case 'recursive':
        requireShallow(values);
        return this.#below(values);
      case 'slice':
        return values.flatMap((value) => (value === null ? [] : sliceOf(value, node.bounds, node.derived)));
      case 'union':
        return node.of.flatMap((nodes) => this.list(values, nodes));
      case 'value':
        return values.map(() => node.value);
      case 'filter':
        return values.flatMap((value) => {
          if (!Array.isArray(value)) throw new Problem();
          return value.filter((element: unknown) => this.#passes(element, node));
        });
    }
  }

  /** The values and all below them that have members or elements. */
  #below(values: readonly unknown[]): readonly unknown[] {
    this.#looked += values.length;
    if (this.#looked > mostValues) throw new Problem();
    return values.flatMap((value) => {
      const members = membersOf(value);
      return members.length === 0 ? [] : [value, ...this.#below(members)];
    });
  }

  /** An error in the element counts as a value there. */
  #exists(element: unknown, nodes: readonly Node[]): boolean {
    try {
      return this.list([element], nodes).length > 0;
    } catch (error) {
      if (!(error instanceof Problem) || this.#looked > mostValues) throw error;
      return true;
    }
  }

  #passes(element: unknown, { left, operator, right }: Extract<Node, { is: 'filter' }>): boolean {
    if (operator === 'exists') return this.#exists(element, left);
    const lefts = this.list([element], left);
    if (lefts.length > 1) throw new Problem();
    const rights = lefts.length === 0 ? [] : this.list([element], right);
    if (rights.length > 1) throw new Problem();
    return lefts.length === 1 && rights.length === 1 && compares(lefts[0], operator, rights[0]);
  }
}

/** Numbers are integers of 64 bits or floats for Go. */
function isInt64(value: unknown): boolean {
  if (!isRawJson(value)) return Number.isSafeInteger(value);
  return /^-?[0-9]+$/.test(value.rawJSON) && BigInt.asIntN(64, BigInt(value.rawJSON)) === BigInt(value.rawJSON);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return isRecord(value) && !isRawJson(value);
}

function membersOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  return isObject(value) ? Object.values(value) : [];
}

function sliceOf(
  value: unknown,
  [from, to, step]: readonly (number | null | undefined)[],
  derived: boolean,
): unknown[] {
  if (!Array.isArray(value)) throw new Problem();
  const { length } = value;
  const start = (from ?? 0) < 0 ? (from ?? 0) + length : (from ?? 0);
  let end = to ?? length;
  if (end < 0 || (end === 0 && derived)) end += length;
  if (start === end) return [];
  if (start < 0 || start >= length || end < 0 || end > length || start > end || (step ?? 1) <= 0) throw new Problem();
  return value.slice(start, end).filter((_, index) => index % (step ?? 1) === 0);
}

function kindOf(value: unknown): 'string' | 'boolean' | 'integer' | 'float' {
  if (typeof value === 'string' || typeof value === 'boolean') return typeof value as 'string' | 'boolean';
  if (value instanceof Float) return 'float';
  if (isRawJson(value) || typeof value === 'number') return isInt64(value) ? 'integer' : 'float';
  throw new Problem();
}

function comparedValue(value: unknown): unknown {
  if (value instanceof Float) return value.number;
  if (!isRawJson(value)) return value;
  return isInt64(value) ? BigInt(value.rawJSON) : Number(value.rawJSON);
}

function compares(left: unknown, operator: string, right: unknown): boolean {
  const kind = kindOf(left);
  const isOrder = operator !== '==' && operator !== '!=';
  if (kind !== kindOf(right) || (isOrder && kind === 'boolean')) throw new Problem();
  const [a, b] = [left, right].map(comparedValue) as [number, number];
  switch (operator) {
    case '==':
      return a === b;
    case '!=':
      return a !== b;
    case '<':
      return a < b;
    case '<=':
      return a <= b;
    case '>':
      return a > b;
    case '>=':
      return a >= b;
    default:
      throw new Problem();
  }
}

/**
 * The value as the API server prints it in a column of the type string.
 * @throws PortolanError QUERY_TOO_COSTLY for a value that nests too deep.
 */
export function printedText(value: unknown): string {
  requireShallow(value);
  if (typeof value === 'string') return value;
  return typeof value === 'object' && value !== null && !isRawJson(value) ? goJson(value) : scalarText(value);
}

function scalarText(value: unknown): string {
  if (value === null) return '<no value>';
  if (isRawJson(value)) return isInt64(value) ? value.rawJSON : goFloat(Number(value.rawJSON).toExponential());
  return typeof value !== 'number' || isInt64(value) ? String(value) : goFloat(value.toExponential());
}

/** JSON as Go writes it: the members in the order of their names, and no characters that mean something in HTML. */
function goJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(goJson).join(',')}]`;
  if (isObject(value)) {
    const members = Object.keys(value)
      .sort()
      .map((name) => `${goJson(name)}:${goJson(value[name])}`);
    return `{${members.join(',')}}`;
  }
  if (typeof value !== 'string') return isRawJson(value) ? value.rawJSON : JSON.stringify(value);
  const html = /[<>&\u2028\u2029]/g;
  return JSON.stringify(value).replace(html, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
