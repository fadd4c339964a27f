/**
 * The cursor of a subscription: the epoch of the store file, and the newest change that the client has received.
 *
 *   base64url( JSON [ "live1", epoch, sequence ] )          for example ["live1","<epoch>",42], or -1 (`nowhere`) as the sequence
 *   base64url( JSON [ "live1", epoch, sequence, scope ] )   for a caller who does not see all objects
 *   base64url( JSON [ "live1", epoch, sequence, scope or null, kinds ] )   for several kinds
 *   base64url( JSON [ "cells1", cursor, cursor, … ] )   over several cells: one for each, in their order
 *
 * A cursor does not contain the filter. Whether a change is ADDED, MODIFIED or REMOVED for a filter depends only on the object
 * before and after the change. So a client may continue from a list's cursor with another filter, for instance the ids of one
 * page.
 *
 * The client has the objects that its caller could see. If the caller may see other objects now, continuing gives GAP. So a cursor
 * contains a digest of the scope. The client has the objects of these kinds alone, so a cursor of several kinds contains a digest of
 * them.
 *
 * During a snapshot and after a GAP, the client has no complete set of objects, and the cursor is `nowhere`. Continuing from it
 * gives GAP and a new snapshot. So a client that loses its connection during a snapshot never takes a partial snapshot for a
 * complete one.
 */
import { createHash } from 'node:crypto';
import { allRows, type Scope, scopeText } from '../../access/scope.ts';
import { PortolanError } from '../../base/errors.ts';

export interface LiveCursor {
  readonly epoch: string;
  /** {@link nowhere}, or the sequence number of the newest change. */
  readonly sequence: number;
  /** `scopeMark` of the objects that the client's caller could see; absent if that were all. */
  readonly scope?: string;
  /** A digest of the client's kinds; absent for one kind. */
  readonly kinds?: string;
}

/** The parts of a cursor that do not change from message to message. */
export type CursorMarks = Pick<LiveCursor, 'scope' | 'kinds'>;

const marks = new WeakMap<Scope, string>();

/** A digest of a scope; undefined for all rows. */
export function scopeMark(scope: Scope): string | undefined {
  if (scope.rows === 'all') return undefined;
  const known = marks.get(scope) ?? createHash('sha256').update(scopeText(scope)).digest('base64url').slice(0, 16);
  marks.set(scope, known);
  return known;
}

/** The marks for a client of these kinds. @param visible the rows that the caller may see, by resourceKey */
export function cursorMarks(visible: ReadonlyMap<string, Scope>): CursorMarks {
  const entries = [...visible].sort(([a], [b]) => (a < b ? -1 : 1));
  const [only, ...others] = entries;
  if (only !== undefined && others.length === 0) return withoutAbsent({ scope: scopeMark(only[1]), kinds: undefined });
  const sees = entries.every(([, { rows }]) => rows === 'all');
  return withoutAbsent({
    scope: sees ? undefined : digestOf(entries.map(([key, scope]) => [key, scopeText(scope)])),
    kinds: digestOf(entries.map(([key]) => key)),
  });
}

function withoutAbsent({ scope, kinds }: { scope: string | undefined; kinds: string | undefined }): CursorMarks {
  return { ...(scope === undefined ? {} : { scope }), ...(kinds === undefined ? {} : { kinds }) };
}

function digestOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64url').slice(0, 16);
}

const cellsTag = 'cells1';

/** Less than the sequence number of every change. */
export const nowhere = -1;

/** Can the log continue the cursor? @param log the newest change of the store, and the oldest position from which the log is whole */
export function isInLog(
  { epoch, sequence }: LiveCursor,
  log: { readonly epoch: string; readonly sequence: number; readonly floor: number },
): boolean {
  return epoch === log.epoch && sequence <= log.sequence && sequence >= log.floor;
}

/** The cursor of one kind as opaque text. @param scope the rows that the caller may see. */
export function encodeLiveCursor({ epoch, sequence }: LiveCursor, scope: Scope = allRows): string {
  const mark = scopeMark(scope);
  return writeLiveCursor({ epoch, sequence, ...(mark === undefined ? {} : { scope: mark }) });
}

/** The cursor as opaque text. */
export function writeLiveCursor({ epoch, sequence, scope, kinds }: LiveCursor): string {
  const marks = kinds === undefined ? (scope === undefined ? [] : [scope]) : [scope ?? null, kinds];
  return Buffer.from(JSON.stringify(['live1', epoch, sequence, ...marks])).toString('base64url');
}

/**
 * The cursor over several cells, as opaque text; of one cell, its own.
 * @param cursors of the cells in their order; empty for a cell of which the client holds nothing
 */
export function joinCellCursors(cursors: readonly string[]): string {
  const [only = '', ...others] = cursors;
  return others.length === 0 ? only : Buffer.from(JSON.stringify([cellsTag, ...cursors])).toString('base64url');
}

/**
 * The cursors of the cells in their order; null for a cell of which the client holds nothing. Of a cursor over another number of cells:
 * cursors that no cell continues.
 * @throws PortolanError BAD_USER_INPUT for text that is not a cursor of changes.
 */
export function splitCellCursors(text: string, cells: number): readonly (LiveCursor | null)[] {
  const parts = partsOf(text);
  const joined = Array.isArray(parts) && parts[0] === cellsTag ? parts.slice(1) : null;
  const cursors =
    joined === null
      ? [cursorOf(parts)]
      : joined.map((each) => (typeof each === 'string' ? cursorOf(partsOf(each)) : null));
  if (!cursors.every((each, index) => each !== null || joined?.[index] === '')) throw noCursor();
  if (cursors.length === cells) return cursors;
  return Array.from({ length: cells }, () => ({ epoch: '', sequence: nowhere }));
}

/** @throws PortolanError BAD_USER_INPUT for text that is not a cursor of changes. */
export function decodeLiveCursor(text: string): LiveCursor {
  const [cursor] = splitCellCursors(text, 1);
  return cursor ?? { epoch: '', sequence: nowhere };
}

function partsOf(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
  } catch {
    return null;
  }
}

function noCursor(): PortolanError {
  return new PortolanError(
    'BAD_USER_INPUT',
    'The value of `since` is not a cursor of changes; take it from `changesCursor` of a list or `cursor` of a message.',
  );
}

function cursorOf(parts: unknown): LiveCursor | null {
  if (!Array.isArray(parts) || parts.length < 3 || parts.length > 5) return null;
  const [tag, epoch, sequence, scope, kinds] = parts as readonly unknown[];
  if (tag !== 'live1' || typeof epoch !== 'string' || !isSequence(sequence)) return null;
  const hasScope = typeof scope === 'string';
  if (parts.length === 3) return { epoch, sequence };
  if (parts.length === 4) return hasScope ? { epoch, sequence, scope } : null;
  if (typeof kinds !== 'string' || !(hasScope || scope === null)) return null;
  return { epoch, sequence, ...(hasScope ? { scope } : {}), kinds };
}

function isSequence(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= nowhere;
}
