/**
 * Conditions on one leaf: its filter operators become a query filter. Negative operators become a negation of their positive form.
 *
 *   replicas: { gte: 1, ne: 3 }     and(comparison gte 1, not(comparison eq 3))
 *   finishedAt: { gt: "-10m" }      comparison gt, with the time ten minutes before now
 */

import { comparedType } from '../../catalog/paths/resolve-path.ts';
import type { ValueCast } from '../../catalog/tree/cast.ts';
import type { LeafType } from '../../catalog/tree/field-tree.ts';
import type { Path } from '../../catalog/tree/path.ts';
import { checkPattern } from '../../catalog/values/pattern.ts';
import { absoluteTime, isRelativeTime } from '../../catalog/values/relative-time.ts';
import { checkValue, orderKey } from '../../catalog/values/values.ts';
import { comparison, conjunction, existence, negation } from '../../query/plan/comparison.ts';
import { type CompareOperator, type Filter, isRangeOperator, isTextOperator } from '../../query/plan/filter.ts';
import { entriesOf, listOf, refuse, truth } from './filter-values.ts';

/** The time to which relative times refer. */
export interface FilterClock {
  /** Milliseconds since the epoch. */
  now(): number;
}

/** Ranges of these types go by text, in which a relative time means nothing. */
const isTextType: ReadonlySet<LeafType> = new Set(['String', 'IntOrString', 'IP', 'ResourceVersion', 'JSON']);

/**
 * The filter of the operators in `value` on the leaf at `path`. When the path goes through a list, one matching element is enough.
 * @param given the leaf's type in its tree, or that of `cast`
 * @throws PortolanError BAD_USER_INPUT with the place, for a value that is null, empty, or not of the leaf's type.
 */
export function leafConditions(
  given: LeafType,
  value: unknown,
  place: string,
  path: Path,
  clock: FilterClock,
  cast?: ValueCast,
): Filter {
  const type = comparedType(given, path);
  const { ignoreCase, ...operators } = Object.fromEntries(entriesOf(value, place));
  const fold = ignoreCase === true;
  return conjunction(
    entriesOf(operators, place).map(([operator, operand]): Filter => {
      const here = `${place}.${operator}`;
      if (operator === 'exists') return truth(operand, here) ? existence(path, type) : negation(existence(path, type));
      if (fold && isRangeOperator(operator)) refuse(here, 'cannot be combined with ignoreCase');
      if (operand === null || operand === undefined) {
        return refuse(here, 'is null; use exists, leave it out, or pass the whole filter as one variable');
      }
      const positive = (operator === 'ne' ? 'eq' : operator === 'notIn' ? 'in' : operator) as CompareOperator;
      const written = positive === 'in' ? listOf(operand, here) : [operand];
      const isRelative = (type === 'DateTime' || type === 'Time') && written.some(isRelativeText);
      const values = isRelative ? written.map((item) => absolute(item, here, clock)) : written;
      for (const item of values) {
        if (isRangeOperator(operator) && isTextType.has(type) && isRelativeText(item)) {
          refuse(
            here,
            `compares texts, and ${JSON.stringify(item)} is a time relative to now; compare times by path: [{ path, as: TIME, ${operator}: ${JSON.stringify(item)} }]`,
          );
        }
        const problem = isTextOperator(positive) ? checkText(positive, item) : checkValue(type, item);
        if (problem !== null) refuse(here, problem);
      }
      const compare = comparison(path, type, positive, values, fold, {
        ...(isRelative ? { relative: written } : {}),
        ...(cast === undefined ? {} : { cast }),
      });
      return positive === operator ? compare : negation(compare);
    }),
  );
}

/**
 * A time that is absolute or relative to now, in milliseconds since the epoch.
 * @param place the argument, for the error
 * @throws PortolanError BAD_USER_INPUT for another text
 */
export function readTime(given: string, place: string, clock: FilterClock): number {
  const value = absolute(given, place, clock);
  const problem = checkValue('DateTime', value);
  if (problem !== null) refuse(place, problem);
  return Number(orderKey('DateTime', value)) / 1000;
}

function isRelativeText(value: unknown): value is string {
  return typeof value === 'string' && isRelativeTime(value);
}

/** A relative time as an absolute one; other values as they are. */
function absolute(value: unknown, place: string, clock: FilterClock): unknown {
  if (!isRelativeText(value)) return value;
  return absoluteTime(value, clock.now()) ?? refuse(place, `is ${value}, which is before year 1 or after year 9999`);
}

function checkText(operator: CompareOperator, value: unknown): string | null {
  if (typeof value !== 'string') return `${JSON.stringify(value)} is not a string`;
  return operator === 'matches' ? checkPattern(value) : null;
}
