/**
 * Who owns a field, by metadata.managedFields (fieldsV1, KEP-555).
 *
 *   f:NAME      a member            { "f:spec": { "f:replicas": {} } }
 *   k:{…}       an element of a list, by its keys          "k:{\"name\":\"app\"}"
 *   v:VALUE     an element of a set, by its value          i:N   an element by its place
 *   .           the object or element itself
 *
 * A manager owns a field if its set has the field, or ends above it. A set has no members of an atomic field, such as a selector.
 *
 * Anybody with the right may write a field set. So each set is read once, and a field is looked up by what its steps have. A list of
 * Kubernetes has few keys. Names with more keys, or with more sets of keys, mean no element. Entries after the first thousand count for nothing.
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
  for (const entry of entries.slice(0, most.entries)) {
    const manager = text(entry['manager']);
    if (manager !== undefined && owns(entry['fieldsV1'], steps)) owners.add(manager);
  }
  return [...owners].toSorted();
}

function owns(set: unknown, steps: readonly ChangeStep[], at = 0): boolean {
  if (!isRecord(set)) return false;
  const step = steps[at];
  if (step === undefined) return true;
  const name = step.kind === 'member' ? `f:${step.name}` : readSet(set).nameOf(step);
  if (name === null || !Object.hasOwn(set, name)) return false;
  const below = set[name];
  // An empty set ends here: the field is a leaf, or atomic.
  return at + 1 === steps.length || !isRecord(below) || readSet(below).isEmpty || owns(below, steps, at + 1);
}

type ElementStep = Extract<ChangeStep, { readonly kind: 'element' }>;

/** Entries of managedFields, keys of one element, key sets of a list. Selections of keys that elements have. */
const most = { entries: 1000, keys: 8, keySets: 4, selections: 16 } as const;

/** A name of an element by its keys. */
interface KeyName {
  readonly name: string;
  readonly keys: Json;
}

/** The content of one field set, in a form for look-ups. */
class ReadSet {
  readonly isEmpty: boolean;
  /** The names of elements, each with its place in the set: the first one that fits an element is the element's. */
  readonly #places = new Map<string, number>();
  /** The names by keys, by their sorted keys. */
  readonly #keySets = new Map<string, { readonly keys: readonly string[]; readonly names: KeyName[] }>();
  /** The names of a key set, by the values of those keys that an element has. */
  readonly #selections = new Map<string, ReadonlyMap<string, string>>();
  /** One step leads to many fields. */
  readonly #found = new Map<ElementStep, string | null>();

  constructor(set: Json) {
    const names = Object.keys(set);
    this.isEmpty = names.length === 0;
    for (const [place, name] of names.entries()) {
      if (/^[ivk]:/.test(name)) this.#places.set(name, place);
      const values = name.startsWith('k:') ? parsedJson(name.slice(2)) : undefined;
      if (!isRecord(values)) continue;
      const keys = Object.keys(values).toSorted();
      const text = JSON.stringify(keys);
      const keySet = this.#keySets.get(text) ?? { keys, names: [] };
      if (keys.length > most.keys || (keySet.names.length === 0 && this.#keySets.size === most.keySets)) continue;
      this.#keySets.set(text, keySet);
      keySet.names.push({ name, keys: values });
    }
  }

  /** The first name that fits the element; null if none does. */
  nameOf(step: ElementStep): string | null {
    if (this.#places.size === 0) return null;
    const before = this.#found.get(step);
    if (before !== undefined) return before;
    const names = [
      `i:${step.index}`,
      elementText(step, 'v:', () => `v:${JSON.stringify(step.element)}`),
      ...this.#byKeys(step),
    ];
    const fitting = names.flatMap((name) => {
      const place = this.#places.get(name);
      return place === undefined ? [] : [{ name, place }];
    });
    const [first] = fitting.toSorted((a, b) => a.place - b.place);
    this.#found.set(step, first?.name ?? null);
    return first?.name ?? null;
  }

  /** The first name of each key set whose values the element has. */
  #byKeys(step: ElementStep): readonly string[] {
    const { element, key } = step;
    if (!isObject(element)) return [];
    return [...this.#keySets].flatMap(([text, { keys, names }]) => {
      const [had, absent] = [true, false].map((isHad) =>
        keys.filter((each) => (memberOf(element, each) !== undefined) === isHad),
      ) as [string[], string[]];
      // A key with a default, such as `protocol: TCP`, may be absent in the element.
      if (absent.some((each) => each === key?.name)) return [];
      const hadText = JSON.stringify(had);
      const which = `${text}${hadText}`;
      const selection =
        this.#selections.get(which) ?? (this.#selections.size < most.selections ? selected(names, had) : null);
      if (selection === null) return [];
      this.#selections.set(which, selection);
      return selection.get(elementText(step, hadText, () => valuesText(element, had))) ?? [];
    });
  }
}

/** The first name for each selection of values. */
function selected(names: readonly KeyName[], had: readonly string[]): ReadonlyMap<string, string> {
  return new Map(names.toReversed().map(({ name, keys }) => [valuesText(keys, had), name]));
}

function valuesText(value: Json, names: readonly string[]): string {
  return names.map((name) => JSON.stringify(memberOf(value, name))).join(',');
}

/** The texts of an element, which the sets of many managers look up. */
const texts = new WeakMap<ElementStep, Map<string, string>>();

function elementText(step: ElementStep, which: string, make: () => string): string {
  const made = texts.get(step) ?? new Map<string, string>();
  texts.set(step, made);
  const text = made.get(which) ?? make();
  made.set(which, text);
  return text;
}

const known = new WeakMap<Json, ReadSet>();

function readSet(set: Json): ReadSet {
  const read = known.get(set) ?? new ReadSet(set);
  known.set(set, read);
  return read;
}
