/**
 * The rows of a page as lines of text, in one piece: a statement gives one row for all of them (pageRow), because making objects
 * of rows and texts of columns costs as much as looking for them.
 *
 * A line is a JSON list: the columns, texts, numbers or null, and as its last item the list of the values (page-template.ts). Lines
 * that tell all have two columns more behind the others: a number whose bit `at` says that there is an object at `objects[at]`, and
 * the body's text where SQLite refused the body, null otherwise.
 */
import { memberOf, recordOf } from '../../catalog/values/displayed-value.ts';
import { parseExact } from '../../catalog/values/values.ts';
import { lineItems } from './line-items.ts';
import { type PageTemplate, valuesBelow } from './page-template.ts';

/** The one row of a statement that gives lines. */
export const pageRow = {
  /** How many lines there are. */
  found: 0,
  /** Null where there is none. */
  lines: 1,
  /** Of how many of them SQLite refused the body. */
  refused: 2,
} as const;

/** A line taken apart. */
export interface ReadLine {
  /** The JSON texts of columns and values, where they need no parsing; null where `items` has them. */
  readonly texts: readonly string[] | null;
  readonly items: readonly unknown[];
  /** A bit for each object that is there; null where the values do not tell of one. */
  readonly objects: number | null;
}

/** The first lines, so many at most. */
export function firstLines(lines: string, count: number): string {
  let end = -1;
  for (let line = 0; line < count; line += 1) {
    end = lines.indexOf('\n', end + 1);
    if (end < 0) return lines;
  }
  return lines.slice(0, Math.max(0, end));
}

/** @param full whether the lines tell all. */
export function lineReader(template: PageTemplate, full: boolean): (line: string) => ReadLine {
  const { columns, values, objects } = template;
  const inside = objects.map((_, at) => valuesBelow(template, at));
  const [mask, refused] = [columns, columns + 1];
  const first = full ? columns + 2 : columns;
  const head = new RegExp(String.raw`^\[(?:(?:"[^"\\]*(?:\\.[^"\\]*)*"|[^,"[]+),){${first}}`);

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
    const { length } = head.exec(line)?.[0] ?? '';
    const found = JSON.parse(`${line.slice(0, length - 1)}]`) as unknown[];
    const text = full ? found[refused] : null;
    const shown = found.slice(0, columns);
    if (typeof text === 'string') {
      const body = parseExact(text);
      let there = 0;
      for (const [at, path] of objects.entries()) if (recordOf(valueIn(body, path)) !== null) there |= 1 << at;
      return { texts: null, items: [...shown, ...values.map((path) => valueIn(body, path))], objects: there };
    }
    const read = parseExact(line.slice(length, -1)) as readonly unknown[];
    return {
      texts: null,
      items: [...shown, ...read],
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
