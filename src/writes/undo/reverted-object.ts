/**
 * An object as it was: everything but the status, with the labels and annotations of then.
 *
 *   kept from the object of now   status, finalizers, ownerReferences, and what the API server sets
 *   back as it was                labels, annotations, spec, data, …
 *
 * Finalizers and owners belong to controllers: with those of then, an object could become impossible to delete, or be deleted at once.
 *
 * Portolan does not hold the values of redacted paths. A state that had such values is refused with their paths.
 */

import { placesAt } from '../../catalog/paths/places-at.ts';
import { parsePath } from '../../catalog/tree/path.ts';
import { memberOf, recordOf } from '../../catalog/values/displayed-value.ts';
import { lastAppliedAnnotation } from '../diff/withheld-values.ts';
import { type WriteError, writeError } from '../outcome/write-error.ts';
import { type Json, nameOfTarget, type WriteTarget } from '../request/write-intent.ts';

/** Members of metadata that become as they were. */
const ofMetadata = ['labels', 'annotations'];

/** @param body the recorded state @param live the object of now */
export function revertedObject(body: Json, live: Json): Json {
  const { status, metadata } = live;
  const now = recordOf(metadata) ?? {};
  const then = recordOf(body['metadata']) ?? {};
  const others = Object.entries(now).filter(([name]) => !ofMetadata.includes(name));
  const back = ofMetadata.flatMap((name): [string, unknown][] => {
    const value = name === 'annotations' ? withLastApplied(then, now) : memberOf(then, name);
    return value === undefined ? [] : [[name, value]];
  });
  const { status: _status, ...rest } = body;
  return { ...rest, ...(status === undefined ? {} : { status }), metadata: Object.fromEntries([...others, ...back]) };
}

/** The annotations of then, with kubectl's copy of the object of now: it is never recorded. */
function withLastApplied(then: Json, now: Json): unknown {
  const copy = memberOf(recordOf(memberOf(now, 'annotations')) ?? {}, lastAppliedAnnotation);
  if (copy === undefined) return memberOf(then, 'annotations');
  return { ...recordOf(memberOf(then, 'annotations')), [lastAppliedAnnotation]: copy };
}

/** The refusal for a state whose values are not all known; null if they are. */
export function withheldState(body: Json, target: WriteTarget, redacted: readonly string[]): WriteError | null {
  const missing = redacted.filter((text) => {
    // The value is absent in what is recorded. Its parent is there.
    const around = parsePath(text).steps.slice(0, -1);
    return placesAt(around, body).length > 0;
  });
  if (missing.length === 0) return null;
  const message = `The ${nameOfTarget(target)} cannot be as it was: Portolan does not hold its values of ${missing.join(', ')}.`;
  return writeError('DATA_WITHHELD', message, missing[0] ?? null);
}
