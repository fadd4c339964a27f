/**
 * What a set has to show, from what was submitted and from the live objects alone.
 *
 *   submitted   { data: { a: 1, b: 2 } }
 *   live        { data: { a: 5, c: 3 } }        (somebody has changed a, deleted b and added c)
 *   shown       { data: { a: 5 } }
 *
 * The model walks the submitted manifest and the live object side by side. It knows no field sets and no managedFields, and it shares no
 * code with the product. Lists of objects with one of the keys below have elements of their own. Every other list has one value.
 *
 * A write of a set with the list L:
 *   L is what is shown                       nothing changes, also for members that are missing
 *   an entry that is shown as it is in L     its member stays as it was submitted before
 *   another entry                            its member is what L says. An object that is there and is no member of this set refuses
 *                                            the whole, unless the set adopts and the object is a member of no other set
 *   a member that is not in L                is deleted, if the object is the one that was applied
 */

export type Json = Readonly<Record<string, unknown>>;

export interface ModelMember {
  readonly submitted: Json;
  /** Of the object that was applied. */
  readonly uid: string;
}

export interface ModelSet {
  readonly name: string;
  readonly adopts: boolean;
  /** The list as it was submitted last. */
  readonly file: readonly Json[];
  readonly members: readonly ModelMember[];
}

/** The part of a set that the model knows. */
export interface ShownSet {
  readonly flowList: readonly unknown[];
  readonly members: readonly { readonly kind: unknown; readonly name: unknown; readonly uid: unknown; state: string }[];
}

const elementKeys = ['name', 'port', 'containerPort'] as const;

export function objectKey({ kind, metadata }: Json): string {
  return `${String(kind)}/${String((metadata as Json)['name'])}`;
}

/** @param live all objects by their key */
export function shownSet({ members }: ModelSet, live: ReadonlyMap<string, Json>): ShownSet {
  const found = members.map(({ submitted, uid }) => {
    const object = live.get(objectKey(submitted));
    const now = object === undefined ? null : uidOf(object);
    return { submitted, uid, object, state: now === null ? 'Missing' : now === uid ? 'Present' : 'Replaced' };
  });
  return {
    flowList: found.flatMap(({ submitted, object, state }) => (state === 'Present' ? [shown(submitted, object)] : [])),
    members: found.map(({ submitted, uid, state }) => ({
      kind: submitted['kind'],
      name: (submitted['metadata'] as Json)['name'],
      uid,
      state,
    })),
  };
}

/** The same part of a set that an API server has shown. */
export function shownPart(set: Json): ShownSet {
  const { flowList } = set['spec'] as { readonly flowList: readonly unknown[] };
  const { members } = set['status'] as { readonly members: ShownSet['members'] };
  return { flowList, members: members.map(({ kind, name, uid, state }) => ({ kind, name, uid, state })) };
}

/** Why a write of this list is refused; null if it is not. */
export function refusedEntry(
  set: ModelSet | null,
  list: readonly Json[],
  {
    adopts,
    live,
    sets,
  }: { readonly adopts: boolean; readonly live: ReadonlyMap<string, Json>; readonly sets: Iterable<ModelSet> },
): Json | null {
  const taken = new Set([...sets].flatMap(({ members }) => members.map(({ uid }) => uid)));
  const own = new Map(set?.members.map(({ submitted, uid }) => [objectKey(submitted), uid]));
  const present = set === null ? [] : shownSet(set, live).flowList;
  if (set !== null && isEqual(list, present)) return null;
  return (
    list.find((entry) => {
      const object = live.get(objectKey(entry));
      if (object === undefined || own.get(objectKey(entry)) === uidOf(object)) return false;
      return !adopts || taken.has(uidOf(object));
    }) ?? null
  );
}

/** The set after a write of this list. @param before, after all objects before and after it */
export function writtenSet(
  set: Pick<ModelSet, 'name' | 'adopts'> & Partial<ModelSet>,
  list: readonly Json[],
  before: ReadonlyMap<string, Json>,
  after: ReadonlyMap<string, Json>,
): ModelSet {
  const { name, adopts, members = [] } = set;
  const present = shownSet({ name, adopts, file: [], members }, before).flowList as readonly Json[];
  if (set.members !== undefined && isEqual(list, present)) return { name, adopts, members, file: list };
  const shownAs = new Map(present.map((entry) => [objectKey(entry), entry]));
  return {
    name,
    adopts,
    file: list,
    members: list.map((entry) => {
      const key = objectKey(entry);
      const former = members.find(({ submitted }) => objectKey(submitted) === key);
      if (former !== undefined && isEqual(shownAs.get(key), entry)) return former;
      return { submitted: entry, uid: uidOf(after.get(key) ?? {}) };
    }),
  };
}

/** Deep equality, whatever the order of the members of objects. */
export function isEqual(left: unknown, right: unknown): boolean {
  return JSON.stringify(sorted(left)) === JSON.stringify(sorted(right));
}

export function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, inner]) => [name, sorted(inner)] as const);
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function uidOf(object: Json): string {
  return String((object['metadata'] as Json | undefined)?.['uid']);
}

function shown(submitted: Json, live: unknown): unknown {
  const { apiVersion, kind, metadata, ...rest } = live as Json;
  const { name, namespace } = metadata as Json;
  const { metadata: marks = {}, ...body } = walked(submitted, { metadata, ...rest }) as Json;
  return { apiVersion, kind, metadata: { ...(marks as Json), name, namespace }, ...body };
}

function walked(submitted: unknown, live: unknown): unknown {
  if (Array.isArray(submitted) && Array.isArray(live)) {
    const key = elementKeys.find((each) => submitted.every((element) => isObject(element) && each in element));
    if (key === undefined) return live;
    const byKey = new Map(submitted.map((element: Json) => [element[key], element]));
    return live.flatMap((element: Json) => {
      const own = byKey.get(element[key]);
      return own === undefined ? [] : [walked(own, element)];
    });
  }
  if (!isObject(submitted) || !isObject(live)) return live;
  return Object.fromEntries(
    Object.entries(submitted).flatMap(([name, inner]) => {
      if (!(name in live)) return [];
      // The API server keeps these maps as one value.
      if (name === 'selector') return [[name, live[name]]];
      return [[name, walked(inner, live[name])]];
    }),
  );
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
