/**
 * Makes a repeated mutation harmless, at any replica and without a store: what a write leaves open is taken from the caller's requestId.
 *
 *   restart        the time in a UUID of version 7 (RFC 9562)             the second restart changes nothing
 *   generateName   a suffix from the id and the place of the manifest     the second create finds the first object
 *   delete, evict  need the uid of each object                            the second one finds another uid, or none
 *   rollback       needs a revision                                       the one before the newest is another one then
 *   revert         needs a version or a time that is not relative to now
 *   apply, scale, cordon, edit, merge patches write the same twice by themselves
 */
import { createHash } from 'node:crypto';
import { PortolanError } from '../../base/errors.ts';
import type { Preconditions, WriteAction } from './write-intent.ts';

const version7 = /^([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;
/** The characters of the API server's own suffixes: none that could form words. */
const alphabet = 'bcdfghjklmnpqrstvwxz2456789';
const suffixLength = 10;
const longest = 128;

/** @throws PortolanError BAD_USER_INPUT for an empty or very long id. */
export function checkRequestId(requestId: string): void {
  if (requestId.length > 0 && requestId.length <= longest) return;
  throw new PortolanError(
    'BAD_USER_INPUT',
    `\`requestId\` has 1 to ${longest} characters, such as a UUID of version 7.`,
  );
}

/**
 * The time in the id, in milliseconds since the epoch.
 * @throws PortolanError BAD_USER_INPUT if it has none.
 */
export function timeOfRequest(requestId: string): number {
  const found = version7.exec(requestId);
  if (found !== null) return Number.parseInt(`${found[1]}${found[2]}`, 16);
  throw new PortolanError(
    'BAD_USER_INPUT',
    'A restart with a `requestId` needs a UUID of version 7, whose time it writes, or a plan.',
  );
}

/** The name that a repeat makes again. @param prefix metadata.generateName */
export function nameOfRequest(requestId: string, prefix: string, place: string): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([requestId, prefix, place]))
    .digest();
  const suffix = [...digest.subarray(0, suffixLength)].map((byte) => alphabet[byte % alphabet.length]).join('');
  // As long as the API server makes it: 63 characters with the suffix.
  return `${prefix.slice(0, 63 - suffixLength)}${suffix}`;
}

/** @throws PortolanError BAD_USER_INPUT for a write that a repeat would do twice. */
export function requireRepeatable(
  action: WriteAction['verb'],
  objects: readonly Preconditions[],
  isPlanned: boolean,
): void {
  const removes = action === 'delete' || action === 'evict';
  if (removes && !isPlanned && objects.some(({ uid }) => uid === null)) {
    throw new PortolanError(
      'BAD_USER_INPUT',
      `${action} with a \`requestId\` needs the \`uid\` of each object, or a plan: a repeat would hit the next object of the name.`,
    );
  }
}

/** @throws PortolanError BAD_USER_INPUT for a patch that does more when it is repeated. */
export function requireRepeatablePatch(patch: unknown, resourceVersion: string | null): void {
  const grows = (operation: unknown): boolean => {
    const { op, path } = (operation ?? {}) as { op?: unknown; path?: unknown };
    return (
      op === 'copy' ||
      op === 'move' ||
      (op === 'add' && /\/(-|\d+)$/.test(String(path))) ||
      (op === 'remove' && /\/\d+$/.test(String(path)))
    );
  };
  if (!Array.isArray(patch) || resourceVersion !== null || !patch.some(grows)) return;
  throw new PortolanError(
    'BAD_USER_INPUT',
    'The patch adds to a list, moves or copies: with a `requestId` it needs the `resourceVersion` of the object.',
  );
}

/** @throws PortolanError BAD_USER_INPUT for an undo that would mean another state when it is repeated. */
export function requireRepeatableUndo(action: WriteAction, isPlanned: boolean): void {
  if (isPlanned) return;
  if (action.verb === 'rollback' && action.revision === null) {
    throw new PortolanError(
      'BAD_USER_INPUT',
      'rollback with a `requestId` needs a `revision`, or a plan: a repeat would go to another one.',
    );
  }
  if (action.verb === 'revert' && !action.isFixed) {
    throw new PortolanError(
      'BAD_USER_INPUT',
      'revert with a `requestId` needs a resourceVersion, a time that is not relative to now, or a plan.',
    );
  }
}
