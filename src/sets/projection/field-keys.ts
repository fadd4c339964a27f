/**
 * Which elements of a list the names of a field set mean (fieldsV1).
 *
 *   k:{"containerPort":80,"protocol":"TCP"}   the element with these keys
 *   v:"finalizer"                             the element with this value
 *   i:3                                       the element at this place
 *
 * The API server may add a default key that the element lacks. Then the element takes the name if none of the others has all of its keys.
 *
 * Anybody with the right may write a field set. So the work grows with the sum of names and elements, never with their product. A list of
 * Kubernetes has few keys. Names with more keys, or with more sets of keys, mean no element.
 */
import { isRecord } from '../../base/json.ts';
import { isObject, memberOf } from '../../catalog/values/displayed-value.ts';
import { parseExact } from '../../catalog/values/values.ts';
import type { FieldSet } from '../record/set-record.ts';

type Json = Readonly<Record<string, unknown>>;

/** Keys of one element, key sets of a list, selections of keys that elements lack. Names that differ only in the further keys. */
const most = { keys: 8, keySets: 4, fewer: 8, alike: 16 } as const;

/** The field set of each element of a list that has one; null for the others. In the order of the elements. */
export function elementSets(elements: readonly unknown[], fields: FieldSet): readonly (FieldSet | null)[] {
  const names = elementNames(elements, fields);
  return names.map((name) => {
    const inner = name === null ? null : memberOf(fields, name);
    return isRecord(inner) ? inner : null;
  });
}

/** The name that the set has for each element; null for an element that it does not have. */
export function elementNames(elements: readonly unknown[], fields: FieldSet): readonly (string | null)[] {
  const names = namesIn(fields);
  const { byText, keySets } = names;
  const found = elements.map((element, index) => {
    if (!isObject(element)) return byText.get(`v:${JSON.stringify(element)}`) ?? byText.get(`i:${index}`) ?? null;
    for (const { keys } of keySets) {
      const name = byText.get(textOfKeys(element, keys));
      if (name !== undefined) return name;
    }
    return byText.get(`i:${index}`) ?? null;
  });
  const taken = new Set(found);
  return found.map((name, index) => name ?? fitting(elements[index], names, taken));
}

/** The names of a field set that mean elements, to be looked up by what an element has. */
interface ElementNames {
  readonly byText: ReadonlyMap<string, string>;
  readonly keySets: readonly KeySet[];
  /** The names by some of their keys, for elements that have only these. */
  readonly byFewer: Map<string, ReadonlyMap<string, readonly string[]>>;
}

/** The names with the same keys. A list has one such set, and two while the keys of its kind change. */
interface KeySet {
  /** Sorted. */
  readonly keys: readonly string[];
  readonly names: readonly { readonly name: string; readonly values: Json }[];
}

/** The names of each field set whose list was looked at: one set may stand for many elements, each with a list. */
const known = new WeakMap<FieldSet, ElementNames>();

function namesIn(fields: FieldSet): ElementNames {
  const before = known.get(fields);
  if (before !== undefined) return before;
  const byText = new Map<string, string>();
  const keySets = new Map<string, { readonly keys: readonly string[]; readonly names: KeySet['names'][number][] }>();
  for (const name of Object.keys(fields)) {
    if (name.startsWith('i:')) byText.set(name, name);
    if (!name.startsWith('v:') && !name.startsWith('k:')) continue;
    const value = parsed(name.slice(2));
    if (name.startsWith('v:')) byText.set(`v:${JSON.stringify(value)}`, name);
    if (!name.startsWith('k:') || !isObject(value)) continue;
    const keys = Object.keys(value).toSorted();
    const text = JSON.stringify(keys);
    const keySet = keySets.get(text) ?? { keys, names: [] };
    if (keys.length > most.keys || (keySet.names.length === 0 && keySets.size === most.keySets)) continue;
    keySets.set(text, keySet);
    keySet.names.push({ name, values: value });
    byText.set(textOfKeys(value, keys), name);
  }
  const names: ElementNames = { byText, keySets: [...keySets.values()], byFewer: new Map() };
  known.set(fields, names);
  return names;
}

/** The name of an element that lacks some of the keys, by its present keys. Not one that another element has whole. */
function fitting(
  element: unknown,
  { keySets, byFewer }: ElementNames,
  taken: ReadonlySet<string | null>,
): string | null {
  if (!isObject(element)) return null;
  for (const { keys, names } of keySets) {
    const shared = keys.filter((key) => memberOf(element, key) !== undefined);
    if (shared.length === 0 || shared.length === keys.length) continue;
    const which = JSON.stringify([keys, shared]);
    const byShared = byFewer.get(which) ?? (byFewer.size < most.fewer ? indexed(names, shared) : null);
    if (byShared === null) continue;
    byFewer.set(which, byShared);
    const fits = byShared.get(textOfKeys(element, shared))?.find((name) => !taken.has(name));
    if (fits !== undefined) return fits;
  }
  return null;
}

function indexed(names: KeySet['names'], shared: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const index = new Map<string, string[]>();
  for (const { name, values } of names) {
    const text = textOfKeys(values, shared);
    const same = index.get(text) ?? [];
    if (same.length < most.alike) index.set(text, [...same, name]);
  }
  return index;
}

function textOfKeys(value: Json, sorted: readonly string[]): string {
  return `k:${JSON.stringify(sorted.map((key) => [key, memberOf(value, key) ?? null]))}`;
}

function parsed(text: string): unknown {
  try {
    return parseExact(text);
  } catch {
    return undefined;
  }
}
