/**
 * Writes rows as JSON text by the parts of a page template (page-template.ts). Displayed values are defined by
 * src/catalog/values/displayed-value.ts alone.
 *
 *   line    ["east","shop","web-1",null,null,["Running"]]
 *   text    {"name":"web-1","phase":"Running"}
 */
import { PortolanError } from '../../base/errors.ts';
import { must } from '../../base/must.ts';
import { servedUid, servedVersion } from '../../catalog/resources/synthetic-identity.ts';
import { requireShallow } from '../../catalog/tree/nesting.ts';
import {
  displayedInt64,
  displayedQuantity,
  memberOf,
  plainForms,
  recordOf,
  shown,
} from '../../catalog/values/displayed-value.ts';
import { parseExact } from '../../catalog/values/values.ts';
import { misfitObjects } from './page-columns.ts';
import type { ReadLine } from './page-lines.ts';
import type { PageTemplate, RowPart, ValueShape } from './page-template.ts';

export type WriteRow = (row: ReadLine) => string;
/** Writes a parsed value; null for a value that is displayed as null. */
type WriteValue = (value: unknown) => string | null;
/** Writes a value from its JSON text, which is a literal, a number, or a string without escapes. */
type WriteText = (text: string) => string | null;

/** Thrown when a short line does not prove whether an object is present; page-writer.ts reads full lines then. */
export class LineTooShort extends Error {}

/** A shared instance, since its stack is not used. */
const lineTooShort = new LineTooShort();

/** @returns a function that throws LineTooShort. */
export function writeParts(parts: readonly RowPart[], template: PageTemplate): WriteRow {
  const writers = parts.map((part) => writePart(part, template));
  return (row) => {
    let text = '';
    for (const write of writers) text += write(row);
    return text;
  };
}

function writePart(part: RowPart, template: PageTemplate): WriteRow {
  switch (part.is) {
    case 'text': {
      const { text } = part;
      return () => text;
    }
    case 'column': {
      const { at, otherwise } = part;
      return (row) => {
        const value = columnOf(row, at);
        return value === null || value === '' ? otherwise : quoted(value);
      };
    }
    case 'uid': {
      const { at } = part;
      return (row) => {
        const uid = servedUid(columnOf(row, at) || null);
        return uid === null ? 'null' : quoted(uid);
      };
    }
    case 'version': {
      const { at } = part;
      return (row) => {
        const version = servedVersion(columnOf(row, at) ?? '');
        return version === null ? 'null' : quoted(version);
      };
    }
    case 'key': {
      const { at, wide } = part;
      return ({ texts, items }) => {
        const text = texts === null ? JSON.stringify(items[at]) : (texts[at] ?? 'null');
        return wide && text !== 'null' ? `{"i":${text}}` : text;
      };
    }
    case 'value': {
      const at = template.columns + part.at;
      const write = writeValue(part.shape);
      const writePlain = writeText(part.shape, write);
      return ({ texts, items }) => (texts === null ? write(items[at]) : writePlain(texts[at] ?? 'null')) ?? 'null';
    }
    case 'object': {
      const bit = 1 << part.at;
      const write = writeParts(part.of, template);
      return (row) => {
        if (row.objects === null) throw lineTooShort;
        if (row.objects === misfitObjects) misfit();
        return (row.objects & bit) === 0 ? 'null' : write(row);
      };
    }
    case 'related': {
      const { at } = part;
      return ({ related }) => must(related?.[at], 'the related pages are written before the row');
    }
    case 'opaque': {
      const write = writeParts(part.of, template);
      return (row) => `"${Buffer.from(write(row)).toString('base64url')}"`;
    }
  }
}

/** The text of a column; null for null. */
function columnOf({ texts, items }: ReadLine, at: number): string | null {
  if (texts === null) return (items[at] ?? null) as string | null;
  const text = texts[at] ?? 'null';
  return text === 'null' ? null : text.slice(1, -1);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what JSON has no place for.
const escaped = /["\\\u0000-\u001f\ud800-\udfff]/;

/** JSON.stringify of a string. JSON.stringify itself is slower for a string without escapes. */
function quoted(text: string): string {
  return escaped.test(text) ? JSON.stringify(text) : `"${text}"`;
}

function writeValue(shape: ValueShape): WriteValue {
  switch (shape.is) {
    case 'leaf': {
      const write = writeLeaf(shape);
      const { otherwise } = shape;
      if (otherwise === undefined) return write;
      return (value) => (typeof value === 'string' ? write(value) : otherwise);
    }
    case 'flag':
      return (value) => (value === true ? 'true' : 'false');
    case 'record':
      return (value) => {
        const record = objectIn(value);
        return record === null ? null : jsonOf(record);
      };
    case 'any':
      return anyText;
    case 'list': {
      const { of, items } = shape;
      // Free JSON is displayed unchanged, including null items.
      if (of.is === 'leaf' && of.type === 'JSON') return (value) => anyText(listIn(value));
      const write = writeValue(of);
      return (value) => {
        const list = listIn(value);
        if (list === null) return null;
        const texts = list.map(write);
        const shown =
          items === 'nullable' ? texts.map((text) => text ?? 'null') : texts.filter((text) => text !== null);
        return `[${shown.join(',')}]`;
      };
    }
    case 'first': {
      const { name, equal } = shape;
      const write = writeValue(shape.of);
      return (value) => {
        return write(listIn(value)?.find((item) => recordOf(item)?.[name] === equal));
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
        const record = objectIn(value);
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
  if (shape.is !== 'leaf' || shape.values !== undefined) return parsed;
  switch (shape.type) {
    case 'DateTime':
    case 'Duration':
    case 'Quantity': {
      const plain = new RegExp(`^"${plainForms[shape.type]}"$`);
      return (text) => (plain.test(text) ? text : parsed(text));
    }
    case 'String':
    case 'IP':
    case 'ResourceVersion':
    case 'IntOrString':
    case 'JSON':
      // A string of these types is displayed unchanged (src/catalog/values/displayed-value.ts).
      return (text) => (text.charCodeAt(0) === quote ? text : parsed(text));
    default:
      return parsed;
  }
}

const quote = 0x22;

function anyText(value: unknown): string | null {
  return value === null || value === undefined ? null : jsonOf(value);
}

/** The executor makes the errors at the fields. */
function misfit(): never {
  throw new PortolanError('VALUE_MISFIT', 'The page has a value that does not fit its field; the executor shows it.');
}

/** The object; null for an absent one. @throws PortolanError for a misfit */
function objectIn(value: unknown): Readonly<Record<string, unknown>> | null {
  return value === null || value === undefined ? null : (recordOf(value) ?? misfit());
}

/** The list; null for an absent one. @throws PortolanError for a misfit */
function listIn(value: unknown): readonly unknown[] | null {
  if (value === null || value === undefined) return null;
  return Array.isArray(value) ? value : misfit();
}

/** @throws PortolanError for a value that nests too deep. The executor then answers, with an error at the field. */
function jsonOf(value: unknown): string {
  requireShallow(value);
  return JSON.stringify(value);
}

function writeLeaf({ type, values }: Extract<ValueShape, { is: 'leaf' }>): WriteValue {
  const leaf = { kind: 'leaf', type, ...(values === undefined ? {} : { values }) } as const;
  return (value) => {
    const given = shown({ type: leaf, items: 'nonNull' }, value, misfit);
    if (given === null) return null;
    return jsonOf(type === 'Int64' ? displayedInt64(given) : type === 'Quantity' ? displayedQuantity(given) : given);
  };
}
