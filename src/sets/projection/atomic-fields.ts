/**
 * The fields of a value that one manager owns as a whole, such as the list `volumeClaimTemplates` of a StatefulSet. A field set names nothing
 * in it. An API server may still have added defaults. Then the fields of the manifest are named, so that the defaults are not shown.
 *
 *   manifest   [ { name: a, port: 1 } ]        [ { name: a } ]                       { fieldPath: x }
 *   answered   [ { name: a, port: 1 } ]        [ { name: a, port: 1 } ]              { fieldPath: x, apiVersion: v1 }
 *   fields     {}  all of the value            { "i:0": { "f:name": {} } }           { "f:fieldPath": {} }
 *
 * An element beyond the submitted ones has no name. It is shown whole (project.ts), because somebody has added it.
 *
 * Never: a value of a field.
 */
import { isObject, memberOf } from '../../catalog/values/displayed-value.ts';
import type { FieldSet } from '../record/set-record.ts';

const whole: FieldSet = {};
/** The object itself and none of its members. */
const bare: FieldSet = { '.': {} };
/** A deeper value is shown whole. */
const deepest = 500;

/** @param answered the value as the API server has it after the apply */
export function atomicFields(manifest: unknown, answered: unknown, depth = 0): FieldSet {
  if (depth > deepest) return whole;
  if (Array.isArray(manifest)) {
    if (!Array.isArray(answered) || answered.length !== manifest.length) return whole;
    const inner = manifest.map(
      (each, index) => [`i:${index}`, atomicFields(each, answered[index], depth + 1)] as const,
    );
    return inner.every(([, fields]) => fields === whole) ? whole : Object.fromEntries(inner);
  }
  if (!isObject(manifest) || !isObject(answered)) return whole;
  const names = Object.keys(manifest).filter((name) => memberOf(answered, name) !== undefined);
  const inner = names.map(
    (name) => [`f:${name}`, atomicFields(memberOf(manifest, name), memberOf(answered, name), depth + 1)] as const,
  );
  const isSame = names.length === Object.keys(answered).length && inner.every(([, fields]) => fields === whole);
  if (isSame) return whole;
  return inner.length === 0 ? bare : Object.fromEntries(inner);
}
