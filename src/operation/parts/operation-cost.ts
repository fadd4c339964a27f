/**
 * Limits of one operation: the values it requests and returns, and the bytes it reads from the store.
 *
 *   ask: before anything is read     a page has as many objects as it may have; lists inside its objects are not counted yet
 *   charge: for each page that was read     the objects that it really has, lists inside objects included
 *
 * The lists inside objects are usually small: a Pod has one owner. So their most values only bound the operation (`worstCases`), and
 * their real values are charged.
 */
import { PortolanError } from '../../base/errors.ts';
import type { Lease } from '../../store/types/lease.ts';
import { type Row, textLength } from '../../store/types/statement.ts';

export interface CostLimits {
  /** The most values that one operation may request and return. */
  readonly maxCost: number;
  /** The most bytes that one operation may read from the store. */
  readonly maxReadBytes: number;
}

/** The values of an operation that are known before anything is read. */
export interface AskedCost {
  /** With full pages, and without the objects of lists inside objects. */
  readonly outer: number;
  /** With full pages everywhere. */
  readonly most: number;
}

/**
 * The most characters of values that one answer may have: half of the bytes that its operation may read. With names and brackets, an answer
 * that shows each value once reads about twice as much.
 */
export function mostAnswerCharacters({ maxReadBytes }: Pick<CostLimits, 'maxReadBytes'>): number {
  return maxReadBytes / 2;
}

/** An operation may ask for so many times the allowed values if its lists inside objects were full. */
const worstCases = 20;

/** The cost of an operation: requested values, and values returned so far. */
export class OperationCost {
  /** Values that it may ask for and return. After a refusal by `ask`, the limit that `asked` exceeds. */
  allowed: number;
  /**
   * Values that the operation can return at most; null before it is computed. After a refusal by `ask`, the values that exceed the limit.
   */
  asked: number | null = null;
  /** Values of the objects that its lists have returned. */
  spent = 0;
  readonly #maxReadBytes: number;
  #readBytes = 0;

  constructor({ maxCost, maxReadBytes }: CostLimits) {
    this.allowed = maxCost;
    this.#maxReadBytes = maxReadBytes;
  }

  /** Counts the bytes of rows from the store. @throws PortolanError QUERY_TOO_COSTLY over maxReadBytes. */
  read(rows: readonly Row[]): void {
    for (const row of rows) this.#readBytes += textLength(row);
    if (this.#readBytes <= this.#maxReadBytes) return;
    throw new PortolanError(
      'QUERY_TOO_COSTLY',
      `The operation reads ${this.#readBytes} bytes of objects and more; at most ${this.#maxReadBytes} are allowed. Ask for smaller pages (first) or fewer fields.`,
      { details: { bytes: this.#readBytes, allowed: this.#maxReadBytes } },
    );
  }

  /**
   * Records the requested values.
   * @throws PortolanError QUERY_TOO_COSTLY for more than maxCost, or for lists inside objects that could give many times as much.
   */
  ask({ outer, most }: AskedCost): void {
    const fits = outer <= this.allowed;
    this.asked = fits ? most : outer;
    if (fits && most <= this.allowed * worstCases) return;
    if (fits) this.allowed *= worstCases;
    const { asked, allowed } = this;
    const full = fits ? ' with full lists inside its objects' : '';
    throw new PortolanError(
      'QUERY_TOO_COSTLY',
      `The operation could give ${asked} values${full}; at most ${allowed} are allowed. Ask for smaller pages (first) or fewer fields.`,
      { details: { asked, allowed } },
    );
  }

  /** Counts the values of objects that a list returns. @throws PortolanError QUERY_TOO_COSTLY over maxCost. */
  charge(values: number): void {
    this.spent += values;
    if (this.spent <= this.allowed) return;
    throw new PortolanError(
      'QUERY_TOO_COSTLY',
      `The lists of the operation give ${this.spent} values and more; at most ${this.allowed} are allowed. Ask for smaller pages (first) or fewer fields.`,
      { details: { spent: this.spent, allowed: this.allowed } },
    );
  }
}

/** A lease that its holder must end. */
export type OpenLease = Lease & { end(): void };

/** The lease. @param count gets the rows of each statement @param ended called at the end of the lease */
export function meteredLease(lease: OpenLease, count: (rows: readonly Row[]) => void, ended: () => void): OpenLease {
  const counted = async (rows: Promise<readonly Row[]>): Promise<readonly Row[]> => {
    const found = await rows;
    count(found);
    return found;
  };
  return {
    revision: lease.revision,
    epoch: lease.epoch,
    layoutVersion: lease.layoutVersion,
    all: (statement) => counted(lease.all(statement)),
    fill: (statements, limit) => counted(lease.fill(statements, limit)),
    end: () => {
      lease.end();
      ended();
    },
  };
}
