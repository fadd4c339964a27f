/**
 * Reads a few values of an object's JSONB (jsonb.ts) without converting the rest to JavaScript. Each element has its size in its
 * header, so all other elements are skipped.
 */
import { rawJson } from '../../catalog/values/raw-json.ts';
import { isDigit } from '../../catalog/values/values.ts';
import { elementTypes, payloadAt, payloadSize } from './jsonb.ts';

interface Branch {
  readonly name: Buffer;
  /** The index of the path that ends here; -1 for none. */
  path: number;
  readonly below: Branch[];
}

/** Most names to find in one object: `seen` has a bit for each of them. */
const mostBranches = 31;

/** Finds several paths of member names in one pass. The paths must be distinct. */
export class JsonbPaths {
  readonly #branches: Branch[] = [];
  readonly #count: number;

  constructor(paths: readonly (readonly string[])[]) {
    this.#count = paths.length;
    for (const [number, path] of paths.entries()) {
      let branches = this.#branches;
      for (const [at, name] of path.entries()) {
        let branch = branches.find((each) => each.name.toString() === name);
        if (branch === undefined) {
          if (branches.length === mostBranches) throw new Error('too many names to find in one object');
          branch = { name: Buffer.from(name), path: -1, below: [] };
          branches.push(branch);
        }
        if (at === path.length - 1) branch.path = number;
        branches = branch.below;
      }
    }
  }

  /** Are the elements of all paths the same in both objects? */
  areEqual(one: Buffer, other: Buffer): boolean {
    const places = this.find(other);
    return this.find(one).every((at, index) => {
      const place = places[index] as number;
      if (at === -1 || place === -1) return at === place;
      return one.compare(other, place, elementEnd(other, place), at, elementEnd(one, at)) === 0;
    });
  }

