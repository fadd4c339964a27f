/**
 * Two reads of an object that differ in the status alone. A write makes the same changes in both, so a controller that writes the status
 * between two requests does no harm.
 *
 *   GET  { metadata: { resourceVersion: "7" }, spec: { replicas: 2 }, status: { replicas: 1 } }
 *   GET  { metadata: { resourceVersion: "8" }, spec: { replicas: 2 }, status: { replicas: 2 } }      the same but for the status
 *
 * Not compared: the status, the resourceVersion, and when which manager wrote. Compared: which manager owns which field outside of the
 * status, because a server-side apply depends on it.
 */
import { records } from '../../base/json.ts';
import { recordOf } from '../../catalog/values/displayed-value.ts';
import { sealedText } from '../diff/withheld-values.ts';
import type { Json } from '../request/write-intent.ts';

/** Do both states differ in the status alone, and in what each write changes? */
export function isSameButStatus(one: Json, other: Json): boolean {
  return sealedText(withoutStatus(one)) === sealedText(withoutStatus(other));
}

function withoutStatus({ status: _status, metadata, ...rest }: Json): Json {
  const { resourceVersion: _version, managedFields, ...others } = recordOf(metadata) ?? {};
  const managers = records(managedFields).flatMap(({ time: _time, ...entry }) =>
    entry['subresource'] === 'status' ? [] : [entry],
  );
  return { ...rest, metadata: others, managers };
}
