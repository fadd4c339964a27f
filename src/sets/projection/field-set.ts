/**
 * The fields that a set has applied to a member: what metadata.managedFields says of its manager after an apply, in fieldsV1.
 *
 *   manager shadow:shop/web, Apply   { "f:metadata": { "f:labels": { "f:applyset.kubernetes.io/part-of": {}, "f:app": {} } }, … }
 *     -> kept in the record          { "f:metadata": { "f:labels": { "f:app": {} } }, … }
 *
 * An empty set of a field means its whole value. So a parent whose last member was taken out goes too. API servers leave some empty
 * objects out, such as `emptyDir: {}`: they are added. An empty object that the API server has filled in or dropped, such as `strategy: {}` and
 * `annotations:{}`, becomes { ".": {} }. That is the object without its members. An empty list that it has dropped becomes { "v:[]": {} }.
 * Defaults in a value that is owned as a whole are left out (atomic-fields.ts).
 *
 * No managedFields name the namespace. It is a field here if the manifest has it, so that kubectl finds what it has sent.
 *
 * Never: a value of a field.
 */
import { isRecord, records } from '../../base/json.ts';
import { isObject, memberOf } from '../../catalog/values/displayed-value.ts';
import { isRawJson } from '../../catalog/values/raw-json.ts';
import { applySetLabels } from '../record/set-names.ts';
import type { FieldSet } from '../record/set-record.ts';
import { atomicFields } from './atomic-fields.ts';
import { elementNames } from './field-keys.ts';

type Json = Readonly<Record<string, unknown>>;

interface Applied {
  /** As the API server answered the apply, with managedFields. */
  readonly object: Json;
  readonly manifest: Json;
  readonly manager: string;
  /** The uid of the record that owns the member. */
  readonly recordUid: string;
}

/** The fields that the manager has applied, without the label and the ownerReference of the set; null if the object has no such entry. */
export function appliedFields({ object, manifest, manager, recordUid }: Applied): FieldSet | null {
  const metadata = memberOf(object, 'metadata');
  const entries = isObject(metadata) ? records(memberOf(metadata, 'managedFields')) : [];
  const own = entries.find(
    (entry) => entry['manager'] === manager && entry['operation'] === 'Apply' && (entry['subresource'] ?? '') === '',
  );
  const fields = own === undefined ? null : memberOf(own, 'fieldsV1');
  if (!isRecord(fields)) return null;
  const withoutLabel = without(fields, ['f:metadata', 'f:labels', `f:${applySetLabels.partOf}`]);
  const reference = `k:${JSON.stringify({ uid: recordUid })}`;
  const kept = without(withoutLabel, ['f:metadata', 'f:ownerReferences', reference]);
  return withNamespace(withEmpty(kept, withoutHead(manifest), object), manifest);
}

/** The apiVersion and kind, which every member shows, are not in the field set. */
function withoutHead({ apiVersion: _apiVersion, kind: _kind, ...rest }: Json): Json {
  return rest;
}

function withNamespace(fields: FieldSet, manifest: Json): FieldSet {
  const metadata = memberOf(manifest, 'metadata');
  if (!isObject(metadata) || typeof memberOf(metadata, 'namespace') !== 'string') return fields;
  const own = memberOf(fields, 'f:metadata');
  return { ...fields, 'f:metadata': { ...(isRecord(own) ? own : {}), 'f:namespace': {} } };
}

/** The set without this field, and without parents that have only this one. */
function without(fields: FieldSet, [name = '', ...rest]: readonly string[]): FieldSet {
  const inner = memberOf(fields, name);
  if (!isRecord(inner)) return fields;
  const kept = rest.length === 0 ? {} : without(inner, rest);
  const isGone = rest.length === 0 || (kept !== inner && Object.keys(kept).every((each) => each === '.'));
  if (!isGone) return replaced(fields, name, kept);
  return Object.fromEntries(Object.entries(fields).filter(([each]) => each !== name));
}

/**
 * The set with the empty objects and lists of the manifest, which an API server may leave out. An object that it has filled in becomes
 * { ".": {} }.
 */
function withEmpty(fields: FieldSet, value: unknown, answered: unknown): FieldSet {
  const inAnswer = new Map(partsOf(answered, fields));
  const marked = new Map(Object.entries(fields));
  for (const [name, inner] of partsOf(value, fields)) {
    const other = inAnswer.get(name);
    const below = marked.get(name);
    const isAtomic = isRecord(below) && Object.keys(below).length === 0;
    if (other === undefined) {
      if (name.startsWith('f:') && isEmpty(inner)) marked.set(name, Array.isArray(inner) ? { 'v:[]': {} } : bare);
      continue;
    }
    if (isAtomic && !isEmpty(inner)) {
      marked.set(name, atomicFields(inner, other));
      continue;
    }
    const kept = isEmpty(inner)
      ? name === 'f:status'
        ? bare
        : emptyOf(other)
      : withEmpty(isRecord(below) ? below : {}, inner, other);
    if (isEmpty(inner) || Object.keys(kept).length > 0) marked.set(name, kept);
  }
  return Object.fromEntries(marked);
}

/** The field set of a value that is empty in the manifest. */
function emptyOf(answered: unknown): FieldSet {
  return isEmpty(answered) ? {} : bare;
}

/** The object itself and none of its members. */
const bare: FieldSet = { '.': {} };

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !isRawJson(value) && Object.keys(value).length === 0;
}

/** The parts of an object or a list, by their names in a field set. */
function partsOf(value: unknown, fields: FieldSet): readonly (readonly [string, unknown])[] {
  if (!Array.isArray(value)) {
    return isObject(value) ? Object.entries(value).map(([name, inner]) => [`f:${name}`, inner] as const) : [];
  }
  return elementNames(value, fields).flatMap((name, index) => (name === null ? [] : [[name, value[index]] as const]));
}

function replaced(fields: FieldSet, name: string, inner: FieldSet): FieldSet {
  return Object.fromEntries(Object.entries(fields).map(([each, value]) => [each, each === name ? inner : value]));
}
