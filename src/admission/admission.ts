/**
 * Admission: every operation passes through it. Operations come over HTTP, WebSocket and event streams, as prepared answers, and at
 * every door.
 *
 *   credentials, address              -> admit          authenticates the caller; an AdmittedRequest counts what it has in flight,
 *                                                       charges its cost, and tells the audit (admitted-request.ts)
 *   admitted request                  -> begin          takes the current generation (or CACHE_NOT_READY), checks `explain`
 *   operation                         -> run(execute)   executes, ends the lease, counts, logs a slow query; executes a query again if a
 *                                                       kind was in its first sync (sync-watch.ts), or if the API server has allowed
 *                                                       the caller more than was known
 *   prepared answer (no Operation)    -> finish         counts and logs in the same way
 *   operation that cannot run         -> refuse         counts its error code
 *   every operation of a caller       -> turns          begins in a turn of the event loop that is not long yet (loop-queue.ts)
 *
 * Invariants: a mutation is executed once at the most. Each operation is counted exactly once, by `refuse` or `finish` (`run` calls
 * `finish`). They describe its span too, so the span is the same at every entry point.
 */
import type { Authenticate } from '../access/caller.ts';
import { PortolanError } from '../base/errors.ts';
import { LoopQueue } from '../base/loop-queue.ts';
import { noSpan, type Span, within } from '../base/tracing.ts';
import { beginOperation, type Operation } from '../operation/operation.ts';
import type { OperationSource } from '../operation/operation-source.ts';
import type { PlanShape } from '../operation/parts/operation-trace.ts';
import { mostRepeats } from '../operation/require-visible.ts';
import type { ServedKinds } from '../operation/served-kinds.ts';
import type { Awaited } from '../query/plan/not-ready.ts';
import { AdmittedRequest, type Arrival, auditDenial } from './admitted-request.ts';
import { type AuditLog, noAudit } from './audit.ts';
import { type CallerBounds, CallerLimits, defaultBounds } from './caller-limits.ts';

/** `unknown` for a document that cannot be parsed or has no operation to run. */
export type OperationType = 'query' | 'mutation' | 'subscription' | 'unknown';

/** The arguments with which an operation begins. */
interface Request {
  readonly admitted: AdmittedRequest;
  readonly signal: AbortSignal | undefined;
  readonly explain: boolean;
  /** Came it by a safe method of HTTP? Nothing is written then. */
  readonly isSafe?: boolean;
}

/** Metrics of operations. */
interface OperationCounters {
  count(type: OperationType, code: string): void;
  /** Records the duration of an execution. */
  took(type: OperationType, seconds: number): void;
  /** Adds one to the open subscriptions. The returned function subtracts it, once. */
  subscribed(): () => void;
}

/** Maps the outcome of an execution to an error code. The mapping depends on the protocol. */
export interface OutcomeCodes<T> {
  /** The code of a result's first error; OK without errors. */
  ofResult(result: T): string;
  ofThrown(error: unknown): string;
  /** The kinds in their first sync that the result failed for; empty if there are none. */
  awaited(result: T): readonly Awaited[];
}

/** An operation that has ended. */
interface Finished {
  readonly type: OperationType;
  readonly code: string;
  /** Start time by `Admission.monotonic`, in milliseconds. */
  readonly began: number;
  /** The operation's name in its document. */
  readonly name: string | null;
  /** The document without values, for the log. */
  readonly document: () => string;
  /** Rows read from the store. */
  readonly rows: number;
  readonly plans: () => readonly PlanShape[];
  readonly span: Span;
}

export class Admission<G extends ServedKinds = ServedKinds> {
  readonly source: OperationSource<G>;
  readonly audit: AuditLog;
  /** In which each entry point begins its operations, by the caller's name. */
  readonly turns = new LoopQueue();
  readonly #authenticate: Authenticate;
  readonly #limits: CallerLimits;
  readonly #counters: OperationCounters | null;

  constructor(
    source: OperationSource<G>,
    authenticate: Authenticate,
    counters: OperationCounters | null,
    bounds: CallerBounds = defaultBounds,
    audit: AuditLog = noAudit,
  ) {
    this.audit = audit;
    this.source = source;
    this.#limits = new CallerLimits(bounds, () => source.monotonic());
    this.#authenticate = authenticate;
    this.#counters = counters;
  }

  /** Milliseconds of a monotonic clock. */
  monotonic(): number {
    return this.source.monotonic();
  }

