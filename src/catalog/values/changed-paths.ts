/**
 * The changed paths of an object: the deepest fields that differ. A list counts as one field.
 *
 *   { spec: { replicas: 1, args: ["a"] } } and { spec: { replicas: 2, args: ["a", "b"] } }   ->   spec.args, spec.replicas
 */
import { type PathStep, pathOf } from '../tree/path.ts';
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

/** Path texts, sorted. `metadata.resourceVersion` is left out, because it always changes. Empty when a side is not an object. */
export function changedPaths(before: unknown, after: unknown): readonly string[] {
  const found: string[] = [];
  const visit = (a: unknown, b: unknown, steps: readonly PathStep[]): void => {
    if (isObject(a) && isObject(b)) {
      for (const name of new Set([...Object.keys(a), ...Object.keys(b)])) {
        visit(memberOf(a, name), memberOf(b, name), [...steps, { kind: 'field', name }]);
      }
    } else if (!same(a, b)) {
      const text = pathOf(steps).text;
      if (text !== 'metadata.resourceVersion') found.push(text);
    }
  };
  if (isObject(before) && isObject(after)) visit(before, after, []);
  return found.sort();
}
