/**
 * The trace of an operation: its plans, and every statement if the caller requested an explanation. Statements are opaque to this
 * file.
 *
 *   follow(lease, path, work) -> work plans a list -> the plan is recorded, and the index advisor is notified
 *                              -> work times out    -> the error gets a hint about the missing index
 *                              -> statements        -> a span each, within that of the lease
 */
import { codeOf, PortolanError } from '../../base/errors.ts';
import { noSpan, type Span, type SpanAttributes } from '../../base/tracing.ts';
import { shapeOfFilter, shapeOfOrder } from '../../query/plan/filter-shape.ts';
import { type ExplainedStatement, explaining } from '../../query/read/explain.ts';
import { observePlans, type PlanNote } from '../../query/route/plan-note.ts';
import type { Lease } from '../../store/types/lease.ts';
import type { Row } from '../../store/types/statement.ts';
import { type IndexAdvisor, missingPaths } from './index-advisor.ts';

/** The response path of a field: response keys and list indexes. Empty for a statement that serves several fields. */
export type ResponsePath = readonly (string | number)[];

interface Planned {
  readonly path: ResponsePath;
  readonly note: PlanNote;
}

/** A plan without the values of its filter. */
export interface PlanShape {
  readonly field: string;
  /** resourceKey */
  readonly kind: string;
  readonly filter: string;
  readonly orderBy: string;
  readonly route: string;
  /** The access paths, each with its number of rows, counted up to a bound (surveyBound). */
  readonly ways: readonly { readonly on: string; readonly rows: number }[];
  /** Paths of the filter and the order that have no index. */
  readonly unindexed: readonly string[];
}

/** The most plans to keep of one operation, and the most statements with spans. */
const mostPlans = 100;
const mostSpans = 100;

export class OperationTrace {
  readonly #indexAdvisor: IndexAdvisor;
  readonly #now: () => number;
  /** The answer has an explanation. */
  readonly explains: boolean;
  readonly #planned: Planned[] = [];
  readonly #statements: (ExplainedStatement & { readonly field: string })[] = [];
  #spans = 0;
  /** Rows read from the store. */
  rows = 0;

  constructor(indexAdvisor: IndexAdvisor, now: () => number, explains: boolean) {
    this.#indexAdvisor = indexAdvisor;
    this.#now = now;
    this.explains = explains;
  }

