/**
 * Merges what somebody edited into an object that others have changed since.
 *
 *   base     { replicas: 2, containers: [{ name: app, image: a }] }                          what the editor was given
 *   edited   { replicas: 2, containers: [{ name: app, image: b }] }                          what came back
 *   live     { replicas: 5, containers: [{ name: app, image: a }, { name: proxy, … }] }      the object by now
 *   merged   { replicas: 5, containers: [{ name: app, image: b }, { name: proxy, … }] }
 *
 * A field that was edited becomes as edited, and every other field stays as it is in the live object. It is a conflict if both have changed
 * a field, and not to the same value. An element that was removed on one side and changed on the other is one too.
 *
 * Lists are merged by their keys (merge-schema.ts). A list without keys is one value, and so is one with two elements of the same key. The
 * order of a list is that of the live object, unless the edit moved elements.
 *
 * The live object may have Withheld values, which were never shown. Where the base has none, the edit decides.
 *
 * A value is `undefined` where there is none.
 */
import { memberOf } from '../../catalog/values/displayed-value.ts';
import type { ChangeStep } from '../diff/field-changes.ts';
import { isOpenObject, isSame, isWithheld, sealedText } from '../diff/withheld-values.ts';
import type { Json } from '../request/write-intent.ts';
import { type ListKeys, listKeysOf, type MergeSchema, schemaOfElements, schemaOfMember } from './merge-schema.ts';

/** A field that both have changed. */
export interface MergeConflict {
  readonly steps: readonly ChangeStep[];
  readonly base: unknown;
  readonly edited: unknown;
  readonly live: unknown;
}

interface Sides {
  readonly base: unknown;
  readonly edited: unknown;
  readonly live: unknown;
}

/**
 * The merged object, and the fields that both have changed. There the merged object is as the live one.
 * @param schema of the kind; null: lists are single values
 */
export function threeWayMerge(
  sides: { readonly base: Json; readonly edited: Json; readonly live: Json },
  schema: MergeSchema | null,
): { readonly merged: Json; readonly conflicts: readonly MergeConflict[] } {
  const conflicts: MergeConflict[] = [];
  const merged = mergeValue(sides, schema, [], conflicts);
  return { merged: merged as Json, conflicts };
}

function mergeValue(
  sides: Sides,
  schema: MergeSchema | null,
  steps: readonly ChangeStep[],
  conflicts: MergeConflict[],
): unknown {
  const { base, edited, live } = sides;
  // Before the comparisons: each level would compare all that is below it again.
  if (isOpenObject(edited) && isOpenObject(live) && (base === undefined || isOpenObject(base))) {
    return mergeMembers({ base: base ?? {}, edited, live }, schema, steps, conflicts);
  }
  if (isSame(base, edited) || isSame(edited, live)) return live;
  if (isSame(base, live)) return edited;
  const list = Array.isArray(edited) && Array.isArray(live) && (Array.isArray(base) || base === undefined);
  const found = list ? mergeList({ base: base ?? [], edited, live }, schema, steps, conflicts) : null;
  if (found !== null) return found;
  if (base === undefined && isWithheld(live)) return edited;
  conflicts.push({ steps, base, edited, live });
  return live;
}

function mergeMembers(
  { base, edited, live }: { readonly base: Json; readonly edited: Json; readonly live: Json },
  schema: MergeSchema | null,
  steps: readonly ChangeStep[],
  conflicts: MergeConflict[],
): Json {
  const names = new Set([...Object.keys(live), ...Object.keys(edited), ...Object.keys(base)]);
  const members = [...names].flatMap((name): [string, unknown][] => {
    const sides = { base: memberOf(base, name), edited: memberOf(edited, name), live: memberOf(live, name) };
    const value = mergeValue(sides, schemaOfMember(schema, name), [...steps, { kind: 'member', name }], conflicts);
    return value === undefined ? [] : [[name, value]];
  });
  // fromEntries makes own members, also of a name such as __proto__.
  return Object.fromEntries(members);
}

type Lists = { readonly [K in keyof Sides]: readonly unknown[] };

/** Null if the elements cannot be told apart. */
function mergeList(
  lists: Lists,
  schema: MergeSchema | null,
  steps: readonly ChangeStep[],
  conflicts: MergeConflict[],
): readonly unknown[] | null {
  const keys = listKeysOf(schema);
  if (keys === null) return null;
  const [base, edited, live] = [lists.base, lists.edited, lists.live].map((list) => elementsByKey(list, keys));
  if (base === undefined || base === null || edited === undefined || edited === null) return null;
  if (live === undefined || live === null) return null;
  const elements = schemaOfElements(schema);
  const kept = new Map<string, unknown>();
  for (const [index, key] of [...new Set([...live.keys(), ...edited.keys(), ...base.keys()])].entries()) {
    const sides = { base: base.get(key), edited: edited.get(key), live: live.get(key) };
    const element = sides.live ?? sides.edited ?? sides.base;
    const step: ChangeStep = { kind: 'element', index, key: keyStep(element, keys), element };
    const value = mergeValue(sides, elements, [...steps, step], conflicts);
    if (value !== undefined) kept.set(key, value);
  }
  return mergedOrder([...base.keys()], [...edited.keys()], [...live.keys()])
    .filter((key) => kept.has(key))
    .map((key) => kept.get(key));
}

/** The elements by a text that is equal for equal keys; null if two have one key, or one has none. */
function elementsByKey(list: readonly unknown[], keys: ListKeys): Map<string, unknown> | null {
  const found = new Map<string, unknown>();
  for (const element of list) {
    const key = keyText(element, keys);
    if (key === null || found.has(key)) return null;
    found.set(key, element);
  }
  return found;
}

function keyText(element: unknown, keys: ListKeys): string | null {
  if (keys.kind === 'set') return isOpenObject(element) || Array.isArray(element) ? null : sealedText(element);
  if (!isOpenObject(element)) return null;
  const values = keys.names.map((name) => memberOf(element, name) ?? keys.defaults.get(name));
  return values.some((value) => value === undefined || value === null) ? null : sealedText(values);
}

function keyStep(element: unknown, keys: ListKeys): { readonly name: string; readonly value: string } | null {
  if (keys.kind === 'set' || !isOpenObject(element)) return null;
  const [name = ''] = keys.names;
  return { name, value: String(memberOf(element, name) ?? keys.defaults.get(name) ?? '') };
}

/**
 * The keys of all three in the order of the merged list.
 *
 *   base a b c     edited a x b c     live c a b new     ->   c a x b new        the edit moved nothing: the order of the live object
 *   base a b c     edited c a b       live a b c new     ->   c a b new          the edit moved c
 */
function mergedOrder(base: readonly string[], edited: readonly string[], live: readonly string[]): readonly string[] {
  const [before, after] = [new Set(base), new Set(edited)];
  const isMoved =
    base.filter((key) => after.has(key)).join('\n') !== edited.filter((key) => before.has(key)).join('\n');
  const [first, second] = isMoved ? [edited, live] : [live, edited];
  const known = new Set(first);
  // The keys that come behind a known one; '' is no key.
  const behind = new Map<string, string[]>();
  let last = '';
  for (const key of second) {
    if (known.has(key)) last = key;
    else {
      const run = behind.get(last) ?? [];
      run.push(key);
      behind.set(last, run);
    }
  }
  return [...(behind.get('') ?? []), ...first.flatMap((key) => [key, ...(behind.get(key) ?? [])])];
}