  /** The position of each path's element; -1 for an absent one. If several members have the same name, the first one counts. */
  find(jsonb: Buffer, at = 0): number[] {
    const places = Array<number>(this.#count).fill(-1);
    findIn(jsonb, at, this.#branches, places);
    return places;
  }
}

function findIn(jsonb: Buffer, at: number, branches: readonly Branch[], places: number[]): void {
  if (typeAt(jsonb, at) !== elementTypes.object) return;
  const end = elementEnd(jsonb, at);
  let missing = branches.length;
  let seen = 0;
  for (let name = payloadAt(jsonb, at); name < end && missing > 0; ) {
    const value = elementEnd(jsonb, name);
    for (let index = 0; index < branches.length; index += 1) {
      const branch = branches[index] as Branch;
      if (!isNamed(jsonb, name, value, branch.name) || (seen & (1 << index)) !== 0) continue;
      seen |= 1 << index;
      missing -= 1;
      if (branch.path !== -1) places[branch.path] = value;
      if (branch.below.length > 0) findIn(jsonb, value, branch.below, places);
      break;
    }
    name = elementEnd(jsonb, value);
  }
}

function isNamed(jsonb: Buffer, at: number, end: number, name: Buffer): boolean {
  const { length } = name;
  const from = end - length;
  if (typeAt(jsonb, at) === elementTypes.escapedText) return textAt(jsonb, at) === name.toString();
  if (from !== payloadAt(jsonb, at)) return false;
  for (let index = 0; index < length; index += 1) if (jsonb[from + index] !== name[index]) return false;
  return true;
}

/** Longest stretch in bytes. A string that is sliced from a stretch keeps all of it in memory. */
const longestStretch = 2048;

/** Above this number of members, building an object is faster than searching the list for each name. */
const manyEntries = 24;

/** Converts elements to JavaScript values: the same values as parseExact of their text. */
export class JsonbValues {
  readonly #jsonb: Buffer;
  /** The bytes of an element as one string. Short strings are sliced from it, because decoding each one takes longer. */
  readonly #stretch: string;
  readonly #from: number;

  /** `stretch`: the position of an element from which many strings will be read; -1 for none. The object must be ASCII then. */
  constructor(jsonb: Buffer, stretch: number) {
    this.#jsonb = jsonb;
    const size = stretch === -1 ? 0 : elementEnd(jsonb, stretch) - stretch;
    this.#from = stretch;
    this.#stretch = size <= longestStretch ? jsonb.toString('latin1', stretch, stretch + size) : '';
  }

  /** The element's value; null for an absent element (-1). */
  value(at: number): unknown {
    if (at === -1) return null;
    const jsonb = this.#jsonb;
    switch (typeAt(jsonb, at)) {
      case elementTypes.null:
        return null;
      case elementTypes.true:
        return true;
      case elementTypes.false:
        return false;
      case elementTypes.integer:
        return integer(this.#text(at));
      case elementTypes.float:
        return Number(this.#text(at));
      case elementTypes.text:
        return this.#text(at);
      case elementTypes.escapedText:
        return textAt(jsonb, at);
      case elementTypes.array:
        return this.elements(at).map((element) => this.value(element));
      case elementTypes.object:
        return this.#object(at);
      default:
        throw new Error(`a JSONB element of type ${typeAt(jsonb, at)} is never made from JSON`);
    }
  }

  /** Is the element null, or absent (-1)? */
  isNull(at: number): boolean {
    return at === -1 || typeAt(this.#jsonb, at) === elementTypes.null;
  }

  /** Is the element an object, null or absent? */
  isObjectOrAbsent(at: number): boolean {
    return this.isNull(at) || typeAt(this.#jsonb, at) === elementTypes.object;
  }

  /** Is the element an array, null or absent? */
  isListOrAbsent(at: number): boolean {
    return this.isNull(at) || typeAt(this.#jsonb, at) === elementTypes.array;
  }

  /** The position of the first member with this name; -1 without one, or if the element is no object. */
  member(at: number, name: Buffer): number {
    const jsonb = this.#jsonb;
    if (at === -1 || typeAt(jsonb, at) !== elementTypes.object) return -1;
    const end = elementEnd(jsonb, at);
    for (let member = payloadAt(jsonb, at); member < end; ) {
      const value = elementEnd(jsonb, member);
      if (isNamed(jsonb, member, value, name)) return value;
      member = elementEnd(jsonb, value);
    }
    return -1;
  }

  /** The positions of an array's elements; none if it is no array. */
  elements(at: number): number[] {
    const jsonb = this.#jsonb;
    const elements: number[] = [];
    if (at === -1 || typeAt(jsonb, at) !== elementTypes.array) return elements;
    const end = elementEnd(jsonb, at);
    for (let element = payloadAt(jsonb, at); element < end; element = elementEnd(jsonb, element))
      elements.push(element);
    return elements;
  }

  /** The members of an object, as Object.entries returns them; none if it is no object. */
  entries(at: number): readonly (readonly [string, unknown])[] {
    const jsonb = this.#jsonb;
    if (at === -1 || typeAt(jsonb, at) !== elementTypes.object) return [];
    const entries: [string, unknown][] = [];
    const end = elementEnd(jsonb, at);
    for (let name = payloadAt(jsonb, at); name < end; ) {
      const value = elementEnd(jsonb, name);
      const key = String(this.value(name));
      // In a JavaScript object a repeated name is one member, and names that are numbers come first.
      if (isDigit(key.charCodeAt(0)) || entries.length === manyEntries || entries.some(([other]) => other === key))
        return Object.entries(this.#object(at));
      entries.push([key, this.value(value)]);
      name = elementEnd(jsonb, value);
    }
    return entries;
  }

  #object(at: number): Record<string, unknown> {
    const jsonb = this.#jsonb;
    const object: Record<string, unknown> = {};
    const end = elementEnd(jsonb, at);
    for (let name = payloadAt(jsonb, at); name < end; ) {
      const element = elementEnd(jsonb, name);
      const key = String(this.value(name));
      const value = this.value(element);
      // An own property, as in JSON.parse. An assignment would set the prototype.
      if (key === '__proto__')
        Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
      else object[key] = value;
      name = elementEnd(jsonb, element);
    }
    return object;
  }

  #text(at: number): string {
    const from = payloadAt(this.#jsonb, at);
    const to = from + payloadSize(this.#jsonb, at);
    const inStretch = from - this.#from;
    if (inStretch > 0 && to - this.#from <= this.#stretch.length)
      return this.#stretch.slice(inStretch, to - this.#from);
    return this.#jsonb.toString('utf8', from, to);
  }
}

/** The string of an element. JSON.parse resolves its escapes. */
function textAt(jsonb: Buffer, at: number): string {
  const from = payloadAt(jsonb, at);
  const text = jsonb.toString('utf8', from, from + payloadSize(jsonb, at));
  return typeAt(jsonb, at) === elementTypes.escapedText ? (JSON.parse(`"${text}"`) as string) : text;
}

function integer(text: string): unknown {
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : rawJson(text);
}

function typeAt(jsonb: Uint8Array, at: number): number {
  return (jsonb[at] as number) & 0x0f;
}

function elementEnd(jsonb: Uint8Array, at: number): number {
  return payloadAt(jsonb, at) + payloadSize(jsonb, at);
}
