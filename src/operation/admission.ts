/**
 * Admission: what every operation passes through, whichever door it came in by.
 *
 *   credentials -> callerOf                      who is calling
 *   caller      -> begin                         the current generation (else CACHE_NOT_READY), the right to an explanation
 *   operation   -> run(execute)                  lease ended, metrics, slow query log
 *   a prepared answer has no Operation -> finish the same metrics and log
 *   refused before it could run -> refuse        counted once, by its code
 *
 * Invariant: each operation is counted exactly once, by `refuse` or `finish` (`run` calls `finish`).
 */
import type { Authenticate, Caller, Credentials } from '../access/caller.ts';
import { beginOperation, type Operation } from './operation.ts';
import type { OperationSource } from './operation-source.ts';
import type { PlanShape } from './operation-trace.ts';
import type { ServedKinds } from './served-kinds.ts';

/** `unknown` where a document could not be parsed, or has no operation that could be run. */
export type OperationType = 'query' | 'mutation' | 'subscription' | 'unknown';

/** Where operations are counted. */
export interface OperationCounters {
  count(type: OperationType, code: string): void;
  /** How long an execution lasted. */
  took(type: OperationType, seconds: number): void;
  /** Counts an open subscription in; the returned function counts it out, once. */
  subscribed(): () => void;
}

/** Error codes of what executing gives; they depend on the protocol of the door. */
export interface OutcomeCodes<T> {
  /** The code of a result's first error, OK where it has none. */
  ofResult(result: T): string;
  ofThrown(error: unknown): string;
}

/** An operation that is over. */
export interface Finished {
  readonly type: OperationType;
  readonly code: string;
  /** When it began, by `Admission.monotonic`. */
  readonly began: number;
  /** The operation's name in its document. */
  readonly name: string | null;
  /** Rows that came from the store. */
  readonly rows: number;
  readonly plans: () => readonly PlanShape[];
}

export class Admission<G extends ServedKinds = ServedKinds> {
  readonly source: OperationSource<G>;
  readonly callerOf: Authenticate;
  readonly #counters: OperationCounters | null;

  constructor(source: OperationSource<G>, authenticate: Authenticate, counters: OperationCounters | null) {
    this.source = source;
    this.callerOf = (credentials: Credentials) => authenticate(credentials);
    this.#counters = counters;
  }

  /** Milliseconds of a steady clock. */
  monotonic(): number {
    return this.source.monotonic();
  }

  /**
   * Begins an operation on the current generation; `run` ends it.
   * @throws PortolanError CACHE_NOT_READY, or FORBIDDEN where an explanation is not allowed. The caller of this method counts it.
   */
  begin(caller: Caller, signal: AbortSignal | undefined, explain: boolean): Operation<G> {
    return beginOperation(this.source, caller, signal, { explain });
  }

  /** Runs an operation that has begun, and ends it. */
  async run<T>(
    operation: Operation<G>,
    type: OperationType,
    name: string | null,
    codes: OutcomeCodes<T>,
    execute: () => T | Promise<T>,
  ): Promise<T> {
    const began = this.monotonic();
    const { trace, signal } = operation;
    let code = 'CANCELLED';
    const settle = (outcome: string): void => {
      if (signal?.aborted !== true) code = outcome;
    };
    try {
      const result = await execute();
      settle(codes.ofResult(result));
      return result;
    } catch (error) {
      settle(codes.ofThrown(error));
      throw error;
    } finally {
      operation.end();
      this.finish({ type, code, began, name, rows: trace.rows, plans: () => trace.plans() });
    }
  }

  /** Counts an operation that is over, and logs it where it was slow. */
  finish({ type, code, began, name, rows, plans }: Finished): void {
    const milliseconds = this.monotonic() - began;
    this.#counters?.count(type, code);
    this.#counters?.took(type, milliseconds / 1000);
    this.source.slowQueries.note({ milliseconds, rows, operation: name, plans });
  }

  /** Counts an operation that does not run, or a subscription by how it began. */
  refuse(type: OperationType, code: string): void {
    this.#counters?.count(type, code);
  }

  /** Counts a subscription that began well. */
  subscriptionBegan(): void {
    this.#counters?.count('subscription', 'OK');
  }

  /** Counts an open subscription in; the returned function counts it out, once. */
  subscribed(): () => void {
    return this.#counters?.subscribed() ?? (() => {});
  }
}
