/**
 * The JSON patch (RFC 6902) that makes one state of an object of another one, and the tests that hold it to what was read.
 *
 *   live     { spec: { replicas: 2, containers: [a, b] }, metadata: {} }
 *   wanted   { spec: { replicas: 2, containers: [a, c] }, metadata: { labels: { x: "1" } } }
 *   tests    test /metadata/labels null          test /spec/containers [a, b]
 *   patch    add /metadata/labels { x: "1" }     replace /spec/containers [a, c]
 *
 * Invariant: with the tests, the patch is refused if somebody else has changed one of these fields since `live` was read. All other fields
 * stay as they are in the moment of the write. So a controller that writes the status all the time does no harm.
 *
 * A list is one value here, because the places of its elements move. API servers take `null` and an absent member as equal in a test.
 */
import { isObject, memberOf } from '../../catalog/values/displayed-value.ts';
import { isSame } from '../diff/withheld-values.ts';
import type { Json } from '../request/write-intent.ts';

interface TestedPatch {
  readonly tests: readonly Json[];
  readonly patch: readonly Json[];
}

/** Empty lists if both are equal. */
export function patchBetween(live: Json, wanted: Json): TestedPatch {
  const tests: Json[] = [];
  const patch: Json[] = [];
  const visit = (before: unknown, after: unknown, path: string): void => {
    if (before === after) return;
    // Before the comparison: each level would compare all that is below it again.
    if (isObject(before) && isObject(after)) {
      for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
        visit(memberOf(before, name), memberOf(after, name), `${path}/${pointerPart(name)}`);
      }
      return;
    }
    if (isSame(before, after)) return;
    tests.push({ op: 'test', path, value: before ?? null });
    if (after === undefined) patch.push({ op: 'remove', path });
    else patch.push({ op: before === undefined ? 'add' : 'replace', path, value: after });
  };
  visit(live, wanted, '');
  return { tests, patch };
}

/** The name of a member in a JSON pointer (RFC 6901). */
export function pointerPart(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
