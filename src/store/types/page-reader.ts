/** Pages that the reader threads write as JSON text. */
import type { LeaseOptions } from './lease.ts';
import type { Row, Statement } from './statement.ts';

/** One page, read and written as text in the thread that reads it. */
export interface PageRequest {
  /** Run in turn until `limit` lines are there. Each gives lines, as src/store/pages/page-lines.ts says. */
  readonly statements: readonly Statement[];
  /** The same, with lines that tell all. */
  readonly fullStatements: readonly Statement[];
  readonly limit: number;
  /** Rows that are shown; what is found beyond only counts. */
  readonly shown: number;
  /** The rows come in the reverse of the order in which they are shown. */
  readonly reversed: boolean;
  /** A PageTemplate as JSON text: threads know it again by that. */
  readonly template: string;
}

export interface PageText {
  /** Rows that were found, at most the request's limit. */
  readonly found: number;
  /** A JSON list for each list of the template. */
  readonly lists: readonly string[];
  /** The template's `ends` of the first and the last row that is shown; null where there is none. */
  readonly first: string | null;
  readonly last: string | null;
}

/** What one snapshot says to several statements and pages at once. */
export interface PagesRead {
  readonly revision: number;
  readonly epoch: string;
  readonly layoutVersion: number;
  readonly rows: readonly (readonly Row[])[];
  readonly pages: readonly PageText[];
  /** Characters that were read of objects. */
  readonly bytes: number;
}

/** Reads in one step what a lease would read in several. */
export interface PageReader {
  /** The statements give few rows, and so does each page. One message to a reader thread and one back. */
  pages(statements: readonly Statement[], pages: readonly PageRequest[], options?: LeaseOptions): Promise<PagesRead>;
  /**
   * At once, on the calling thread: for pages that look at few rows, with loops that tick at one of eight. `spent` when it would have
   * taken long, null when it cannot be now; a reader thread may be asked then.
   */
  pagesNow(statements: readonly Statement[], pages: readonly PageRequest[]): PagesRead | 'spent' | null;
}
