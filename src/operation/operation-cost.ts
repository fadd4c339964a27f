/** Limits of one operation: the values it requests, and the bytes it reads from the store. */
import { PortolanError } from '../base/errors.ts';
import { type Row, textLength } from '../store/types/statement.ts';

export interface CostLimits {
  /** The most values that one operation may request. */
  readonly maxCost: number;
  /** The most bytes that one operation may read from the store. */
  readonly maxReadBytes: number;
}

/** The cost of an operation: requested values, and values returned so far. */
export class OperationCost {
  readonly allowed: number;
  /** Values that the operation can return at most; null before it is computed. */
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

  /** Records the requested values. @throws PortolanError QUERY_TOO_COSTLY over maxCost. */
  ask(cost: number): void {
    this.asked = cost;
    if (cost <= this.allowed) return;
    throw new PortolanError(
      'QUERY_TOO_COSTLY',
      `The operation could give ${cost} values; at most ${this.allowed} are allowed. Ask for smaller pages (first) or fewer fields.`,
      { details: { asked: cost, allowed: this.allowed } },
    );
  }
}
