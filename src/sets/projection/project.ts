/**
 * The shown part of a set's member: the live values of the fields that were submitted.
 *
 *   fields   { "f:spec": { "f:replicas": {}, "f:template": { … } } }
 *   live     spec.replicas 5 (scaled by hand), spec.strategy (a default), status
 *   shown    { apiVersion, kind, metadata: { name }, spec: { replicas: 5, template: … } }
 *
 * So a change by somebody else is seen, and what the API server or a controller has added is not. Elements of lists have the live order.
 *
 *   f:NAME  a member        k:{…} v:… i:N  an element of a list (field-keys.ts)        .  the object or list itself        {}  all of the value
 *
 * Elements that are named by their places are those of a list with one owner. An element beyond them is shown whole: somebody has added it.
 * Keys of an element are shown only where the set has them as a field: `protocol: TCP` of a port may be a default.
 *
 * A set may name an empty value that the API server does not keep (field-set.ts). It is shown as it was submitted.
 *
 * Never: reads anything, or shows another value that the live object does not have. Whether a part of the object may be shown is decided
 * before.
 */
import { isRecord } from '../../base/json.ts';
import { isObject, memberOf } from '../../catalog/values/displayed-value.ts';
import type { FieldSet } from '../record/set-record.ts';
import { elementSets } from './field-keys.ts';

type Json = Readonly<Record<string, unknown>>;

/** A deeper value is left out. */
const deepest = 500;
/** Empty values of one member that the live object does not have. */
const mostAbsent = 1000;
/** Field sets that are looked at before it is noted which of them are empty. Most members have fewer, and one set may be that of many elements. */
const fewVisits = 100;

/** The work on one member. */
class Visits {
  #count = 0;
  readonly #empty = new Map<FieldSet, boolean>();
  readonly #hollows = new Map<FieldSet, readonly (readonly [string, unknown])[]>();
  #left = mostAbsent;

  /** Is the set empty? To look takes time with the number of its names. */
  isEmpty(fields: FieldSet): boolean {
    this.#count += 1;
    if (this.#count <= fewVisits) return Object.keys(fields).length === 0;
    const isEmpty = this.#empty.get(fields) ?? Object.keys(fields).length === 0;
    this.#empty.set(fields, isEmpty);
    return isEmpty;
  }

  /** The empty values that the set names and the object does not have. */
  absentIn(value: Json, fields: FieldSet): readonly (readonly [string, unknown])[] {
    if (this.#left === 0) return [];
    const absent = this.#hollow(fields).filter(([name]) => memberOf(value, name) === undefined);
    const some = absent.slice(0, this.#left);
    this.#left -= some.length;
    return some;
  }

  /** One set may be that of many elements, so it is looked through once. */
  #hollow(fields: FieldSet): readonly (readonly [string, unknown])[] {
    const known = this.#hollows.get(fields);
    if (known !== undefined) return known;
    const found = Object.entries(fields)
      .flatMap(([name, set]) => {
        const value = name.startsWith('f:') && isRecord(set) ? hollowIn(set) : undefined;
        return value === undefined ? [] : [[name.slice(2), value] as const];
      })
      .slice(0, mostAbsent);
    this.#hollows.set(fields, found);
    return found;
  }
}

/** The manifest. @param live as an API server or the tables have it @param fields null: nothing was applied */
export function projectMember(live: Json, fields: FieldSet | null): Json {
  const { apiVersion, kind, metadata } = live;
  const isNothing = fields === null || Object.keys(fields).length === 0;
  const shown = isNothing ? {} : projected(live, fields, 0, new Visits());
  const { apiVersion: _apiVersion, kind: _kind, metadata: own, ...rest } = isObject(shown) ? shown : {};
  const name = isObject(metadata) ? memberOf(metadata, 'name') : undefined;
  return {
    apiVersion,
    kind,
    metadata: { ...(name === undefined ? {} : { name }), ...(isObject(own) ? own : {}) },
    ...rest,
  };
}

/** Undefined for a value that the set does not have. */
function projected(value: unknown, fields: FieldSet, depth: number, visits: Visits): unknown {
  if (depth > deepest) return undefined;
  if (visits.isEmpty(fields)) return value;
  if (Array.isArray(value)) return elementsIn(value, fields, depth, visits);
  if (!isObject(value)) return value;
  const present = Object.entries(value).flatMap(([name, inner]) => {
    const set = memberOf(fields, `f:${name}`);
    const shown = isRecord(set) ? projected(inner, set, depth + 1, visits) : undefined;
    return shown === undefined ? [] : [[name, shown] as const];
  });
  return Object.fromEntries([...present, ...visits.absentIn(value, fields)]);
}

/** The empty value that the set stands for; undefined for another set. */
function hollowIn(fields: FieldSet): unknown {
  if (memberOf(fields, 'v:[]') !== undefined) return [];
  return memberOf(fields, '.') !== undefined && Object.keys(fields).length === 1 ? {} : undefined;
}

function elementsIn(elements: readonly unknown[], fields: FieldSet, depth: number, visits: Visits): readonly unknown[] {
  const sets = elementSets(elements, fields);
  // Only atomic-fields.ts names elements by their places, and it names all that were submitted.
  const added = memberOf(fields, 'i:0') === undefined ? null : {};
  return elements.flatMap((element, index) => {
    const set = sets[index] ?? added;
    const shown = set === null ? undefined : projected(element, set, depth + 1, visits);
    return shown === undefined ? [] : [shown];
  });
}
