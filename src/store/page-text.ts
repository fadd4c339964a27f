/**
 * Pages as text: rows of a statement written as JSON by a template, in the thread that reads them, so that what crosses threads is
 * one text for a page and nobody makes objects of it.
 *
 * A template is plain data and knows no query language: it says which columns, which values of the body and which constant texts
 * stand one behind the other. What of a value is shown is said by src/catalog/shown.ts alone.
 *
 * Invariant: the text is what JSON.stringify would give of the same values.
 */
import type { LeafType } from '../catalog/field-tree.ts';
import { servedUid, servedVersion } from '../catalog/made-up.ts';
import { memberOf, recordOf, shown, shownInt64, shownQuantity } from '../catalog/shown.ts';
import { parseExact } from '../catalog/values.ts';
import { plainItems } from './plain-items.ts';
import type { PageText, Row, SqlValue } from './types.ts';

/** How a JSON value is written. */
export type ValueShape =
  /** `otherwise` is a JSON text that stands where no value of this type is; `null` without it. */
  | { readonly is: 'leaf'; readonly type: LeafType; readonly otherwise?: string }
  /** Whether it is `true`. */
  | { readonly is: 'flag' }
  /** A JSON object as it is. */
  | { readonly is: 'record' }
  /** Any JSON as it is. */
  | { readonly is: 'any' }
  | { readonly is: 'list'; readonly of: ValueShape }
  /** Of a list's objects the first whose member `name` is this text. */
  | { readonly is: 'first'; readonly name: string; readonly equal: string; readonly of: ValueShape }
  /** An object's member of that name. */
  | { readonly is: 'entry'; readonly name: string; readonly of: ValueShape }
  | { readonly is: 'object'; readonly members: readonly ObjectMember[] };

export interface ObjectMember {
  /** The JSON text of its name in the answer. */
  readonly key: string;
  /** Its name in the stored object; null for a constant. */
  readonly name: string | null;
  /** How it is written, or the JSON text of the constant. */
  readonly value: ValueShape | string;
}

/** A part of a row's text. */
export type RowPart =
  | { readonly is: 'text'; readonly text: string }
  /** A column's text in quotes; `otherwise` where the column is null or empty. */
  | { readonly is: 'column'; readonly at: number; readonly otherwise: string }
  /** A column as the uid or the resourceVersion that callers see. */
  | { readonly is: 'uid' | 'version'; readonly at: number }
  /** A column as a number or a text; `{"i":digits}` for a wide one, which is text in the column. */
  | { readonly is: 'key'; readonly at: number; readonly wide: boolean }
  /** The value at `values[at]`. */
  | { readonly is: 'value'; readonly at: number; readonly shape: ValueShape }
  /** The parts, where there is an object at `objects[at]`; null elsewhere. */
  | { readonly is: 'object'; readonly at: number; readonly of: readonly RowPart[] }
  /** base64url of the parts' text, in quotes. */
  | { readonly is: 'opaque'; readonly of: readonly RowPart[] };

export interface PageTemplate {
  /** Texts of rows, for each list that is made of the page. */
  readonly lists: readonly (readonly RowPart[])[];
  /** The text that is wanted of the first and the last row; null when none is. */
  readonly ends: readonly RowPart[] | null;
  /** Where values and objects stand in the body, as member names. */
  readonly values: readonly (readonly string[])[];
  readonly objects: readonly (readonly string[])[];
}

/** Columns with which every row begins; those of the template follow. */
export const pageColumns = {
  /** The body where SQLite refused it, null otherwise. */
  text: 0,
  /** A JSON list of the template's values. */
  values: 1,
  /** A number whose bit `at` says that there is an object at `objects[at]`. */
  objects: 2,
  /** The first column that a template may name. */
  first: 3,
} as const;

interface RowAsRead {
  readonly row: Row;
  /** The values' JSON texts, where they need no parsing; null where `values` has them. */
  readonly texts: readonly string[] | null;
  readonly values: readonly unknown[];
  readonly objects: number;
}

type WriteRow = (row: RowAsRead) => string;
/** Null where nothing is shown. */
type WriteValue = (value: unknown) => string | null;
/** The same of a JSON text that holds no object and no list; a string in it has no escapes. */
type WriteText = (text: string) => string | null;

/** A template made ready: rows in the order of the answer to the texts of the page. `found` is passed on. */
export function pageWriter(template: PageTemplate): (rows: readonly Row[], found: number) => PageText {
  const lists = template.lists.map(writeParts);
  const ends = template.ends === null ? null : writeParts(template.ends);
  return (rows, found) => {
    const read = rows.map((row) => readRow(template, row));
    const first = read[0];
    const last = read.at(-1);
    return {
      found,
      lists: lists.map((write) => listText(read, write)),
      first: ends === null || first === undefined ? null : ends(first),
      last: ends === null || last === undefined ? null : ends(last),
    };
  };
}

function listText(rows: readonly RowAsRead[], write: WriteRow): string {
  let text = '';
  for (const row of rows) text += `${text === '' ? '[' : ','}${write(row)}`;
  return text === '' ? '[]' : `${text}]`;
}

function readRow(template: PageTemplate, row: Row): RowAsRead {
  const refused = row[pageColumns.text];
  if (typeof refused === 'string') {
    const body = parseExact(refused);
    let objects = 0;
    for (const [at, path] of template.objects.entries()) if (recordOf(valueIn(body, path)) !== null) objects |= 1 << at;
    return { row, objects, texts: null, values: template.values.map((path) => valueIn(body, path)) };
  }
  const found = row[pageColumns.values];
  const list = typeof found === 'string' ? found : '[]';
  const texts = plainItems(list);
  return {
    row,
    texts,
    values: texts === null ? (parseExact(list) as readonly unknown[]) : none,
    objects: Number(row[pageColumns.objects]),
  };
}

