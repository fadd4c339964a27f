/**
 * Reads the label selector in an object's body.
 *
 *   { matchLabels: { app: web }, matchExpressions: [{ key: tier, operator: In, values: [front] }, { key: old, operator: DoesNotExist }] }
 *   -> pairs [["app", "web"], ["tier", "front"]], rest [old DoesNotExist]
 */

import { valueAt } from '../paths/value-at.ts';
import type { SelectorPlace } from '../relations/relation.ts';
import { recordOf } from '../values/displayed-value.ts';
import { type LabelRequirement, meetsRequirement } from '../values/label-requirement.ts';

/** The requirements of a selector. An object is selected if it has all pairs among its labels and meets the rest. */
export interface LabelSelector {
  /** Keys and values; each key may occur more than once. */
  readonly pairs: readonly (readonly [key: string, value: string])[];
  readonly rest: readonly LabelRequirement[];
}

type Labels = Readonly<Record<string, unknown>>;

/** Null if the selector selects nothing: it is absent, invalid, or empty at a place where an empty one selects nothing. */
export function readSelector({ path, form, empty }: SelectorPlace, body: unknown): LabelSelector | null {
  const value = recordOf(valueAt(body, path));
  if (value === null) return null;
  const found = form === 'map' ? fromLabels(value) : fromLabelSelector(value);
  if (found === null) return null;
  return found.pairs.length + found.rest.length === 0 && empty === 'none' ? null : found;
}

/** Whether an object with these labels has all pairs and meets the rest. */
export function selects({ pairs, rest }: LabelSelector, labels: Labels): boolean {
  return (
    pairs.every(([key, value]) => labelIn(labels, key) === value) &&
    rest.every((requirement) => meetsRequirement(requirement, labelIn(labels, requirement.key)))
  );
}

function labelIn(labels: Labels, key: string): string | null {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  return typeof value === 'string' ? value : null;
}

function fromLabels(labels: Labels): LabelSelector | null {
  const pairs = Object.entries(labels).map(([key, value]) =>
    typeof value === 'string' ? ([key, value] as const) : null,
  );
  return pairs.every((pair) => pair !== null) ? { pairs, rest: [] } : null;
}

function fromLabelSelector({ matchLabels, matchExpressions }: Labels): LabelSelector | null {
  const labels = fromLabels(recordOf(matchLabels) ?? {});
  if (labels === null) return null;
  const pairs = [...labels.pairs];
  const rest: LabelRequirement[] = [];
  for (const expression of Array.isArray(matchExpressions) ? matchExpressions : []) {
    const requirement = requirementOf(expression);
    if (requirement === null) return null;
    const [only, ...more] = requirement.values;
    if (requirement.operator === 'In' && only !== undefined && more.length === 0) pairs.push([requirement.key, only]);
    else rest.push(requirement);
  }
  return { pairs, rest };
}

const operators: readonly string[] = ['In', 'NotIn', 'Exists', 'DoesNotExist'];

function requirementOf(expression: unknown): LabelRequirement | null {
  const { key, operator, values = [] } = recordOf(expression) ?? {};
  if (typeof key !== 'string' || typeof operator !== 'string' || !operators.includes(operator)) return null;
  if (!Array.isArray(values) || !values.every((value) => typeof value === 'string')) return null;
  return { key, operator: operator as LabelRequirement['operator'], values };
}
