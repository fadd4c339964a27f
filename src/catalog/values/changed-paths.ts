/**
 * The changed paths of an object: the deepest fields that differ. A list counts as one field.
 *
 *   { spec: { replicas: 1, args: ["a"] } } and { spec: { replicas: 2, args: ["a", "b"] } }   ->   spec.args, spec.replicas
 */
import { healthNames, type Path, type PathStep, pathOf } from '../tree/path.ts';
import { isObject, memberOf } from './displayed-value.ts';
import { isRawJson, rawJsonText } from './raw-json.ts';

function same(a: unknown, b: unknown): boolean {
  if (a === b || ((a ?? null) === null && (b ?? null) === null)) return true;
  if (isRawJson(a) || isRawJson(b)) return isRawJson(a) && isRawJson(b) && rawJsonText(a) === rawJsonText(b);
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, index) => same(item, b[index]));
  if (isObject(a) && isObject(b)) {
    const names = new Set([...Object.keys(a), ...Object.keys(b)]);
    return [...names].every((name) => same(memberOf(a, name), memberOf(b, name)));
  }
  return false;
}

/**
 * Path texts, sorted. `metadata.resourceVersion` is left out, because it always changes. Empty when a side is not an object.
 * @param isAbstract are these objects of an abstract kind? Their health is in the body.
 */
export function changedPaths(before: unknown, after: unknown, isAbstract: boolean): readonly string[] {
  const found: string[] = [];
  const visit = (a: unknown, b: unknown, steps: readonly PathStep[]): void => {
    if (isObject(a) && isObject(b)) {
      for (const name of new Set([...Object.keys(a), ...Object.keys(b)])) {
        visit(memberOf(a, name), memberOf(b, name), [...steps, { kind: 'field', name }]);
      }
    } else if (!same(a, b)) {
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
