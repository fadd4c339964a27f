/**
 * The changed paths of an object: the deepest fields that differ. A list counts as one field.
 *
 *   { spec: { replicas: 1, args: ["a"] } } and { spec: { replicas: 2, args: ["a", "b"] } }   ->   spec.args, spec.replicas
 */
import { healthNames, maxSteps, type Path, type PathStep, pathOf } from '../tree/path.ts';
import { isObject, memberOf } from './displayed-value.ts';
import { isRawJson, rawJsonText } from './raw-json.ts';

/** Are the JSON values equal? An absent value is null, and integers of any size are exact. Values of any depth are compared. */
export function isSameValue(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  const left = [a];
  const right = [b];
  while (left.length > 0) {
    const x = left.pop() ?? null;
    const y = right.pop() ?? null;
    if (x === y) continue;
    if (isRawJson(x) || isRawJson(y)) {
      if (!isRawJson(x) || !isRawJson(y) || rawJsonText(x) !== rawJsonText(y)) return false;
    } else if (Array.isArray(x) && Array.isArray(y)) {
      if (x.length !== y.length) return false;
      for (const [index, item] of x.entries()) {
        left.push(item);
        right.push(y[index]);
      }
    } else if (isObject(x) && isObject(y)) {
      for (const name of new Set([...Object.keys(x), ...Object.keys(y)])) {
        left.push(memberOf(x, name));
        right.push(memberOf(y, name));
      }
    } else return false;
  }
  return true;
}

/**
 * Path texts, sorted. Where objects nest deeper than a path leads, the longest path. `metadata.resourceVersion` is left out, because it
 * always changes. Empty when a side is not an object.
 * @param isAbstract are these objects of an abstract kind? Their health is in the body.
 */
export function changedPaths(before: unknown, after: unknown, isAbstract: boolean): readonly string[] {
  const found: string[] = [];
  const visit = (a: unknown, b: unknown, steps: readonly PathStep[]): void => {
    if (isObject(a) && isObject(b) && steps.length < maxSteps) {
      for (const name of new Set([...Object.keys(a), ...Object.keys(b)])) {
        visit(memberOf(a, name), memberOf(b, name), [...steps, { kind: 'field', name }]);
      }
    } else if (!isSameValue(a, b)) {
      const { text } = (isAbstract ? carriedHealth(steps) : null) ?? pathOf(steps);
      if (text !== 'metadata.resourceVersion') found.push(text);
    }
  };
  if (isObject(before) && isObject(after)) visit(before, after, []);
  return found.sort();
}

/** The path of a part of the health; null for other places. */
function carriedHealth([first, second]: readonly PathStep[]): Path | null {
  if (first?.kind !== 'field' || first.name !== 'health' || second?.kind !== 'field') return null;
  const name = healthNames.find((each) => each === second.name);
  return name === undefined ? null : pathOf([{ kind: 'health', name }]);
}
