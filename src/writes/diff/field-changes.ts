/**
 * The differences between an object and what a write makes of it, field by field.
 *
 *   { spec: { replicas: 2, containers: [{ name: "app", image: "a" }] } }
 *   { spec: { replicas: 3, containers: [{ name: "app", image: "b" }] } }
 *     spec.containers[name=app].image  "a" -> "b"
 *     spec.replicas                    2 -> 3
 *
 * Elements of a list are matched by a member that tells them apart, such as `name`. If there is none, by their places in lists of equal
 * length. Otherwise the list is one field. A list whose matched elements have another order is one more change, at the list.
 *
 * Left out: what each write changes by itself (managedFields, resourceVersion, generation), and the status, which controllers write. A
 * write of the subresource status compares the status.
 *
 * Anybody may compare an object of their own. So the work grows with the size of both objects, never with the square of a list. The paths
 * below one long name could repeat it without end. So they have a bound together: what is beyond it is one field.
 */
import { type PathStep, pathOf } from '../../catalog/tree/path.ts';
import { memberOf } from '../../catalog/values/displayed-value.ts';
import type { Json } from '../request/write-intent.ts';
import { serverFields } from './server-fields.ts';
import { isOpenObject, sealedText } from './withheld-values.ts';

/** One step to a changed field: a member, or an element of a list. */
export type ChangeStep =
  | { readonly kind: 'member'; readonly name: string }
  | {
      readonly kind: 'element';
      readonly index: number;
      /** The member that tells the element apart; null where its place does. */
      readonly key: { readonly name: string; readonly value: string } | null;
      /** The element, of the object before, or else of the one after. */
      readonly element: unknown;
    };

/** A field that differs. A value is undefined where there is none. It may contain Withheld values (withheld-values.ts). */
export interface ValueChange {
  readonly steps: readonly ChangeStep[];
  readonly before: unknown;
  readonly after: unknown;
}

/** Members by which Kubernetes tells the elements of its lists apart, the most usual first. */
const elementKeys = [
  'name',
  'type',
  'key',
  'containerPort',
  'port',
  'mountPath',
  'devicePath',
  'topologyKey',
  'uid',
  'ip',
];

interface ChangeOptions {
  /** The status counts too: the write is of the subresource status. Default: false. */
  readonly withStatus?: boolean;
  /** A list is one field. Default: false. */
  readonly wholeLists?: boolean;
}

/** Characters of all paths together. Those of an object of 1 MB with usual names are less than a third. */
const mostCharacters = 32 * 2 ** 20;

class Found {
  readonly changes: ValueChange[] = [];
  readonly wholeLists: boolean;
  #characters = 0;

  constructor(wholeLists: boolean) {
    this.wholeLists = wholeLists;
  }

