/**
 * Compares two values of one object, by value. The SQL function compare_values and the JavaScript evaluator both use it.
 *
 *   status.readyReplicas lt spec.replicas            an absent number counts as 0, unless both are absent
 *   status.used["pods"] gte 0.8 x status.hard["pods"]
 */
import type { LeafType } from '../tree/field-tree.ts';
import { addDecimals, type Decimal, parseDecimal, zero } from './decimal.ts';
import { isSummable, numberOfKey } from './tally.ts';
import { compareKeys, orderKey } from './values.ts';

export type ValueOperator = 'eq' | 'lt' | 'lte' | 'gt' | 'gte';

/** Two leaves that can be compared with each other, and the factor of the right one. */
interface ComparedLeaves {
  readonly left: LeafType;
  readonly right: LeafType;
  /** A decimal number as text; null for 1. Only for numbers, quantities and durations. */
  readonly times: string | null;
}

const numbers: ReadonlySet<LeafType> = new Set(['Int', 'Int64', 'Float', 'Quantity', 'Number']);

/** Why leaves of these types cannot be compared; null if they can. */
export function checkComparedLeaves({ left, right, times }: ComparedLeaves): string | null {
  const comparable = (left === right && left !== 'JSON') || (numbers.has(left) && numbers.has(right));
  if (!comparable) return `${left} and ${right} cannot be compared`;
  if (times !== null && !isSummable(left)) return `times needs numbers, quantities or durations, and these are ${left}`;
  return null;
}

/**
 * True if `left operator times x right`. Undefined and null are absent values. If one side is absent and the leaves are summable, it
 * counts as 0, because API servers leave out zeros. Otherwise an absent value, or one that does not fit its leaf, makes it false.
 */
export function compareValues(operator: ValueOperator, leaves: ComparedLeaves, left: unknown, right: unknown): boolean {
  const [hasLeft, hasRight] = [left ?? null, right ?? null].map((value) => value !== null);
  if (!hasLeft && !hasRight) return false;
  if (!isSummable(leaves.left)) {
    const [a, b] = [orderKey(leaves.left, left), orderKey(leaves.right, right)];
    return a !== null && b !== null && holds(operator, compareKeys(a, b));
  }
  const a = hasLeft ? numberOf(leaves.left, left) : zero;
  const b = hasRight ? numberOf(leaves.right, right) : zero;
  if (a === null || b === null) return false;
  const { coefficient, exponent } = b;
  const factor = leaves.times === null ? one : (parseDecimal(leaves.times) ?? one);
  const difference = addDecimals(a, {
    coefficient: -coefficient * factor.coefficient,
    exponent: exponent + factor.exponent,
  }).coefficient;
  return holds(operator, difference < 0n ? -1 : difference > 0n ? 1 : 0);
}

const one: Decimal = { coefficient: 1n, exponent: 0 };

function numberOf(type: LeafType, value: unknown): Decimal | null {
  const key = orderKey(type, value);
  return key === null ? null : numberOfKey(type, key);
}

/** Does the order of two values satisfy the operator? @param order of the left value to the right one. */
export function holds(operator: ValueOperator, order: -1 | 0 | 1): boolean {
  switch (operator) {
    case 'eq':
      return order === 0;
    case 'lt':
      return order < 0;
    case 'lte':
      return order <= 0;
    case 'gt':
      return order > 0;
    case 'gte':
      return order >= 0;
  }
}
