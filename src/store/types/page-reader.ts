/** Pages that the reader threads write as JSON text. */
import type { LeaseOptions } from './lease.ts';
import type { Row, Statement } from './statement.ts';

/** One page, read and written as text in the thread that reads it. */
export interface PageRequest {
  /** Run in turn until they have returned `limit` lines. src/store/pages/page-lines.ts describes the lines. */
  readonly statements: readonly Statement[];
  /** The same statements with lines that carry every row in full. */
  readonly fullStatements: readonly Statement[];
  readonly limit: number;
  /** Rows on the page. Rows beyond it are only counted. */
  readonly shown: number;
  /** The rows come in the reverse of the order in which they are shown. */
  readonly reversed: boolean;
  /** A PageTemplate as JSON text. Threads cache the parsed template by this text. */
  readonly template: string;
  /** How the related pages of the template are read, in its order. */
  readonly related: readonly RelatedRequest[];
  /** The read fails when it would write more characters of lines. A related object counts as often as it is written. */
  readonly mostCharacters: number;
}

/** The objects that are related to the rows of a page, read in one step for all rows. */
export interface RelatedRequest {
  /** Returns one row (src/store/pages/page-lines.ts). Its first parameter is a JSON list of the ids of the page's rows. */
  readonly statement: Statement;
  /** The same statement with lines that carry every row in full. */
  readonly fullStatement: Statement;
  /** Objects on a page. Objects beyond it are only counted. */
  readonly shown: number;
  readonly related: readonly RelatedRequest[];
}

/** How many related objects were written, in the pages of one related template. */
export interface RelatedTally {
  /** Rows that they are related to. */
  readonly parents: number;
  /** Objects on all their pages. */
  readonly rows: number;
}

export interface PageText {
  /** Rows that were found, at most the request's limit. */
  readonly found: number;
  /** A JSON list for each list of the template. */
  readonly lists: readonly string[];
  /** The template's `ends` of the first and the last row that is shown; null where there is none. */
  readonly first: string | null;
  readonly last: string | null;
  /** By the number of the related template. */
  readonly related: readonly RelatedTally[];
}

/** The results of several statements and pages in one snapshot. */
export interface PagesRead {
  readonly revision: number;
  readonly epoch: string;
  readonly layoutVersion: number;
  readonly rows: readonly (readonly Row[])[];
  readonly pages: readonly PageText[];
  /** Characters read from objects. */
  readonly bytes: number;
}

/** Reads in one step what a lease would read in several. */
export interface PageReader {
  /** The statements give few rows, and so does each page. One message to a reader thread and one back. */
  pages(statements: readonly Statement[], pages: readonly PageRequest[], options?: LeaseOptions): Promise<PagesRead>;
  /**
   * Reads synchronously on the calling thread. For pages that scan few rows; their loops call tick() at every eighth row.
   * Returns `spent` when the budget is used up, and null when reading here is impossible. The caller may then use a reader thread.
   */
  pagesNow(statements: readonly Statement[], pages: readonly PageRequest[]): PagesRead | 'spent' | null;
}
