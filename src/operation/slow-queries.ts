/** Counts slow operations and logs their plan shapes. A log entry never contains filter values, which may be names of secrets. */
import type { Logger } from '../base/log.ts';
import type { PlanShape } from './operation-trace.ts';

export interface SlowQuery {
  readonly milliseconds: number;
  /** Rows read from the store. */
  readonly rows: number;
  /** The operation's name in its document. */
  readonly operation: string | null;
  readonly plans: () => readonly PlanShape[];
}

export class SlowQueries {
  readonly #log: Logger;
  readonly #thresholdMs: number;
  #count = 0;

  constructor(log: Logger, thresholdMs: number) {
    this.#log = log;
    this.#thresholdMs = thresholdMs;
  }

  /** Slow operations since the start. */
  get count(): number {
    return this.#count;
  }

  /** Records an operation that has ended. */
  note({ milliseconds, rows, operation, plans }: SlowQuery): void {
    if (milliseconds < this.#thresholdMs) return;
    this.#count += 1;
    const entry = { milliseconds: Math.round(milliseconds), rows, operation, plans: plans() };
    this.#log.warn(entry, 'a slow query');
  }
}
