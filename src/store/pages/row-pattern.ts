/**
 * Writes all rows of a page with one `String.replace`. A pattern matches the line of a row, and the replacement puts the matched items
 * between the constant texts. This is several times as fast as writing row by row, and it fits most pages.
 *
 *   line         ["east","shop","web-1",null,null,["Running"]]
 *   pattern      \[item,item,(text),item,item,\[(text|null)\]\]\n?        a group for each item that is written
 *   replacement  ,{"name":$01,"phase":$02}
 *   text         ,{"name":"web-1","phase":"Running"}
 *
 * Invariant: the text equals the text of page-writer.ts. A page falls back to page-writer.ts unless every row matches. These do not:
 *   - a value of another type than its leaf
 *   - a number that has several spellings
 *   - an escape that JSON.stringify may spell differently
 *   - an object whose values are all null, since the object may be missing
 */
import type { LeafType } from '../../catalog/tree/field-tree.ts';
import { plainForms } from '../../catalog/values/displayed-value.ts';
import { type PageTemplate, type RowPart, type ValueShape, valuesBelow } from './page-template.ts';

/** Writes the rows of these lines, each with a comma before it. Null when a line does not match the pattern. */
export type WritePlain = (lines: string) => string | null;

/** A JSON string. It allows only escapes whose characters have no second spelling, so neither \/ nor \u. */
const text = String.raw`"[^"\\\x00-\x1f]*(?:\\["\\bfnrt][^"\\\x00-\x1f]*)*"`;
/** An integer of at most 15 digits: JSON.stringify spells this double in the same way. */
const whole = String.raw`0|-?[1-9]\d{0,14}`;
/** An integer of at most 9 digits, so below 2^31. */
const short = String.raw`0|-?[1-9]\d{0,8}`;
const flag = 'true|false';
/** Any string, number or literal, for items that are not written. */
const scalar = String.raw`"[^"\\]*(?:\\.[^"\\]*)*"|[^,"[\]{]+`;

/** The highest group that a replacement can name is `$99`. */
const mostGroups = 99;

/** The pattern's writer for rows of these parts. Null when a part never matches, such as a list or free JSON. */
export function rowPattern(template: PageTemplate, parts: readonly RowPart[]): WritePlain | null {
  const row = new PlainRow(template);
  if (!parts.every((part) => row.add(part))) return null;
  return row.writer();
}

class PlainRow {
  readonly #template: PageTemplate;
  /** Constant texts, and the indexes of items in the line. */
  readonly #pieces: (string | number)[] = [','];
  /** The pattern that an item must match, by the item's index. */
  readonly #wanted = new Map<number, string>();
  /** A negative lookahead before an item, by the item's index. */
  readonly #lookaheads = new Map<number, string>();

  constructor(template: PageTemplate) {
    this.#template = template;
  }

  /** Adds a part; false when rows with it cannot be written by a pattern. */
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
        return this.#requireValue(part.at) && part.of.every((inner) => this.add(inner));
      case 'key':
      case 'opaque':
      case 'related':
        return false;
    }
  }

  writer(): WritePlain | null {
    if (this.#wanted.size > mostGroups) return null;
    const { columns, values } = this.#template;
    const groups = [...this.#wanted.keys()].sort((a, b) => a - b);
    const item = (at: number): string => {
      const wanted = this.#wanted.get(at);
      return `${this.#lookaheads.get(at) ?? ''}${wanted === undefined ? `(?:${scalar})` : `(${wanted})`}`;
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
      // The sticky pattern stops at the first line that it does not match; that line and all after it remain, ending in `]]`.
      return written.endsWith(']]') ? null : written;
    };
  }

  #item(at: number, wanted: string): boolean {
    this.#pieces.push(at);
    const known = this.#wanted.get(at) ?? wanted;
    this.#wanted.set(at, wanted);
    return known === wanted;
  }

  /** Adds a lookahead that refuses rows in which all values of the object are null. False when the values are not adjacent. */
  #requireValue(at: number): boolean {
    const below = valuesBelow(this.#template, at);
    const [first] = below;
    if (first === undefined || below.some((value, index) => value !== first + index)) return false;
    const item = this.#template.columns + first;
    this.#lookaheads.set(item, `${this.#lookaheads.get(item) ?? ''}(?!null(?:,null){${below.length - 1}}[,\\]])`);
    return true;
  }
}

function plainValue(shape: ValueShape): string | null {
  if (shape.is === 'flag') return flag;
  if (shape.is !== 'leaf') return null;
  // The values of an enum are names, which a pattern and JSON write alike.
  const wanted =
    shape.values === undefined ? plainLeaf(shape.type) : shape.values.map((value) => `"${value}"`).join('|');
  return shape.otherwise === undefined ? `${wanted}|null` : wanted;
}

function plainLeaf(type: LeafType): string {
  switch (type) {
    case 'String':
    case 'IP':
    case 'ResourceVersion':
      return text;
    case 'DateTime':
    case 'Duration':
    case 'Quantity':
      return `"${plainForms[type]}"`;
    case 'Boolean':
      return flag;
    case 'Int':
      return short;
    case 'Int64':
    case 'Float':
      return whole;
    case 'Number':
    case 'Time':
    case 'IntOrString':
      return `${text}|${whole}`;
    case 'JSON':
      return `${text}|${whole}|${flag}`;
  }
}
