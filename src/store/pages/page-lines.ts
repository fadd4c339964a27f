/**
 * The rows of a page as lines of text. A statement returns one row for the whole page (pageRow). JavaScript objects for rows and
 * strings for columns would take as long as finding the rows.
 *
 * A line is a JSON list: its columns (strings, numbers or null), then the list of the values (page-template.ts).
 *
 *   short line   ["east","shop","web-1",null,null,["Running"]]
 *   full line    ["east","shop","web-1",null,null,1,null,["Running"]]
 *
 * A full line has two more columns before the values. The first is a bit mask of the objects in the body (bit `at` for `objects[at]`), or
 * `misfitObjects`.
 * The second is the body's text if SQLite refused the body as JSON, else null.
 */
import { memberOf, recordOf } from '../../catalog/values/displayed-value.ts';
import { parseExact } from '../../catalog/values/values.ts';
import { lineItems } from './line-items.ts';
import { misfitObjects } from './page-columns.ts';
import { type PageTemplate, valuesBelow } from './page-template.ts';

/** The columns of the one row that a statement returns for a page. */
export const pageRow = {
  /** The number of lines. */
  found: 0,
  /** The lines, separated by line feeds; null for an empty page. */
  lines: 1,
  /** The number of lines whose body SQLite refused as JSON. */
  refused: 2,
  /** The revision and the layout version that the statement read, as one text. */
  state: 3,
  /** For pages of related objects: a JSON list with a list of ids for each row that they are related to. */
  ids: 4,
} as const;

/** A line, split into its items. */
export interface ReadLine {
  /** The JSON texts of columns and values, when they need no parsing; null when `items` holds them parsed. */
  readonly texts: readonly string[] | null;
  readonly items: readonly unknown[];
  /** A bit for each object in the body; null when the values do not prove one of them present or absent. */
  readonly objects: number | null;
  /** The texts of the row's related pages, by their index in the template. */
  readonly related?: readonly string[];
}

/** The first lines, at most `count`. */
export function firstLines(lines: string, count: number): string {
  let end = -1;
  for (let line = 0; line < count; line += 1) {
    end = lines.indexOf('\n', end + 1);
    if (end < 0) return lines;
  }
  return lines.slice(0, Math.max(0, end));
}

/** Makes the reader of a template's lines. @param full whether they are full lines. */
export function lineReader(template: PageTemplate, full: boolean): (line: string) => ReadLine {
  const { columns, values, objects } = template;
  const inside = objects.map((_, at) => valuesBelow(template, at));
  const [mask, refused] = [columns, columns + 1];
  const first = full ? columns + 2 : columns;
  const columnsPattern = new RegExp(String.raw`^\[(?:(?:"[^"\\]*(?:\\.[^"\\]*)*"|[^,"[]+),){${first}}`);

  const objectsBy = (isThere: (value: number) => boolean): number | null => {
    let found = 0;
    for (const [at, below] of inside.entries()) {
      if (!below.some(isThere)) return null;
      found |= 1 << at;
    }
    return found;
  };

  return (line) => {
    const texts = lineItems(line);
    if (texts !== null) {
      if (!full) return { texts, items: none, objects: objectsBy((at) => texts[first + at] !== 'null') };
      if (texts[refused] === 'null') {
        return { texts: texts.toSpliced(mask, 2), items: none, objects: Number(texts[mask]) };
      }
    }
    const { length } = columnsPattern.exec(line)?.[0] ?? '';
    const found = JSON.parse(`${line.slice(0, length - 1)}]`) as unknown[];
    const text = full ? found[refused] : null;
    const head = found.slice(0, columns);
    if (typeof text === 'string') {
      const body = parseExact(text);
      let there = 0;
      for (const [at, path] of objects.entries()) {
        const value = valueIn(body, path) ?? null;
        if (recordOf(value) !== null) there |= 1 << at;
        else if (value !== null) there = misfitObjects;
      }
      return { texts: null, items: [...head, ...values.map((path) => valueIn(body, path))], objects: there };
    }
    const read = parseExact(line.slice(length, -1)) as readonly unknown[];
    return {
      texts: null,
      items: [...head, ...read],
      objects: full ? Number(found[mask]) : objectsBy((at) => (read[at] ?? null) !== null),
    };
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