  /**
   * Runs `work` for the field at `path`, with a lease that records plans and, for an explanation, statements.
   * @param span that of the lease
   * @throws PortolanError TIMEOUT with a hint about the missing index, and whatever else `work` throws.
   */
  async follow<T>(
    lease: Lease,
    path: ResponsePath,
    work: (lease: Lease) => Promise<T>,
    span: Span = noSpan,
  ): Promise<T> {
    const plans: PlanNote[] = [];
    const explained = this.explains ? { ...lease, ...this.#explaining(lease, path) } : { ...lease };
    const traced = span.isRecorded
      ? { ...explained, ...this.#inSpans(explained, () => this.#statementSpan(span, path, plans.at(-1) ?? null)) }
      : explained;
    observePlans(traced, (note) => {
      plans.push(note);
      if (this.#planned.length < mostPlans) this.#planned.push({ path, note });
      this.#indexAdvisor.planned(note);
    });
    try {
      return await work(traced);
    } catch (error) {
      if (!(error instanceof PortolanError && error.code === 'TIMEOUT')) throw error;
      for (const note of plans) this.#indexAdvisor.cut(note);
      throw withHint(error, plans, this.#indexAdvisor.promotesOnDemand);
    }
  }

  /** The distinct plans, in the order of planning. */
  plans(): readonly PlanShape[] {
    const shapes = new Map<string, PlanShape>();
    for (const { path, note } of this.#planned) {
      const shape = planShape(textOf(path), note);
      shapes.set(JSON.stringify(shape), shape);
    }
    return [...shapes.values()];
  }

  /** The explanation for the answer; null if the caller requested none. */
  explanation(): Readonly<Record<string, unknown>> | null {
    return this.explains ? { plans: this.plans(), statements: this.#statements } : null;
  }

  #statementSpan(span: Span, path: ResponsePath, note: PlanNote | null): Span {
    this.#spans += 1;
    return this.#spans > mostSpans ? noSpan : statementSpan(span, textOf(path), note);
  }

  #inSpans(lease: Lease, begin: () => Span): Pick<Lease, 'all' | 'fill'> {
    const run = async (read: () => Promise<readonly Row[]>): Promise<readonly Row[]> => {
      const span = begin();
      try {
        const rows = await read();
        span.set({ 'db.response.returned_rows': rows.length });
        return rows;
      } catch (error) {
        span.fail(codeOf(error));
        throw error;
      } finally {
        span.end();
      }
    };
    return {
      all: (statement) => run(() => lease.all(statement)),
      fill: (statements, limit) => run(() => lease.fill(statements, limit)),
    };
  }

  #explaining(lease: Lease, path: ResponsePath): Pick<Lease, 'all' | 'fill'> {
    return explaining(lease, this.#now, (statement) => this.#statements.push({ field: textOf(path), ...statement }));
  }
}

/** The shape of a plan of the field at `field`. */
export function planShape(field: string, note: PlanNote): PlanShape {
  const { kind, filter, orderBy, route, surveyedPaths } = note;
  return {
    field,
    kind: kind.key,
    filter: shapeOfFilter(filter),
    orderBy: shapeOfOrder(orderBy),
    route,
    ways: surveyedPaths,
    unindexed: missingPaths(note).map(({ path }) => path),
  };
}

/** The span of a statement for the field at `field`. @param note its plan; null if it serves the planning of others. */
export function statementSpan(lease: Span, field: string, note: PlanNote | null): Span {
  const attributes: SpanAttributes = {
    'db.system.name': 'sqlite',
    'db.operation.name': 'SELECT',
    ...(field === '' ? {} : { 'portolan.field': field }),
  };
  if (note === null) return lease.child('SELECT', attributes);
  const { kind, filter, orderBy, route, unindexed } = planShape(field, note);
  return lease.child(`SELECT ${kind}`, {
    ...attributes,
    'portolan.kind': kind,
    'portolan.plan.filter': filter,
    'portolan.plan.order_by': orderBy,
    'portolan.plan.route': route,
    ...(unindexed.length === 0 ? {} : { 'portolan.plan.unindexed': unindexed }),
  });
}

function textOf(path: ResponsePath): string {
  return path.join('.');
}

/** The error with a hint about the index that would make the read faster. */
function withHint(error: PortolanError, plans: readonly PlanNote[], promotesOnDemand: boolean): PortolanError {
  const [missing] = plans.flatMap((note) => missingPaths(note).map((need) => ({ ...need, key: note.kind.key })));
  if (missing === undefined) return error;
  const { key, path, slot } = missing;
  const option = `--promote ${key}=${path}`;
  const hint =
    slot !== null
      ? `The index of ${path} is being filled: try again in a while.`
      : promotesOnDemand
        ? `${path} of ${key} has no index; queries that need one get it in the background, ${option} has it from the start.`
        : `${path} of ${key} has no index; ${option} gives it one.`;
  return new PortolanError('TIMEOUT', `${error.message} ${hint}`, {
    cause: error,
    details: { ...error.details, unindexed: { kind: key, path } },
  });
}

/** The lease as a plain object with own methods, because the trace spreads it. */
export function spreadable(lease: Lease): Lease {
  const { revision, epoch, layoutVersion } = lease;
  return {
    revision,
    epoch,
    layoutVersion,
    all: (statement) => lease.all(statement),
    fill: (statements, limit) => lease.fill(statements, limit),
  };
}
