/** Random questions about the objects of a focus: filters of every node and operator, orders, pages. */

import { searchPaths, searchTerms } from '../../src/catalog/paths/search-text.ts';
import type { LeafType } from '../../src/catalog/tree/field-tree.ts';
import { healthNames, identityNames, listFolds, pathOf } from '../../src/catalog/tree/path.ts';
import { checkComparedLeaves } from '../../src/catalog/values/compare-values.ts';
import { foldedType } from '../../src/catalog/values/fold-values.ts';
import { checkPattern } from '../../src/catalog/values/pattern.ts';
import { isSummable } from '../../src/catalog/values/tally.ts';
import { checkValue } from '../../src/catalog/values/values.ts';
import type { Leaf, Measured } from '../../src/query/plan/aggregate.ts';
import { comparison, conjunction, existence, negation } from '../../src/query/plan/comparison.ts';
import {
  type CompareOperator,
  type Filter,
  type Identity,
  isTextOperator,
  type LabelRequirement,
} from '../../src/query/plan/filter.ts';
import { encodeObjectId } from '../../src/query/plan/object-id.ts';
import type { OrderTerm } from '../../src/query/plan/plan.ts';
import { valuesOf } from '../kit/evaluate-aggregate.ts';
import { patterns } from '../kit/leaf-values.ts';
import type { Dice } from './dice.ts';
import { type Focus, listIn, placeIn } from './focus.ts';
import { comparableOf, hostileKeys } from './hostile-values.ts';
import { clusters, namespaces } from './random-objects.ts';

export interface Question {
  readonly filter: Filter;
  readonly orderBy: readonly OrderTerm[];
  /** Keys of the kinds that are asked. */
  readonly kinds: readonly string[];
  readonly limit: number;
  readonly backward: boolean;
  /** Are groups asked for too? */
  readonly grouped: boolean;
  readonly by: readonly Leaf[];
  readonly measured: readonly Measured[];
  readonly facet: { readonly leaf: Leaf; readonly first: number; readonly contains: string | null };
}

export interface Held extends Identity {
  readonly body: unknown;
}

export interface Asked {
  readonly key: string;
  readonly focus: Focus;
}

const textOperators = ['startsWith', 'endsWith', 'contains', 'matches'] as const;
const operators: readonly CompareOperator[] = ['eq', 'in', 'lt', 'lte', 'gt', 'gte'];
const withText: ReadonlySet<LeafType> = new Set(['String', 'IP', 'IntOrString', 'JSON']);
const labelValues = ['a', 'A', '', 'é', '5', 'true', '😀'];

export class QuestionMaker {
  readonly #dice: Dice;
  readonly #kinds: readonly Asked[];
  readonly #held: readonly Held[];

  constructor(dice: Dice, kinds: readonly Asked[], held: readonly Held[]) {
    this.#dice = dice;
    this.#kinds = kinds;
    this.#held = held;
  }

  question(): Question {
    const dice = this.#dice;
    const about = dice.pick(this.#kinds);
    const kinds = dice.chance(0.25) ? dice.sample(this.#kinds, 3).map(({ key }) => key) : [about.key];
    const filter = dice.chance(0.05) ? conjunction([]) : this.#filter(about.focus, dice.below(4), true);
    return {
      filter,
      orderBy: dice.times(dice.below(4), () => this.#term(about.focus)),
      kinds,
      limit: dice.pick([1, 2, 3, 7, 20, 100]),
      backward: dice.chance(0.5),
      grouped: dice.chance(0.5),
      by: this.#leaves(about.focus, 2),
      measured: this.#leaves(about.focus, 3).map((leaf) => ({
        ...leaf,
        sum: isSummable(leaf.type) && dice.chance(0.7),
        ends: dice.chance(0.5),
      })),
      facet: {
        leaf: this.#leaf(about.focus),
        first: dice.pick([1, 2, 50]),
        contains: dice.pick([null, null, '', 'A', 'e', '0', 'é', '1', '%', '"']),
      },
    };
  }

