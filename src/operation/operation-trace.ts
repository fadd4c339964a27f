/**
 * How an operation was carried out: what was planned, and for those who asked for an explanation, every statement. Statements are
 * opaque here: they are made, explained and shown as they are.
 */
import { PortolanError } from '../base/errors.ts';
import { shapeOfFilter, shapeOfOrder } from '../query/plan/filter-shape.ts';
import { type ExplainedStatement, explaining } from '../query/read/explain.ts';
import { observePlans, type PlanNote } from '../query/route/plan-note.ts';
import type { Lease } from '../store/types/lease.ts';
import { type IndexAdvisor, missingPaths } from './index-advisor.ts';

/** The response keys down to a field; empty where a statement serves several. */
export type Place = readonly (string | number)[];

interface Planned {
  readonly place: Place;
  readonly note: PlanNote;
}

/** A plan without the values that it compares with. */
export interface PlanShape {
  readonly field: string;
  /** resourceKey */
  readonly kind: string;
  readonly filter: string;
  readonly orderBy: string;
  readonly route: string;
  /** Rows behind each condition that an index serves; counted up to a bound. */
  readonly ways: readonly { readonly on: string; readonly rows: number }[];
  /** Paths of the filter and the order that have no index. */
  readonly unindexed: readonly string[];
}

/** Plans of one operation that are kept; nobody reads more. */
const mostPlans = 100;

export class OperationTrace {
  readonly #indexAdvisor: IndexAdvisor;
  readonly #now: () => number;
  readonly #explains: boolean;
  readonly #planned: Planned[] = [];
  readonly #statements: (ExplainedStatement & { readonly field: string })[] = [];
  /** Rows that came from the store. */
  rows = 0;

  constructor(indexAdvisor: IndexAdvisor, now: () => number, explains: boolean) {
    this.#indexAdvisor = indexAdvisor;
    this.#now = now;
    this.#explains = explains;
  }

  /** Runs `work` in the lease as it is seen from one field. What is cut is told which index it lacked. */
  async follow<T>(lease: Lease, place: Place, work: (lease: Lease) => Promise<T>): Promise<T> {
    const plans: PlanNote[] = [];
    const seen = this.#explains ? { ...lease, ...this.#explaining(lease, place) } : { ...lease };
    observePlans(seen, (note) => {
      plans.push(note);
      if (this.#planned.length < mostPlans) this.#planned.push({ place, note });
      this.#indexAdvisor.planned(note);
    });
    try {
      return await work(seen);
    } catch (error) {
      if (!(error instanceof PortolanError && error.code === 'TIMEOUT')) throw error;
      for (const note of plans) this.#indexAdvisor.cut(note);
      throw withHint(error, plans, this.#indexAdvisor.granted);
    }
  }

  /** Each plan once, in the order in which they were made. */
  plans(): readonly PlanShape[] {
    const shapes = new Map<string, PlanShape>();
    for (const { place, note } of this.#planned) {
      const shape = planShape(textOf(place), note);
      shapes.set(JSON.stringify(shape), shape);
    }
    return [...shapes.values()];
  }

  /** What goes into the answer of an operation that asked for it; null otherwise. */
  explanation(): Readonly<Record<string, unknown>> | null {
    return this.#explains ? { plans: this.plans(), statements: this.#statements } : null;
  }

  #explaining(lease: Lease, place: Place): Pick<Lease, 'all' | 'fill'> {
    return explaining(lease, this.#now, (statement) => this.#statements.push({ field: textOf(place), ...statement }));
  }
}

/** What is told of a plan of the field at `field`. */
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

function textOf(place: Place): string {
  return place.join('.');
}

/** The same error, with what would have made the read faster. */
function withHint(error: PortolanError, plans: readonly PlanNote[], granted: boolean): PortolanError {
  const [missing] = plans.flatMap((note) => missingPaths(note).map((need) => ({ ...need, key: note.kind.key })));
  if (missing === undefined) return error;
  const { key, path, slot } = missing;
  const option = `--promote ${key}=${path}`;
  const hint =
    slot !== null
      ? `The index of ${path} is being filled: try again in a while.`
      : granted
        ? `${path} of ${key} has no index; queries that need one get it in the background, ${option} has it from the start.`
        : `${path} of ${key} has no index; ${option} gives it one.`;
  return new PortolanError('TIMEOUT', `${error.message} ${hint}`, {
    cause: error,
    details: { ...error.details, unindexed: { kind: key, path } },
  });
}
