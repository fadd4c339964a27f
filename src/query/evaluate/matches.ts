/**
 * The filter evaluator in JavaScript: does an object match a filter? It decides for live changes. Tests compare the SQL of
 * sql-filter.ts with it, so it is short and simple.
 */

import type { HealthRules } from '../../catalog/health/declared-health.ts';
import { healthOf } from '../../catalog/health/health.ts';
import { searchText } from '../../catalog/paths/search-text.ts';
import { leafValueAt, valueAt } from '../../catalog/paths/value-at.ts';
import type { LeafType } from '../../catalog/tree/field-tree.ts';
import { identityIn, type Path, pathOf } from '../../catalog/tree/path.ts';
import { compareValues } from '../../catalog/values/compare-values.ts';
import { meetsRequirement } from '../../catalog/values/label-requirement.ts';
import { patternMatches } from '../../catalog/values/pattern.ts';
import { compareKeys, foldCase, hasTextKey, type OrderKey, orderKey, scalarText } from '../../catalog/values/values.ts';
import {
  type CompareOperator,
  type Filter,
  type Identity,
  isRangeOperator,
  type LabelRequirement,
  type LeafPath,
} from '../plan/filter.ts';
import type { Hop } from '../plan/hop.ts';
import { encodeObjectId } from '../plan/object-id.ts';

export interface MatchedObjectLike extends Identity {
  readonly body: unknown;
  /** The declared rules of its health; absent: none. */
  readonly health?: HealthRules | undefined;
}

/** The objects that a hop leads to from an object. */
export type RelatedTo = (hop: Hop, object: MatchedObjectLike) => readonly MatchedObjectLike[];

/**
 * Does the object match? `body` is a result of parseExact.
 * @param relatedTo finds related objects. A filter with conditions through relations needs it.
 */
export function matches(filter: Filter, object: MatchedObjectLike, relatedTo: RelatedTo = noRelations): boolean {
  return holds(filter, object, object.body, relatedTo);
}

function noRelations({ name }: Hop): never {
  throw new Error(`invariant broken: one object alone does not tell what ${name} leads to`);
}

/** Paths are relative to `value`: the body, or a list element inside a `some`. */
function holds(filter: Filter, object: MatchedObjectLike, value: unknown, relatedTo: RelatedTo): boolean {
  switch (filter.kind) {
    case 'and':
      return filter.of.every((part) => holds(part, object, value, relatedTo));
    case 'or':
      return filter.of.some((part) => holds(part, object, value, relatedTo));
    case 'not':
      return !holds(filter.of, object, value, relatedTo);
    case 'compare':
      return compares(filter, leafOf(filter, object, value));
    case 'compareFields': {
      const { left, right, operator, times } = filter;
      const leaves = { left: left.type, right: right.type, times };
      return compareValues(operator, leaves, leafOf(left, object, value), leafOf(right, object, value));
    }
    case 'exists': {
      const found = leafOf({ ...filter, type: filter.type ?? 'JSON' }, object, value);
      return found !== undefined && found !== null;
    }
    case 'some': {
      const list = valueAt(value, filter.path);
      return Array.isArray(list) && list.some((element: unknown) => holds(filter.of, object, element, relatedTo));
    }
    case 'related':
      return (
        filter.hop.from.key === object.key &&
        relatedTo(filter.hop, object).some((other) => matches(filter.of, other, relatedTo))
      );
    case 'used':
      throw new Error('invariant broken: one object alone does not tell what uses it');
    case 'relatedCount': {
      const { hop, operator, values } = filter;
      if (hop.from.key !== object.key) return false;
      const compared = { kind: 'compare', path: pathOf([]), type: 'Int', operator, values, ignoreCase: false } as const;
      return compares(compared, relatedTo(hop, object).length);
    }
    case 'labels':
      return filter.requirements.every((requirement) => meets(requirement, value));
    case 'search': {
      const text = searchText(object.body, filter.paths);
      return filter.terms.every((term) => text.includes(term));
    }
    case 'namespaces':
      return object.namespace !== null && filter.in.includes(object.namespace);
    case 'clusters':
      return filter.in.includes(object.cluster);
    case 'kinds':
      return filter.in.includes(object.key);
    case 'ids':
      return filter.in.some(
        (id) =>
          id.cluster === object.cluster &&
          id.key === object.key &&
          id.namespace === object.namespace &&
          id.name === object.name,
      );
  }
}

/** The value at a path of the identity or of the health, or else of `value`. */
function leafOf({ path, type }: LeafPath, object: MatchedObjectLike, value: unknown): unknown {
  const [first] = path.steps;
  if (first?.kind === 'health') return healthOf(object.body, object.health)[first.name];
  return identityValue(path, object) ?? leafValueAt(value, path, type);
}

/** The value of a path that names a part of the identity; undefined for other paths. */
export function identityValue(path: Path, identity: Identity): string | undefined {
  switch (identityIn(path)) {
    case 'cluster':
      return identity.cluster;
    case 'id':
      return encodeObjectId(identity);
    case null:
      return undefined;
  }
}

function compares(filter: Extract<Filter, { kind: 'compare' }>, value: unknown): boolean {
  const { type, operator } = filter;
  const fold = filter.ignoreCase && foldable(type, operator);
  const folded = (key: OrderKey): OrderKey => (fold && typeof key === 'string' ? foldCase(key) : key);
  const found = orderKey(type, value);
  if (found === null) return false;
  if (operator === 'matches') {
    return type === 'String' && patternMatches(String(filter.values[0]), filter.ignoreCase, String(found));
  }
  const left = folded(found);
  const wanted = operator === 'in' ? filter.values : filter.values.slice(0, 1);
  return wanted.some((item) => {
    const key = orderKey(type, item);
    return key !== null && test(operator, type, left, folded(key));
  });
}

function test(operator: Exclude<CompareOperator, 'matches'>, type: LeafType, left: OrderKey, right: OrderKey): boolean {
  switch (operator) {
    case 'eq':
    case 'in':
      return compareKeys(left, right) === 0;
    case 'lt':
      return compareKeys(left, right) < 0;
    case 'lte':
      return compareKeys(left, right) <= 0;
    case 'gt':
      return compareKeys(left, right) > 0;
    case 'gte':
      return compareKeys(left, right) >= 0;
    case 'startsWith':
      return type === 'String' && String(left).startsWith(String(right));
    case 'endsWith':
      return type === 'String' && String(left).endsWith(String(right));
    case 'contains':
      return type === 'String' && String(left).includes(String(right));
  }
}

/** Does `ignoreCase` apply? It applies to equality and text operators, on leaf types whose key holds the text itself. */
export function foldable(type: LeafType, operator: CompareOperator): boolean {
  return !isRangeOperator(operator) && hasTextKey(type);
}

const labelsPath = {
  text: 'metadata.labels',
  steps: ['metadata', 'labels'].map((name) => ({ kind: 'field' as const, name })),
};

/** A label is an entry of metadata.labels that a String shows. Lone surrogates count as U+FFFD, as in the label table. */
function meets(requirement: LabelRequirement, body: unknown): boolean {
  const label = valueAt(body, { steps: [...labelsPath.steps, { kind: 'key', key: requirement.key }] });
  const values = requirement.values.map((value) => value.toWellFormed());
  return meetsRequirement({ ...requirement, values }, scalarText(label)?.toWellFormed() ?? null);
}