  /**
   * Authenticates the caller; at once if that is possible. The audit gets a denial.
   * @throws PortolanError UNAUTHENTICATED, FORBIDDEN, TOO_MANY_REQUESTS or UPSTREAM_UNAVAILABLE
   */
  admit(arrival: Arrival): AdmittedRequest | Promise<AdmittedRequest> {
    const parts = { limits: this.#limits, audit: this.audit, authenticate: this.#authenticate };
    const refused = (error: unknown): never => {
      if (error instanceof PortolanError) auditDenial(this.audit, error, null, arrival);
      throw error;
    };
    try {
      const found = this.#authenticate(arrival.credentials, arrival.span);
      if (found instanceof Promise) return found.then((caller) => new AdmittedRequest(caller, arrival, parts), refused);
      return new AdmittedRequest(found, arrival, parts);
    } catch (error) {
      return refused(error);
    }
  }

  /**
   * Begins an operation on the current generation. `run` ends it.
   * @throws PortolanError CACHE_NOT_READY, or FORBIDDEN for an explanation that is not allowed. The caller of this method must
   * count the error by `refuse`.
   */
  begin({ admitted: { caller, credentials, span }, signal, explain, isSafe = false }: Request): Operation<G> {
    return beginOperation(this.source, caller, signal, { explain, credentials, span, isSafe });
  }

  /**
   * Runs an operation, ends it and counts it. An aborted operation counts as CANCELLED.
   * @param execute is called again with a new operation for a query whose kind was in its first sync, or whose caller may see more than
   *   was known.
   */
  async run<T>(
    operation: Operation<G>,
    { type, name, document }: Pick<Finished, 'type' | 'name' | 'document'>,
    codes: OutcomeCodes<T>,
    execute: (operation: Operation<G>) => T | Promise<T>,
  ): Promise<T> {
    const began = this.monotonic();
    const { signal, span } = operation;
    const executed = (next: Operation<G>): T | Promise<T> => within(span, () => execute(next));
    let current = operation;
    let code = 'CANCELLED';
    // Waiting for a first sync does not make an operation slow.
    let waited = 0;
    const settle = (outcome: string): void => {
      if (signal?.aborted !== true) code = outcome;
    };
    try {
      let result = await executed(current);
      // A mutation may have written already.
      const isRepeatable = type === 'query';
      const { syncWatch, limits } = this.source;
      let deadline: AbortSignal | null = null;
      for (let awaited = codes.awaited(result); awaited.length > 0; awaited = codes.awaited(result)) {
        if (!isRepeatable || limits.waitForSyncMs === 0) break;
        current.end();
        deadline ??= AbortSignal.timeout(limits.waitForSyncMs);
        const either = signal === undefined ? deadline : AbortSignal.any([signal, deadline]);
        const waitingSince = this.monotonic();
        const settled = await syncWatch.until(awaited, either);
        waited += this.monotonic() - waitingSince;
        if (!settled || signal?.aborted === true) break;
        current = current.again();
        result = await executed(current);
      }
      for (let round = 0; isRepeatable && round < mostRepeats; round += 1) {
        if (signal?.aborted === true || (await current.pendingRights()) !== true) break;
        current.end();
        current = current.again();
        result = await executed(current);
      }
      settle(codes.ofResult(result));
      return result;
    } catch (error) {
      settle(codes.ofThrown(error));
      throw error;
    } finally {
      current.end();
      const { trace } = current;
      const plans = (): readonly PlanShape[] => trace.plans();
      this.finish({ type, code, began: began + waited, name, document, rows: trace.rows, plans, span });
    }
  }

  /** Counts an operation that has ended, and logs it if it was slow. */
  finish({ type, code, began, name, document, rows, plans, span }: Finished): void {
    const milliseconds = this.monotonic() - began;
    this.#counters?.count(type, code);
    this.#counters?.took(type, milliseconds / 1000);
    const { traceId } = span;
    this.source.slowQueries.note({ milliseconds, rows, operation: name, document, plans, traceId });
    describe(span, type, name, code);
  }

  /** Counts an operation that does not run, or a subscription that fails to start. */
  refuse(type: OperationType, code: string, span: Span = noSpan): void {
    this.#counters?.count(type, code);
    describe(span, type, null, code);
  }

  /** Counts a subscription that started. */
  subscriptionBegan(name: string | null, span: Span): void {
    this.#counters?.count('subscription', 'OK');
    describe(span, 'subscription', name, 'OK');
  }

  /** Adds one to the open subscriptions. The returned function subtracts it, once. */
  subscribed(): () => void {
    return this.#counters?.subscribed() ?? (() => {});
  }
}

/** By the semantic conventions for GraphQL: the name of an operation is no part of the span's name, because clients choose it. */
function describe(span: Span, type: OperationType, name: string | null, code: string): void {
  if (!span.isRecorded) return;
  if (type !== 'unknown') {
    span.rename(type);
    span.set({ 'graphql.operation.type': type, ...(name === null ? {} : { 'graphql.operation.name': name }) });
  }
  if (code !== 'OK') span.fail(code);
}