const none: readonly unknown[] = Object.freeze([]);

function valueIn(body: unknown, path: readonly string[]): unknown {
  let value = body;
  for (const name of path) {
    const record = recordOf(value);
    if (record === null) return undefined;
    value = memberOf(record, name);
  }
  return value;
}

function writeParts(parts: readonly RowPart[]): WriteRow {
  const writers = parts.map(writePart);
  return (row) => {
    let text = '';
    for (const write of writers) text += write(row);
    return text;
  };
}

function writePart(part: RowPart): WriteRow {
  switch (part.is) {
    case 'text': {
      const { text } = part;
      return () => text;
    }
    case 'column': {
      const { at, otherwise } = part;
      return ({ row }) => {
        const value = row[at];
        return value === null || value === undefined || value === '' ? otherwise : quoted(String(value));
      };
    }
    case 'uid': {
      const { at } = part;
      return ({ row }) => {
        const uid = servedUid(row[at] ? String(row[at]) : null);
        return uid === null ? 'null' : quoted(uid);
      };
    }
    case 'version': {
      const { at } = part;
      return ({ row }) => {
        const version = servedVersion(String(row[at]));
        return version === null ? 'null' : quoted(version);
      };
    }
    case 'key': {
      const { at, wide } = part;
      return ({ row }) => keyText(row[at], wide);
    }
    case 'value': {
      const { at, shape } = part;
      const write = writeValue(shape);
      const writePlain = writeText(shape, write);
      return ({ texts, values }) => (texts === null ? write(values[at]) : writePlain(texts[at] ?? 'null')) ?? 'null';
    }
    case 'object': {
      const bit = 1 << part.at;
      const write = writeParts(part.of);
      return (row) => ((row.objects & bit) === 0 ? 'null' : write(row));
    }
    case 'opaque': {
      const write = writeParts(part.of);
      return (row) => `"${Buffer.from(write(row)).toString('base64url')}"`;
    }
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what JSON has no place for.
const escaped = /["\\\u0000-\u001f\ud800-\udfff]/;

/** As JSON.stringify, which is slower where there is nothing to escape. */
function quoted(text: string): string {
  return escaped.test(text) ? JSON.stringify(text) : `"${text}"`;
}

function keyText(value: SqlValue | undefined, wide: boolean): string {
  if (value === null || value === undefined) return 'null';
  if (wide) return `{"i":"${BigInt(String(value))}"}`;
  return JSON.stringify(typeof value === 'string' || typeof value === 'number' ? value : String(value));
}

function writeValue(shape: ValueShape): WriteValue {
  switch (shape.is) {
    case 'leaf': {
      const write = writeLeaf(shape.type);
      const { otherwise } = shape;
      return otherwise === undefined ? write : (value) => write(value) ?? otherwise;
    }
    case 'flag':
      return (value) => (value === true ? 'true' : 'false');
    case 'record':
      return (value) => {
        const record = recordOf(value);
        return record === null ? null : JSON.stringify(record);
      };
    case 'any':
      return anyText;
    case 'list': {
      const { of } = shape;
      // Free JSON is shown as it is, what is null in it too.
      if (of.is === 'leaf' && of.type === 'JSON') return (value) => (Array.isArray(value) ? anyText(value) : null);
      const write = writeValue(of);
      return (value) => {
        if (!Array.isArray(value)) return null;
        return `[${value
          .map(write)
          .filter((text) => text !== null)
          .join(',')}]`;
      };
    }
    case 'first': {
      const { name, equal } = shape;
      const write = writeValue(shape.of);
      return (value) => {
        if (!Array.isArray(value)) return null;
        return write(value.find((item) => recordOf(item)?.[name] === equal));
      };
    }
    case 'entry': {
      const { name } = shape;
      const write = writeValue(shape.of);
      return (value) => {
        const record = recordOf(value);
        return record === null ? null : write(memberOf(record, name));
      };
    }
    case 'object': {
      const members = shape.members.map(({ key, name, value }, index) => ({
        head: `${index === 0 ? '{' : ','}${key}:`,
        name,
        write: typeof value === 'string' ? () => value : writeValue(value),
      }));
      return (value) => {
        const record = recordOf(value);
        if (record === null) return null;
        let text = '';
        for (const { head, name, write } of members) {
          text += head + (write(name === null ? undefined : memberOf(record, name)) ?? 'null');
        }
        return members.length === 0 ? '{}' : `${text}}`;
      };
    }
  }
}

function writeText(shape: ValueShape, write: WriteValue): WriteText {
  const parsed: WriteText = (text) => write(parseExact(text));
  if (shape.is !== 'leaf') return parsed;
  switch (shape.type) {
    case 'String':
    case 'DateTime':
    case 'Duration':
    case 'IP':
    case 'Quantity':
    case 'IntOrString':
    case 'JSON':
      // A string of these types is shown as it is (src/catalog/shown.ts).
      return (text) => (text.charCodeAt(0) === quote ? text : parsed(text));
    default:
      return parsed;
  }
}

const quote = 0x22;

function anyText(value: unknown): string | null {
  return value === null || value === undefined ? null : JSON.stringify(value);
}

function writeLeaf(type: LeafType): WriteValue {
  const leaf = { kind: 'leaf', type } as const;
  return (value) => {
    const given = shown(leaf, value);
    if (given === null || given === undefined) return null;
    return JSON.stringify(type === 'Int64' ? shownInt64(given) : type === 'Quantity' ? shownQuantity(given) : given);
  };
}
