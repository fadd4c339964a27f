/**
 * Writes pages as JSON text: lines of rows (page-lines.ts) become lists by a template (page-template.ts). The thread that reads the rows
 * writes them, so that one string per page crosses threads and no row becomes a JavaScript object.
 *
 *   lines -> do all match the pattern (row-pattern.ts)? written with one replace -> else row by row (row-writer.ts)
 *
 *   lines   ["east","shop","web-1",null,null,["Running"]]\n["east","shop","web-2",null,null,[null]]
 *   list    [{"name":"web-1","phase":"Running"},{"name":"web-2","phase":null}]
 *
 * Related pages are written before the rows that hold them. Their objects are read in one step for all rows, each object once:
 *
 *   3 Services, ids 7 8 9 -> Pods [[1,2],[],[2]] and 2 lines -> 2 texts -> 3 pages -> the rows of the Services
 *
 * Invariant: the text equals JSON.stringify of the same displayed values.
 */
import { must } from '../../base/must.ts';
import type { PageText, RelatedTally } from '../types/page-reader.ts';
import { lineReader, type ReadLine } from './page-lines.ts';
import { type PageTemplate, type RelatedTemplate, valuesBelow } from './page-template.ts';
import { rowPattern, type WritePlain } from './row-pattern.ts';
import { LineTooShort, type WriteRow, writeParts } from './row-writer.ts';

/** The lines of the page's rows, in the order of the answer. */
interface PageLines {
  /** Empty for an empty page. */
  readonly lines: string;
  /** The number of rows found, including rows beyond the page. */
  readonly found: number;
  /** Are they full lines (page-lines.ts)? */
  readonly full: boolean;
}

/** The objects that are related to some rows. */
export interface RelatedLines {
  /** Lines of the objects that are shown, each object once, in any order. */
  readonly lines: string;
  /** The ids of the objects that are related to each row, in order. */
  readonly ids: readonly (readonly number[])[];
  /** Was a body refused as JSON? Then only full lines have its values. */
  readonly refused: boolean;
}

/** Reads the related objects of one related template. */
export interface RelatedReader {
  /** @param ids the rows to which the objects are related. */
  read(ids: readonly number[], full: boolean): RelatedLines;
  /** Objects on a page. */
  readonly shown: number;
  /** Read what is related to these objects, in the order of their template. */
  readonly related: readonly RelatedReader[];
  /** Counts the characters that are about to be written. @throws when there are too many. */
  charge(characters: number): void;
}

/** A compiled template. */
export interface PageWriter {
  /** Must the lines be full? Usually the values prove which objects are present, and short lines are enough. */
  readonly needsFullLines: boolean;
  /** The texts of the page; null when short lines do not prove whether an object is present: read full lines then. */
  write(page: PageLines, related?: readonly RelatedReader[]): PageText | null;
}

/** The number of pages with full lines after a page whose short lines were not enough. */
const fullLinesFor = 100;

/** Compiles a template. */
export function pageWriter(template: PageTemplate): PageWriter {
  return new TemplateWriter(template);
}

interface RelatedRows {
  readonly readers: readonly RelatedReader[];
  /** How often a row occurs in the answer. */
  readonly timesOf: (id: number) => number;
  readonly tallies: RelatedTally[];
  /** Receives the number of characters of the rows, each row as often as it occurs. Null for the rows of a page, which occur once. */
  readonly charge: ((characters: number) => void) | null;
}

class TemplateWriter implements PageWriter {
  readonly #idAt: number | null;
  readonly #lists: readonly { readonly plain: WritePlain | null; readonly write: WriteRow }[];
  readonly #first: WriteRow | null;
  readonly #last: WriteRow | null;
  readonly #readers: readonly [short: (line: string) => ReadLine, full: (line: string) => ReadLine];
  readonly #related: readonly RelatedWriter[];
  readonly #alwaysFull: boolean;
  #fullPagesLeft = 0;

