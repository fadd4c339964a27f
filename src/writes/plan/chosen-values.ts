/**
 * The values of a new object that the API server chooses anew for each request. Examples: a generated name, a Service's address and
 * node port, the uid in the labels of a Job.
 *
 *   dry run  { clusterIP: "10.0.0.7", port: 80 }
 *   dry run  { clusterIP: "10.0.0.9", port: 80 }    the values that differ are chosen: [["clusterIP"]]
 *
 * A plan binds all other values. With them it would never be the plan of the next dry run.
 */
import type { Place } from '../../catalog/paths/places-at.ts';
import { replacedAt } from '../../catalog/paths/replaced-at.ts';
import { isObject, memberOf } from '../../catalog/values/displayed-value.ts';
import { serverFields } from '../diff/server-fields.ts';
import { sealedText } from '../diff/withheld-values.ts';
import type { Json } from '../request/write-intent.ts';

/** More are not left out: then the plan does not hold. */
const most = 100;

/** The places at which two dry runs of the same request differ. */
export function chosenPlaces(first: Json | null, second: Json | null): readonly Place[] {
  const found: Place[] = [];
  const visit = (left: unknown, right: unknown, place: Place): void => {
    if (place.length === 2 && place[0] === 'metadata' && serverFields.has(String(place[1]))) return;
    if (found.length === most) return;
    // Before the comparison: each level would compare all that is below it again.
    if (isObject(left) && isObject(right)) {
      for (const name of new Set([...Object.keys(left), ...Object.keys(right)])) {
        visit(memberOf(left, name), memberOf(right, name), [...place, name]);
      }
    } else if (Array.isArray(left) && Array.isArray(right) && left.length === right.length) {
      for (const [index, element] of left.entries()) visit(element, right[index], [...place, index]);
    } else if (sealedText(left) !== sealedText(right)) found.push(place);
  };
  visit(first, second, []);
  return found;
}

/** The object with null at these places. A place that it does not have counts for nothing. */
export function withoutChosen(object: Json | null, places: readonly Place[]): Json | null {
  return replacedAt(object, places, () => null) as Json | null;
}
