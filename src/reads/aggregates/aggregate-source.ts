/**
 * A lazy aggregate. The first field that is resolved reads the measures of all selected fields, with one statement for each kind.
 * When that statement is over budget (one field needs the objects' bodies, for instance), each field is read alone.
 */
import { type Decimal, decimalText } from '../../catalog/values/decimal.ts';
import { valueOfKey } from '../../catalog/values/key-value.ts';
import type { Tally } from '../../catalog/values/tally.ts';
import type { GroupResult, Measured } from '../../query/plan/aggregate.ts';
import { average } from '../../query/plan/aggregate.ts';
import { textOfLeaf } from '../../query/plan/hop.ts';
import { OverBudget } from '../../query/plan/scan-budget.ts';
import { type Measure, type MeasuredPath, measuredAt } from './aggregate-paths.ts';
import type { Aggregated } from './aggregated.ts';

export interface NumSource {
  readonly number: number | null;
  readonly text: string;
}

export class AggregateSource {
  readonly aggregated: Aggregated;
  readonly #measured: readonly Measured[];
  #group: Promise<GroupResult | OverBudget> | null;

  /** @param group the numbers of a group that has been read already; null for an aggregate that has not been read. */
  constructor(aggregated: Aggregated, measured: readonly Measured[], group: GroupResult | null) {
    this.aggregated = aggregated;
    this.#measured = measured;
    this.#group = group === null ? null : Promise.resolve(group);
  }

  async count(): Promise<number | OverBudget> {
    const group = await this.#read();
    if (!(group instanceof OverBudget)) return group.count;
    const alone = await this.#readOnly([]);
    return alone instanceof OverBudget ? alone : alone.count;
  }

  /**
   * Null when no object has a value at the path.
   * @throws PortolanError BAD_USER_INPUT for a path whose values do not support this measure.
   */
  async value(measure: Measure, path: MeasuredPath): Promise<unknown> {
    const wanted = measuredAt(this.aggregated, measure, path);
    const tally = await this.#tally(wanted);
    if (tally instanceof OverBudget) return tally;
    if (tally.count === 0) return null;
    switch (measure) {
      case 'sum':
        return numOf(tally.sum);
      case 'avg':
        return numOf(average(tally));
      case 'min':
        return valueOfKey(wanted.type, tally.least);
      case 'max':
        return valueOfKey(wanted.type, tally.greatest);
    }
  }

  async #tally(wanted: Measured): Promise<Tally | OverBudget> {
    const group = await this.#read();
    if (!(group instanceof OverBudget)) {
      const tally = group.tallies[this.#measured.findIndex((each) => textOfLeaf(each) === textOfLeaf(wanted))];
      if (tally !== undefined) return tally;
    }
    const alone = await this.#readOnly([wanted]);
    if (alone instanceof OverBudget) return alone;
    const [tally] = alone.tallies;
    if (tally === undefined) throw new Error('invariant broken: a measured path has a tally');
    return tally;
  }

  #read(): Promise<GroupResult | OverBudget> {
    this.#group ??= this.#readOnly(this.#measured);
    return this.#group;
  }

  async #readOnly(measured: readonly Measured[]): Promise<GroupResult | OverBudget> {
    const groups = await this.aggregated.groups({ by: [], measured });
    if (groups instanceof OverBudget) return groups;
    const [whole] = groups;
    if (whole === undefined) throw new Error('invariant broken: without `by` there is one group');
    return whole;
  }
}

function numOf(decimal: Decimal): NumSource {
  const text = decimalText(decimal);
  const number = Number(text);
  return { number: Number.isFinite(number) ? number : null, text };
}
