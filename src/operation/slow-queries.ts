/** Operations that took longer than they should: counted, and logged by their shape. Never a value, which may be a secret's name. */
import type { Logger } from '../base/log.ts';
import type { PlanShape } from './operation-trace.ts';

export interface SlowQuery {
  readonly milliseconds: number;
  /** Rows that came from the store. */
  readonly rows: number;
  /** The operation's name in its document. */
  readonly operation: string | null;
  readonly plans: () => readonly PlanShape[];
}

export class SlowQueries {
  readonly #log: Logger;
  readonly #beyondMs: number;
  #count = 0;

  constructor(log: Logger, beyondMs: number) {
    this.#log = log;
    this.#beyondMs = beyondMs;
  }

  /** Since the start. */
  get count(): number {
    return this.#count;
  }

  /** An operation is over. */
  note({ milliseconds, rows, operation, plans }: SlowQuery): void {
    if (milliseconds < this.#beyondMs) return;
    this.#count += 1;
    const shown = { milliseconds: Math.round(milliseconds), rows, operation, plans: plans() };
    this.#log.warn(shown, 'a slow query');
  }
}
