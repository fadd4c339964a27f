/**
 * Who owns a field, by metadata.managedFields (fieldsV1, KEP-555).
 *
 *   f:NAME      a member            { "f:spec": { "f:replicas": {} } }
 *   k:{…}       an element of a list, by its keys          "k:{\"name\":\"app\"}"
 *   v:VALUE     an element of a set, by its value          i:N   an element by its place
 *   .           the object or element itself
 *
 * A manager owns a field if its set has the field, or ends above it. A set has no members of an atomic field, such as a selector.
 */
import { isRecord, parsedJson, records, text } from '../../base/json.ts';
import { isObject, memberOf } from '../../catalog/values/displayed-value.ts';
import type { Json } from '../request/write-intent.ts';
import type { ChangeStep } from './field-changes.ts';

/** Names of managers, sorted. @param object with its managedFields; null: there is none */
export function ownersOf(object: Json | null, steps: readonly ChangeStep[]): readonly string[] {
  const metadata = object === null ? null : memberOf(object, 'metadata');
  const entries = isObject(metadata) ? records(memberOf(metadata, 'managedFields')) : [];
  const owners = new Set<string>();
  for (const entry of entries) {
    const manager = text(entry['manager']);
    if (manager !== undefined && owns(entry['fieldsV1'], steps)) owners.add(manager);
  }
  return [...owners].toSorted();
}

function owns(set: unknown, steps: readonly ChangeStep[]): boolean {
  if (!isRecord(set)) return false;
  const [step, ...rest] = steps;
  if (step === undefined) return true;
  for (const [name, below] of Object.entries(set)) {
    if (!fits(name, step)) continue;
    // An empty set ends here: the field is a leaf, or atomic.
    return rest.length === 0 || !isRecord(below) || Object.keys(below).length === 0 || owns(below, rest);
  }
  return false;
}

function fits(name: string, step: ChangeStep): boolean {
  const value = name.slice(2);
  if (step.kind === 'member') return name.startsWith('f:') && value === step.name;
  if (name.startsWith('i:')) return value === String(step.index);
  if (name.startsWith('v:')) return value === JSON.stringify(step.element);
  if (!name.startsWith('k:')) return false;
  const keys = parsedJson(value);
  if (!isRecord(keys) || !isObject(step.element)) return false;
  const { element } = step;
  // A key with a default, such as `protocol: TCP`, may be absent in the element.
  return Object.entries(keys).every(([key, wanted]) => {
    const found = memberOf(element, key);
    return found === undefined ? key !== step.key?.name : JSON.stringify(found) === JSON.stringify(wanted);
  });
}
