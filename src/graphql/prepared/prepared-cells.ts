/**
 * The prepared answers of each cell. A query about clusters of one cell is answered in that cell. The executor merges the cells for others.
 */
import { must } from '../../base/must.ts';
import { clustersIn } from '../../query/plan/filter.ts';
import type { PageReader } from '../../store/types/page-reader.ts';
import type { GraphQLSource } from '../generation/generation.ts';
import type { AnswerPlan } from './answer-plan.ts';
import { PreparedAnswers } from './prepared-answers.ts';

/** A cell, and what answers in it. */
export interface PreparedCell {
  readonly source: GraphQLSource;
  readonly answers: PreparedAnswers;
}

export class PreparedCells {
  readonly #source: GraphQLSource;
  readonly #cells: readonly PreparedCell[];

  /** @param pages of each cell */
  constructor(source: GraphQLSource, pages: PageReader | readonly PageReader[]) {
    const readers = [pages].flat();
    this.#source = source;
    this.#cells = (source.cells ?? [source]).map((cell, index) => ({
      source: cell,
      answers: new PreparedAnswers(cell, must(readers[index], 'the pages of a cell')),
    }));
  }

  /** The cell that answers the query alone; null if several may. The only cell answers every query, also one without a plan. */
  of(plan: AnswerPlan | null): PreparedCell | null {
    if (this.#source.cells === undefined) return this.#cells[0] ?? null;
    // A cursor of changes has a place in each cell.
    if (plan === null || plan.showsRevision) return null;
    const cells = new Set<number | undefined>();
    for (const { list } of plan.lists) {
      const clusters = clustersIn(list.plan.filter);
      if (clusters === null) return null;
      for (const cluster of clusters) cells.add(this.#source.cellOf?.(cluster));
    }
    const [only] = cells;
    return cells.size !== 1 || only === undefined ? null : (this.#cells[only] ?? null);
  }
}
