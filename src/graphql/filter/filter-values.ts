/** How the values of a filter argument are read: what is absent, null or empty below the top is refused, never taken for everything. */
import { PortolanError } from '../../base/errors.ts';

export type FilterValues = Readonly<Record<string, unknown>>;

export const absent = 'is null; leave it out, or pass the whole filter as one variable';
export const nothingGiven =
  'is empty, which would match everything; leave it out, or pass the whole filter as one variable';

/** @throws PortolanError BAD_USER_INPUT always. */
export function refuse(place: string, why: string): never {
  throw new PortolanError('BAD_USER_INPUT', `${place} ${why}.`, { details: { path: place } });
}

/** The members that are given, at least one. */
export function entriesOf(value: unknown, place: string): readonly [string, unknown][] {
  if (value === null || value === undefined) {
    refuse(place, 'is null, which would match everything; leave it out, or pass the whole filter as one variable');
  }
  const entries = Object.entries(value as FilterValues).filter(([, item]) => item !== undefined);
  return entries.length === 0 ? refuse(place, nothingGiven) : entries;
}

/** A list that was given, possibly empty. */
export function listOf(value: unknown, place: string): readonly unknown[] {
  return value === null || value === undefined ? refuse(place, absent) : (value as readonly unknown[]);
}

/** A boolean that was given. */
export function truth(value: unknown, place: string): boolean {
  return typeof value === 'boolean' ? value : refuse(place, absent);
}