  /** `whole` says that paths are relative to an object, not to an element of a list. */
  #filter(focus: Focus, depth: number, whole: boolean): Filter {
    const dice = this.#dice;
    const several = (): Filter[] => dice.times(dice.below(4), () => this.#filter(focus, depth - 1, whole));
    return dice.choose<Filter>([
      [8, () => this.#comparison(focus, whole)],
      [whole ? 2 : 0, () => this.#fieldComparison(focus)],
      [whole ? 1 : 0, () => this.#identity()],
      [whole ? 1 : 0, () => ({ kind: 'kinds', in: dice.sample(this.#kinds, 2).map(({ key }) => key) })],
      [2, () => this.#existence(focus, whole)],
      [4, () => this.#quantified(focus, depth)],
      [depth > 0 ? 3 : 0, () => conjunction(several())],
      [depth > 0 ? 3 : 0, () => ({ kind: 'or', of: several() })],
      [depth > 0 ? 3 : 0, () => negation(this.#filter(focus, depth - 1, whole))],
      [whole ? 2 : 0, () => this.#labels()],
      [whole ? 1 : 0, () => ({ kind: 'namespaces', in: dice.sample([...namespaces, '', 'none'], dice.below(4)) })],
      [whole ? 1 : 0, () => ({ kind: 'clusters', in: dice.sample([...clusters, 'north', 'none'], dice.below(3)) })],
      [whole ? 1 : 0, () => this.#ids()],
      [whole ? 1 : 0, () => this.#search()],
    ]);
  }

  #comparison(focus: Focus, whole: boolean): Filter {
    const dice = this.#dice;
    const { path, type } = this.#leaf(focus, whole);
    const operator = withText.has(type) && dice.chance(0.4) ? dice.pick(textOperators) : dice.pick(operators);
    const ranged = operator === 'lt' || operator === 'lte' || operator === 'gt' || operator === 'gte';
    const count = operator === 'in' ? dice.pick([1, 2, 3, 24]) : 1;
    const known = whole ? this.#held.flatMap((object) => valuesOf(path, type, object)) : [];
    const values = dice.times(count, () => this.#value(operator, type, known));
    const filter = comparison(path, type, operator, values, !ranged && dice.chance(0.3));
    return dice.chance(0.25) ? negation(filter) : filter;
  }

  /** Half of them stand in some object, so that comparisons hit. */
  #value(operator: CompareOperator, type: LeafType, known: readonly unknown[]): unknown {
    const dice = this.#dice;
    const found = known.length > 0 && dice.chance(0.5) ? dice.pick(known) : undefined;
    if (isTextOperator(operator)) {
      const text = typeof found === 'string' ? found : String(comparableOf('String', dice));
      if (operator === 'matches') {
        const part = text.slice(0, dice.below(5)).replace(/[\\^$.|?*+()[\]{}]/g, '\\$&');
        return dice.chance(0.4) && checkPattern(part) === null ? part : dice.pick(patterns);
      }
      const from = dice.below(text.length + 1);
      return operator === 'startsWith'
        ? text.slice(0, from)
        : operator === 'endsWith'
          ? text.slice(from)
          : text.slice(from, from + 2);
    }
    return found !== undefined && checkValue(type, found) === null ? found : comparableOf(type, dice);
  }

  /** Two leaves of one object, half of the time of comparable types. */
  #fieldComparison(focus: Focus): Filter {
    const dice = this.#dice;
    const leaf = (): Leaf => {
      if (dice.chance(0.05))
        return { path: pathOf([{ kind: 'health', name: dice.pick(healthNames) }]), type: 'String' };
      const { steps, focus: end } = placeIn(focus, dice, { each: false, container: false });
      return { path: pathOf(steps), type: end.kind === 'leaf' ? end.type : 'JSON' };
    };
    const left = leaf();
    const others = [left, ...dice.times(6, leaf)];
    const factor = dice.pick([null, null, '0.8', '-1', '0', '1e3', '3']);
    const times = isSummable(left.type) ? factor : null;
    const right = others.findLast(({ type }) => checkComparedLeaves({ left: left.type, right: type, times }) === null);
    if (right === undefined) return this.#existence(focus);
    const operator = dice.pick(['eq', 'lt', 'lte', 'gt', 'gte'] as const);
    return { kind: 'compareFields', left, operator, right, times };
  }

  /** A comparison of the cluster or the object id. */
  #identity(): Filter {
    const dice = this.#dice;
    const name = dice.pick(identityNames);
    const found = dice.pick(this.#held);
    const value = name === 'id' ? encodeObjectId(found) : dice.pick([...clusters, 'north']);
    const operator = dice.pick(['eq', 'in', 'lt', 'gte', 'startsWith', 'contains'] as const);
    const values = [isTextOperator(operator) ? value.slice(0, dice.below(4)) : value];
    return comparison(pathOf([{ kind: 'identity', name }]), 'String', operator, values, false);
  }

  #existence(focus: Focus, whole = false): Filter {
    const dice = this.#dice;
    const health = whole && dice.chance(0.1) ? pathOf([{ kind: 'health', name: dice.pick(healthNames) }]) : null;
    const filter = existence(health ?? pathOf(placeIn(focus, dice, { each: true, container: true }).steps));
    return dice.chance(0.5) ? negation(filter) : filter;
  }

  /** some, none and every. */
  #quantified(focus: Focus, depth: number): Filter {
    const dice = this.#dice;
    const list = listIn(focus, dice);
    if (list === null) return this.#existence(focus);
    const path = pathOf(list.steps);
    const inner = list.focus.kind === 'list' ? list.focus.of : list.focus;
    const of = this.#filter(inner, depth - 1, false);
    return dice.choose<Filter>([
      [2, () => ({ kind: 'some', path, of })],
      [1, () => negation({ kind: 'some', path, of })],
      [1, () => negation({ kind: 'some', path, of: negation(of) })],
    ]);
  }

  #labels(): Filter {
    const dice = this.#dice;
    const requirement = (): LabelRequirement => {
      const operator = dice.pick(['In', 'NotIn', 'Exists', 'DoesNotExist'] as const);
      const listed = operator === 'In' || operator === 'NotIn';
      return {
        key: dice.pick(hostileKeys),
        operator,
        values: listed ? dice.sample(labelValues, dice.between(1, 3)) : [],
      };
    };
    return { kind: 'labels', requirements: dice.times(dice.between(1, 2), requirement) };
  }

  #ids(): Filter {
    const dice = this.#dice;
    const known = dice
      .sample(this.#held, dice.below(4))
      .map(({ cluster, key, namespace, name }) => ({ cluster, key, namespace, name }));
    const stray = { cluster: dice.pick(clusters), key: dice.pick(this.#kinds).key, namespace: null, name: 'a' };
    return { kind: 'ids', in: dice.chance(0.3) ? [...known, stray] : known };
  }

  #search(): Filter {
    const dice = this.#dice;
    const words = ['web', 'WEB-1', 'a', 'é', '😀', 'x\0y', 'o"d', 'app=', '%', '\ud800', 'default'];
    const found = dice.pick(this.#held);
    const terms = searchTerms(
      dice.chance(0.5) ? dice.sample(words, dice.between(1, 2)).join(' ') : found.name.slice(0, 4),
    );
    return terms.length === 0 ? conjunction([]) : { kind: 'search', terms, paths: searchPaths([]) };
  }

  /** `whole`: the focus is an object, which has an identity, and no element of a list. */
  #leaf(focus: Focus, whole = true): Leaf {
    if (whole && this.#dice.chance(0.05)) {
      return { path: pathOf([{ kind: 'health', name: this.#dice.pick(healthNames) }]), type: 'String' };
    }
    if (whole && this.#dice.chance(0.04)) {
      return { path: pathOf([{ kind: 'identity', name: this.#dice.pick(identityNames) }]), type: 'String' };
    }
    const { steps, focus: end } = placeIn(focus, this.#dice, { each: true, container: false });
    const type = end.kind === 'leaf' ? end.type : 'JSON';
    const isFolded = whole && steps.some(({ kind }) => kind === 'each') && this.#dice.chance(0.3);
    const fold = isFolded ? this.#dice.pick(listFolds) : undefined;
    const folded = fold === undefined ? null : foldedType(fold, type);
    return folded === null ? { path: pathOf(steps), type } : { path: pathOf(steps, fold), type: folded };
  }

  /** At most so many, no two of one path. */
  #leaves(focus: Focus, most: number): Leaf[] {
    const leaves = this.#dice.times(this.#dice.below(most + 1), () => this.#leaf(focus));
    return [...new Map(leaves.map((leaf) => [leaf.path.text, leaf])).values()];
  }

  #term(focus: Focus): OrderTerm {
    const dice = this.#dice;
    const direction = dice.pick(['ASC', 'DESC'] as const);
    const nulls = dice.pick(['FIRST', 'LAST'] as const);
    if (dice.chance(0.04)) {
      return {
        path: pathOf([
          { kind: 'field', name: 'metadata' },
          { kind: 'field', name: 'name' },
        ]),
        type: 'Int',
        direction,
        nulls,
        rank: searchTerms('web 1'),
      };
    }
    const { path, type } = this.#leaf(focus);
    return {
      path,
      type,
      direction,
      nulls,
      ...(type === 'String' && dice.chance(0.3) ? { natural: true } : {}),
    };
  }
}
