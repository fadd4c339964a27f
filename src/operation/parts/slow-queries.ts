/**
 * Counts slow operations and logs their shapes, a few a minute. A log entry never contains filter values, which may be names of secrets.
 */
import type { Logger } from '../../base/log.ts';
import type { PlanShape } from './operation-trace.ts';

interface SlowQuery {
  readonly milliseconds: number;
  /** Rows read from the store. */
  readonly rows: number;
  /** The operation's name in its document. */
  readonly operation: string | null;
  /** The document without values. Called only for entries of the log. */
  readonly document: () => string;
  readonly plans: () => readonly PlanShape[];
  /** Null without tracing. */
  readonly traceId: string | null;
}

/** Maximum log entries in a window of this many milliseconds. */
const entriesInWindow = 5;
const windowMs = 60_000;

export class SlowQueries {
  readonly #log: Logger;
  readonly #thresholdMs: () => number;
  /** Milliseconds of a monotonic clock. */
  readonly #now: () => number;
  #count = 0;
  #windowBegan = Number.NEGATIVE_INFINITY;
  #entries = 0;
  #unlogged = 0;

  constructor(log: Logger, thresholdMs: () => number, now: () => number) {
    this.#log = log;
    this.#thresholdMs = thresholdMs;
    this.#now = now;
  }

  /** Slow operations since the start. */
  get count(): number {
    return this.#count;
  }

  /** Records an operation that has ended. */
  note({ milliseconds, rows, operation, document, plans, traceId }: SlowQuery): void {
    if (milliseconds < this.#thresholdMs()) return;
    this.#count += 1;
    const now = this.#now();
    if (now - this.#windowBegan >= windowMs) {
      this.#windowBegan = now;
      this.#entries = 0;
    }
    if (this.#entries >= entriesInWindow) {
      this.#unlogged += 1;
      return;
    }
    this.#entries += 1;
    const unlogged = this.#unlogged === 0 ? {} : { unlogged: this.#unlogged };
    this.#unlogged = 0;
    const entry = { milliseconds: Math.round(milliseconds), rows, operation, document: document(), plans: plans() };
    this.#log.warn({ ...entry, ...unlogged, ...(traceId === null ? {} : { traceId }) }, 'a slow query');
  }
}
