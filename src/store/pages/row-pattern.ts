/**
 * Pages of plain rows, written in one go: a pattern takes the lines of all rows apart, and what it finds is put between the constant
 * texts. Several times as fast as a row and a value at a time, and most pages are plain.
 *
 * Invariant: the text is what the writers of page-writer.ts give. Where that is not plain to see, there is none: for a value of
 * another type than its leaf's, a number that may be written in several ways, an escape that JSON.stringify may write otherwise, an
 * object of which no value is there.
 */
import type { LeafType } from '../../catalog/tree/field-tree.ts';
import { type PageTemplate, type RowPart, type ValueShape, valuesBelow } from './page-template.ts';

/** From lines to the texts of their rows, each with a comma before it; null where one is not plain. */
export type WritePlain = (lines: string) => string | null;

/** Escapes that say the same in every spelling are not among these: each stands for a character that has no other. */
const text = String.raw`"[^"\\\x00-\x1f]*(?:\\["\\bfnrt][^"\\\x00-\x1f]*)*"`;
/** Every double of so few digits is written as it stands. */
const whole = String.raw`0|-?[1-9]\d{0,14}`;
/** Below two to the power of 31. */
const short = String.raw`0|-?[1-9]\d{0,8}`;
const flag = 'true|false';
/** What is not shown may be written in any way. */
const scalar = String.raw`"[^"\\]*(?:\\.[^"\\]*)*"|[^,"[\]{]+`;

/** A replacement can name so many. */
const mostGroups = 99;

/** How rows of these parts are written, null where they are never plain. */
export function rowPattern(template: PageTemplate, parts: readonly RowPart[]): WritePlain | null {
  const row = new PlainRow(template);
  if (!parts.every((part) => row.add(part))) return null;
  return row.writer();
}

class PlainRow {
  readonly #template: PageTemplate;
  /** Constant texts, and the numbers of items in the line. */
  readonly #pieces: (string | number)[] = [','];
  /** What an item must be. */
  readonly #wanted = new Map<number, string>();
  /** What must not stand from an item on. */
  readonly #never = new Map<number, string>();

  constructor(template: PageTemplate) {
    this.#template = template;
  }

  /** False for a part that is not plain. */
  add(part: RowPart): boolean {
    switch (part.is) {
      case 'text':
        this.#pieces.push(part.text);
        return true;
      case 'column':
        return this.#item(part.at, part.otherwise === 'null' ? `(?!"")${text}|null` : `(?!"")${text}`);
      case 'uid':
        return this.#item(part.at, String.raw`"[^"\\\x00-\x1f/]+"`);
      case 'version':
        return this.#item(part.at, `(?!"digest-)${text}`);
      case 'value': {
        const wanted = plainValue(part.shape);
        return wanted !== null && this.#item(this.#template.columns + part.at, wanted);
      }
      case 'object':
        return this.#proven(part.at) && part.of.every((inner) => this.add(inner));
      case 'key':
      case 'opaque':
        return false;
    }
  }

  writer(): WritePlain | null {
    if (this.#wanted.size > mostGroups) return null;
    const { columns, values } = this.#template;
    const groups = [...this.#wanted.keys()].sort((a, b) => a - b);
    const item = (at: number): string => {
      const wanted = this.#wanted.get(at);
      return `${this.#never.get(at) ?? ''}${wanted === undefined ? `(?:${scalar})` : `(${wanted})`}`;
    };
    const items = Array.from({ length: columns + values.length }, (_, at) => item(at));
    const line = [...items.slice(0, columns), `\\[${items.slice(columns).join(',')}\\]`].join(',');
    const pattern = new RegExp(`\\[${line}\\]\\n?`, 'gy');
    const replacement = this.#pieces
      .map((piece) =>
        typeof piece === 'string'
          ? piece.replaceAll('$', '$$$$')
          : `$${String(groups.indexOf(piece) + 1).padStart(2, '0')}`,
      )
      .join('');
    return (lines) => {
      const written = lines.replace(pattern, replacement);
      // It ends at the first line that it does not fit; that one and all behind it stay as they were.
      return written.endsWith(']]') ? null : written;
    };
  }

  #item(at: number, wanted: string): boolean {
    this.#pieces.push(at);
    const known = this.#wanted.get(at) ?? wanted;
    this.#wanted.set(at, wanted);
    return known === wanted;
  }

  /** Not all values of the object may be null. */
  #proven(at: number): boolean {
    const below = valuesBelow(this.#template, at);
    const [first] = below;
    if (first === undefined || below.some((value, index) => value !== first + index)) return false;
    const item = this.#template.columns + first;
    this.#never.set(item, `${this.#never.get(item) ?? ''}(?!null(?:,null){${below.length - 1}}[,\\]])`);
    return true;
  }
}

function plainValue(shape: ValueShape): string | null {
  if (shape.is === 'flag') return flag;
  if (shape.is !== 'leaf') return null;
  const wanted = plainLeaf(shape.type);
  return shape.otherwise === undefined ? `${wanted}|null` : wanted;
}

function plainLeaf(type: LeafType): string {
  switch (type) {
    case 'String':
    case 'DateTime':
    case 'Duration':
    case 'IP':
    case 'Quantity':
      return text;
    case 'Boolean':
      return flag;
    case 'Int':
      return short;
    case 'Int64':
    case 'Float':
      return whole;
    case 'IntOrString':
      return `${text}|${whole}`;
    case 'JSON':
      return `${text}|${whole}|${flag}`;
  }
}
