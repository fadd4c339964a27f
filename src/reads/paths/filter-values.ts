/** Readers of filter values. A null or empty value below the top is refused; it never means everything. */
import { PortolanError } from '../../base/errors.ts';

export type FilterValues = Readonly<Record<string, unknown>>;

export const absent = 'is null; leave it out, or pass the whole filter as one variable';
export const nothingGiven =
  'is empty, which would match everything; leave it out, or pass the whole filter as one variable';

/** @throws PortolanError BAD_USER_INPUT always. */
export function refuse(place: string, why: string): never {
  throw new PortolanError('BAD_USER_INPUT', `${place} ${why}.`, { details: { path: place } });
}

/** The members that are present, at least one. @throws PortolanError BAD_USER_INPUT for null or {}. */
export function entriesOf(value: unknown, place: string): readonly [string, unknown][] {
  if (value === null || value === undefined) {
    refuse(place, 'is null, which would match everything; leave it out, or pass the whole filter as one variable');
  }
  const entries = Object.entries(value as FilterValues).filter(([, item]) => item !== undefined);
  return entries.length === 0 ? refuse(place, nothingGiven) : entries;
}

/** A list, possibly empty. @throws PortolanError BAD_USER_INPUT for null. */
export function listOf(value: unknown, place: string): readonly unknown[] {
  return value === null || value === undefined ? refuse(place, absent) : (value as readonly unknown[]);
}

/** A boolean. @throws PortolanError BAD_USER_INPUT for any other value. */
export function truth(value: unknown, place: string): boolean {
  return typeof value === 'boolean' ? value : refuse(place, absent);
}
