/** Values of bodies as cells have them. Each function takes a value of any type: what does not fit counts as absent. */
import { list } from '../../base/json.ts';
import { memberOf as memberOfObject, recordOf } from '../values/displayed-value.ts';
import { isRawJson, rawJsonText } from '../values/raw-json.ts';

type Json = Readonly<Record<string, unknown>>;

/** The own member of that name; undefined if the value is no object. */
export function memberOf(value: unknown, name: string): unknown {
  const record = recordOf(value);
  return record === null ? undefined : memberOfObject(record, name);
}

/** The value at these members, one below the other. */
export function at(value: unknown, ...names: readonly string[]): unknown {
  return names.reduce(memberOf, value);
}

/** Is there a value that is not null? */
export function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** A scalar as text; empty for all else. */
export function text(value: unknown): string {
  if (typeof value === 'string') return value;
  if (isRawJson(value)) return rawJsonText(value);
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
}

/** A scalar as text, or the words that the API server has for an absent or empty one. */
export function textOr(otherwise: string): (value: unknown) => string {
  return (value) => text(value) || otherwise;
}

/** A scalar as text, or the words that the API server has for an absent one. An empty text stays. */
export function presentOr(otherwise: string): (value: unknown) => string {
  return (value) => (isPresent(value) ? text(value) : otherwise);
}

/** A whole number; 0 if there is none. One beyond 2^53 is its digits. */
export function count(value: unknown): number | string {
  if (isRawJson(value)) return rawJsonText(value);
  return typeof value === 'number' ? Math.trunc(value) : 0;
}

/** A whole number to compute with. */
export function number(value: unknown): number {
  return Number(count(value));
}

/** True for true alone. */
export function flag(value: unknown): boolean {
  return value === true;
}

/** A time as the object has it; null if there is none. */
export function time(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

/** How many elements a list has, or an object members. */
export function size(value: unknown): number {
  return Array.isArray(value) ? value.length : Object.keys(recordOf(value) ?? {}).length;
}

/** The members of an object by name. */
export function entries(value: unknown): readonly (readonly [string, unknown])[] {
  return Object.entries(recordOf(value) ?? ({} satisfies Json));
}

/** The scalars of a list, joined by commas. */
export function joined(value: unknown): string {
  return list(value).map(text).join(',');
}

/** The member of each element of a list, joined by commas. */
export function joinedMembers(name: string): (value: unknown) => string {
  return (value) =>
    list(value)
      .map((element) => text(memberOf(element, name)))
      .join(',');
}

/** The first three texts, and how many more there are: `a,b,c + 2 more...`. */
export function firstThree(texts: readonly string[], otherwise: string): string {
  const shown = texts.slice(0, 3).join(',');
  if (texts.length > 3) return `${shown} + ${texts.length - 3} more...`;
  return shown === '' ? otherwise : shown;
}

/** The first element whose member `type` has this text. */
export function ofType(value: unknown, type: string): unknown {
  return list(value).find((element) => memberOf(element, 'type') === type);
}

/** Is there a condition of this type, and is the first one true? */
export function isTrue(conditions: unknown, type: string): boolean {
  return memberOf(ofType(conditions, type), 'status') === 'True';
}