  /** May each of the inner values be a field by itself? For whole lists, which a merge patch takes back, an object is never one field. */
  mayHave(inner: number, steps: readonly ChangeStep[]): boolean {
    const characters = inner * steps.reduce((sum, step) => sum + charactersOf(step), 0);
    if (!this.wholeLists && this.#characters + characters > mostCharacters) return false;
    this.#characters += characters;
    return true;
  }
}

function charactersOf(step: ChangeStep): number {
  if (step.kind === 'member') return step.name.length;
  return step.key === null ? 0 : step.key.name.length + step.key.value.length;
}

/**
 * The changed fields, sorted by their paths.
 * @param before null: there is no object; @param after null: there will be none.
 */
export function fieldChanges(
  before: Json | null,
  after: Json | null,
  { withStatus = false, wholeLists = false }: ChangeOptions = {},
): readonly ValueChange[] {
  const found = new Found(wholeLists);
  const left = before ?? {};
  const right = after ?? {};
  for (const name of new Set([...Object.keys(left), ...Object.keys(right)])) {
    if (name === 'status' && !withStatus) continue;
    visit(memberOf(left, name), memberOf(right, name), [{ kind: 'member', name }], found);
  }
  return found.changes
    .map((change) => ({ change, path: pathOfChange(change.steps) }))
    .toSorted((a, b) => (a.path < b.path ? -1 : 1))
    .map(({ change }) => change);
}

/** The path of a change, in the grammar of paths (src/catalog/tree/path.ts). */
export function pathOfChange(steps: readonly ChangeStep[]): string {
  return pathOf(
    steps.map((step): PathStep => {
      if (step.kind === 'member') return { kind: 'field', name: step.name };
      if (step.key === null) return { kind: 'index', index: step.index };
      return { kind: 'where', field: step.key.name, value: step.key.value };
    }),
  ).text;
}

function visit(before: unknown, after: unknown, steps: readonly ChangeStep[], found: Found): void {
  if (isOfServer(steps)) return;
  if (isOpenObject(before) && isOpenObject(after)) {
    const names = new Set([...Object.keys(before), ...Object.keys(after)]);
    if (found.mayHave(names.size, steps)) {
      for (const name of names) {
        visit(memberOf(before, name), memberOf(after, name), [...steps, { kind: 'member', name }], found);
      }
      return;
    }
  }
  // The metadata of a new object is compared member by member, so that its noise is left out.
  if (steps.length === 1 && isMetadata(steps) && (before === undefined || after === undefined)) {
    visit(before ?? {}, after ?? {}, steps, found);
    return;
  }
  const isList = Array.isArray(before) && Array.isArray(after);
  // Before the comparison: each level would compare all that is below it again.
  if (isList && !found.wholeLists && visitElements(before, after, steps, found)) return;
  if (sealedText(before) === sealedText(after)) return;
  found.changes.push({ steps, before, after });
}

function isMetadata([step]: readonly ChangeStep[]): boolean {
  return step?.kind === 'member' && step.name === 'metadata';
}

function isOfServer(steps: readonly ChangeStep[]): boolean {
  const [, inner] = steps;
  return steps.length === 2 && isMetadata(steps) && inner?.kind === 'member' && serverFields.has(inner.name);
}

/** False if the elements cannot be matched. */
function visitElements(
  before: readonly unknown[],
  after: readonly unknown[],
  steps: readonly ChangeStep[],
  found: Found,
): boolean {
  if (!found.mayHave(before.length + after.length, steps)) return false;
  const name = elementKeys.find((each) => tellsApart(before, each) && tellsApart(after, each));
  if (name === undefined) {
    if (before.length !== after.length || ![...before, ...after].every(isOpenObject)) return false;
    for (const [index, element] of before.entries()) {
      visit(element, after[index], [...steps, { kind: 'element', index, key: null, element }], found);
    }
    return true;
  }
  const [left, right] = [before, after].map((list) => placesByKey(list, name)) as [Places, Places];
  for (const value of new Set([...left.keys(), ...right.keys()])) {
    const [at, to] = [left.get(value) ?? -1, right.get(value) ?? -1];
    const element = at === -1 ? after[to] : before[at];
    const step: ChangeStep = { kind: 'element', index: at === -1 ? to : at, key: { name, value }, element };
    visit(at === -1 ? undefined : before[at], to === -1 ? undefined : after[to], [...steps, step], found);
  }
  const orderBefore = [...left.keys()].filter((value) => right.has(value));
  const orderAfter = [...right.keys()].filter((value) => left.has(value));
  if (orderBefore.some((value, index) => value !== orderAfter[index]))
    found.changes.push({ steps, before: orderBefore, after: orderAfter });
  return true;
}

/** The places of elements in a list, by their keys, in the order of the list. */
type Places = ReadonlyMap<string, number>;

function placesByKey(elements: readonly unknown[], name: string): Places {
  return new Map(elements.map((element, index) => [keyOf(element, name), index]));
}

function tellsApart(elements: readonly unknown[], name: string): boolean {
  if (elements.length === 0) return true;
  const values = new Set<string>();
  for (const element of elements) {
    const value = isOpenObject(element) ? memberOf(element, name) : undefined;
    if (typeof value !== 'string' && typeof value !== 'number') return false;
    values.add(String(value));
  }
  return values.size === elements.length;
}

function keyOf(element: unknown, name: string): string {
  return isOpenObject(element) ? String(memberOf(element, name)) : '';
}
