/** What an operation has asked for, and what it has read: both have a limit. */
import { PortolanError } from '../base/errors.ts';
import { textLength } from '../store/read/text-length.ts';
import type { Row } from '../store/types/statement.ts';

export interface CostLimits {
  /** Values that one operation may ask for. */
  readonly maxCost: number;
  /** Bytes that one operation may read from the store. */
  readonly maxReadBytes: number;
}

/** What an operation has asked for, and what it has been answered so far. */
export class OperationCost {
  readonly allowed: number;
  /** Null until it has been counted. */
  asked: number | null = null;
  /** Values of the objects in its lists. */
  spent = 0;
  readonly #maxReadBytes: number;
  #readBytes = 0;

  constructor({ maxCost, maxReadBytes }: CostLimits) {
    this.allowed = maxCost;
    this.#maxReadBytes = maxReadBytes;
  }

  /** Rows came from the store. @throws PortolanError QUERY_TOO_COSTLY */
  read(rows: readonly Row[]): void {
    for (const row of rows) this.#readBytes += textLength(row);
    if (this.#readBytes <= this.#maxReadBytes) return;
    throw new PortolanError(
      'QUERY_TOO_COSTLY',
      `The operation reads ${this.#readBytes} bytes of objects and more; at most ${this.#maxReadBytes} are allowed. Ask for smaller pages (first) or fewer fields.`,
      { details: { bytes: this.#readBytes, allowed: this.#maxReadBytes } },
    );
  }

  /** @throws PortolanError QUERY_TOO_COSTLY */
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
