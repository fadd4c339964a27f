/**
 * Objects whose redacted values are compared and never shown.
 *
 *   { data: { pin: "MTIzNA==" }, type: "Opaque" }   with the redacted path data
 *     { data: Withheld, type: "Opaque" }            compared by its value, shown as nothing
 *
 * The annotation kubectl.kubernetes.io/last-applied-configuration is withheld from every kind: it repeats the object, with all values.
 */
import { type Place, placesAt } from '../../catalog/paths/places-at.ts';
import { replacedAt } from '../../catalog/paths/replaced-at.ts';
import { parsePath } from '../../catalog/tree/path.ts';
import { isObject } from '../../catalog/values/displayed-value.ts';
import { isRawJson } from '../../catalog/values/raw-json.ts';
import type { Json } from '../request/write-intent.ts';

/** A value that is never shown. */
class Withheld {
  readonly #value: unknown;

  constructor(value: unknown) {
    this.#value = value;
  }

  /** The value, for comparison and for the HMAC of a plan alone. */
  reveal(): unknown {
    return this.#value;
  }

  toJSON(): undefined {
    return undefined;
  }
}

/** Is the value an object whose members may be looked at? */
export function isOpenObject(value: unknown): value is Json {
  return isObject(value) && !(value instanceof Withheld);
}

/** The annotation in which kubectl keeps what was applied. */
export const lastAppliedAnnotation = 'kubectl.kubernetes.io/last-applied-configuration';
const lastApplied = parsePath(`metadata.annotations["${lastAppliedAnnotation}"]`);

/** The object with each value at one of these paths as a {@link Withheld}. Null stays null. */
export function withhold(object: Json | null, redacted: readonly string[]): Json | null {
  if (object === null) return null;
  const sealed = (value: unknown): unknown => new Withheld(value);
  return replacedAt(object, placesOf(object, redacted), sealed) as Json;
}

function placesOf(object: Json, redacted: readonly string[]): readonly Place[] {
  return [lastApplied, ...redacted.map((text) => parsePath(text))].flatMap(({ steps }) => placesAt(steps, object));
}

/** As `withhold`, but each leaf of a value by itself: an editor may set one of them. */
export function withholdLeaves(object: Json, redacted: readonly string[]): Json {
  const sealed = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(sealed);
    if (!isObject(value)) return new Withheld(value);
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, sealed(inner)]));
  };
  return replacedAt(object, placesOf(object, redacted), sealed) as Json;
}

/** The values that the object has at these paths. */
export function valuesWithheld(object: Json | null, redacted: readonly string[]): readonly unknown[] {
  return redacted.flatMap((text) =>
    placesAt(parsePath(text).steps, object).map((place) =>
      place.reduce<unknown>((value, part) => (value as Readonly<Record<string, unknown>>)[part], object),
    ),
  );
}

/** The value without its withheld parts. Undefined if nothing may be shown. */
export function visible(value: unknown): unknown {
  if (value instanceof Withheld) return undefined;
  if (Array.isArray(value)) return value.map(visible).filter((item) => item !== undefined);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]) => {
      const shown = visible(inner);
      return shown === undefined ? [] : [[name, shown]];
    }),
  );
}

/** The value with all that is withheld. Never to be shown. */
export function revealed(value: unknown): unknown {
  if (value instanceof Withheld) return value.reveal();
  if (Array.isArray(value)) return value.map(revealed);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, revealed(inner)]));
}

/** Is something inside the value withheld, or the value itself? */
export function isWithheld(value: unknown): boolean {
  if (value instanceof Withheld) return true;
  if (Array.isArray(value)) return value.some(isWithheld);
  return isObject(value) && Object.values(value).some(isWithheld);
}

/** Are both equal, or both absent? */
export function isSame(one: unknown, other: unknown): boolean {
  return one === other || (one !== undefined && other !== undefined && sealedText(one) === sealedText(other));
}

/** A text that equal values share, and no others: JSON with sorted names, withheld values included. Never to be shown. */
export function sealedText(value: unknown): string {
  if (value instanceof Withheld) return sealedText(value.reveal());
  if (isRawJson(value)) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(sealedText).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? 'null';
  const members = Object.keys(value)
    .filter((name) => value[name] !== undefined)
    .toSorted()
    .map((name) => `${JSON.stringify(name)}:${sealedText(value[name])}`);
  return `{${members.join(',')}}`;
}