  constructor(template: PageTemplate) {
    this.#idAt = template.idAt;
    this.#lists = template.lists.map((parts) => ({
      plain: rowPattern(template, parts),
      write: writeParts(parts, template),
    }));
    this.#first = template.first === null ? null : writeParts(template.first, template);
    this.#last = template.last === null ? null : writeParts(template.last, template);
    this.#readers = [lineReader(template, false), lineReader(template, true)];
    this.#related = template.related.map((each) => new RelatedWriter(each));
    this.#alwaysFull = template.objects.some((_, at) => valuesBelow(template, at).length === 0);
  }

  get needsFullLines(): boolean {
    return this.#alwaysFull || this.#fullPagesLeft > 0;
  }

  write({ lines, found, full }: PageLines, readers: readonly RelatedReader[] = []): PageText | null {
    return this.attempt(full, () => {
      const tallies: RelatedTally[] = [];
      let rows: readonly ReadLine[] | null = null;
      const rowByRow = (write: WriteRow): string => {
        rows ??= this.rows(lines, full, { readers, timesOf: () => 1, tallies, charge: null });
        return rows.map((row) => `,${write(row)}`).join('');
      };
      const read = this.#readers[full ? 1 : 0];
      const end = lines.indexOf('\n');
      return {
        found,
        // Each row has a comma before it.
        lists: this.#lists.map(
          ({ plain, write }) => `[${((full ? null : plain?.(lines)) ?? rowByRow(write)).slice(1)}]`,
        ),
        first: this.#first === null || lines === '' ? null : this.#first(read(end < 0 ? lines : lines.slice(0, end))),
        last: this.#last === null || lines === '' ? null : this.#last(read(lines.slice(lines.lastIndexOf('\n') + 1))),
        related: tallies,
      };
    });
  }

  /** The result of `write`; null when a short line was not enough for it. */
  attempt<T>(full: boolean, write: () => T): T | null {
    try {
      this.#fullPagesLeft -= full ? 1 : 0;
      return write();
    } catch (error) {
      if (!(error instanceof LineTooShort)) throw error;
      this.#fullPagesLeft = fullLinesFor;
      return null;
    }
  }

  /** The rows of these lines, with the texts of their related pages. */
  rows(lines: string, full: boolean, { readers, timesOf, tallies, charge }: RelatedRows): readonly ReadLine[] {
    const texts = lines === '' ? [] : lines.split('\n');
    const rows = texts.map(this.#readers[full ? 1 : 0]);
    if (charge === null && this.#related.length === 0) return rows;
    const ids = rows.map((row) => this.idOf(row));
    const times = ids.map(timesOf);
    charge?.(texts.reduce((sum, text, index) => sum + text.length * (times[index] ?? 0), 0));
    if (this.#related.length === 0) return rows;
    const pages = this.#related.map((related, at) =>
      related.pages(ids, { times, tallies, reader: must(readers[at], 'a reader for each related template') }),
    );
    return rows.map((row, index) => ({ ...row, related: pages.map((texts) => texts[index] ?? '') }));
  }

  idOf({ texts, items }: ReadLine): number {
    const at = must(this.#idAt, 'lines of related pages have ids');
    return Number(texts === null ? items[at] : texts[at]);
  }

  /** The text of a row in a list. */
  textOf(row: ReadLine, list: number): string {
    return must(this.#lists[list], 'a list of the template').write(row);
  }

  /** The text at the start or at the end of a page. */
  end(row: ReadLine, which: 'start' | 'end'): string {
    return (which === 'start' ? this.#first : this.#last)?.(row) ?? 'null';
  }
}

interface RowsToRelate {
  /** How often each row occurs in the answer. */
  readonly times: readonly number[];
  readonly tallies: RelatedTally[];
  readonly reader: RelatedReader;
}

class RelatedWriter {
  readonly #template: RelatedTemplate;
  readonly #of: TemplateWriter;

  constructor(template: RelatedTemplate) {
    this.#template = template;
    this.#of = new TemplateWriter(template.of);
  }

  /** The page of each of these rows. */
  pages(ids: readonly number[], rows: RowsToRelate): readonly string[] {
    if (ids.length === 0) return [];
    for (const full of this.#of.needsFullLines ? [true] : [false, true]) {
      const read = rows.reader.read(ids, full);
      if (read.refused && !full) continue;
      const pages = this.#of.attempt(full, () => this.#write(read, full, rows));
      if (pages !== null) return pages;
    }
    throw new Error('full lines prove which objects are present');
  }

  #write({ ids, lines }: RelatedLines, full: boolean, { times, tallies, reader }: RowsToRelate): readonly string[] {
    const shown = ids.map((some) => some.slice(0, reader.shown));
    const timesOf = new Map<number, number>();
    let [parents, objects] = [0, 0];
    for (const [at, some] of shown.entries()) {
      const count = times[at] ?? 0;
      parents += count;
      objects += count * some.length;
      for (const id of some) timesOf.set(id, (timesOf.get(id) ?? 0) + count);
    }
    tallies[this.#template.number] = { parents, rows: objects };
    const rows = new Map<number, ReadLine>();
    const below = {
      readers: reader.related,
      timesOf: (id: number) => timesOf.get(id) ?? 0,
      tallies,
      charge: (characters: number) => reader.charge(characters),
    };
    for (const row of this.#of.rows(lines, full, below)) rows.set(this.#of.idOf(row), row);
    const pieces = this.#template.pieces.map((piece) => this.#pieceWriter(piece, rows));
    return shown.map((page, at) => {
      const more = page.length < (ids[at]?.length ?? 0);
      let text = '';
      for (const piece of pieces) text += piece(page, more);
      return text;
    });
  }

  #pieceWriter(piece: RelatedTemplate['pieces'][number], rows: ReadonlyMap<number, ReadLine>): WritePage {
    const rowOf = (id: number): ReadLine => must(rows.get(id), 'a line for each object of a page');
    const texts = new Map<number, string>();
    const textOf = (id: number, list: number): string => {
      const text = texts.get(id) ?? this.#of.textOf(rowOf(id), list);
      texts.set(id, text);
      return text;
    };
    const endOf = (id: number | undefined, which: 'start' | 'end'): string =>
      id === undefined ? 'null' : this.#of.end(rowOf(id), which);
    if (typeof piece === 'object') {
      if ('list' in piece) return (page) => `[${page.map((id) => textOf(id, piece.list)).join(',')}]`;
      return ([first]) => (first === undefined ? 'null' : textOf(first, piece.only));
    }
    switch (piece) {
      case 'next':
        return (_page, more) => String(more);
      case 'start':
        return (page) => endOf(page[0], piece);
      case 'end':
        return (page) => endOf(page.at(-1), piece);
      default:
        return () => piece;
    }
  }
}

/** Writes a piece of a page. @param page the ids of its objects. @param more are there objects beyond the page? */
type WritePage = (page: readonly number[], more: boolean) => string;
