/**
 * Validates Relay's page arguments: one direction and a bounded size. The rows are those between the cursors, and the page begins at one
 * end of them (Relay's EdgesToReturn):
 *
 *   after A, before B, first 2    [A] c d e [B]   ->   c d
 *   after A, before B, last 2     [A] c d e [B]   ->   d e
 *
 * `before` alone reads backward. Two cursors without `first` and `last` read forward.
 */
import { PortolanError } from '../../base/errors.ts';
import { decodeContent } from './cursor.ts';
import type { Page } from './plan.ts';

interface PageArguments {
  readonly first?: number | null;
  readonly after?: string | null;
  readonly last?: number | null;
  readonly before?: string | null;
  readonly offset?: number | null;
}

/** The most rows that a page may skip. A cursor skips any number at no cost. */
export const mostSkipped = 100_000;

/** Page size when the caller gives none. */
export const defaultPageSize = 50;

/**
 * The page that the arguments describe. `first: 0` is allowed: the page is empty, and `hasNextPage` says whether rows exist.
 * @param maximum the largest page size that a caller may request
 * @throws PortolanError BAD_USER_INPUT naming the argument, also for text that is not a cursor.
 */
export function checkPage(args: PageArguments, { maximum }: { readonly maximum: number }): Page {
  const first = args.first ?? null;
  const last = args.last ?? null;
  const after = args.after ?? null;
  const before = args.before ?? null;
  if (first !== null && last !== null) throw refuse('`first` and `last` cannot be combined; ask for one of them');
  const offset = args.offset ?? null;
  if (offset !== null) checkOffset(offset, { after, last, before });
  const backward = last !== null || (before !== null && first === null && after === null);
  const name = backward ? 'last' : 'first';
  const limit = (backward ? last : first) ?? Math.min(defaultPageSize, maximum);
  if (!Number.isInteger(limit) || limit < 0) throw refuse(`\`${name}\` is ${limit}; it must be 0 or more`);
  if (limit > maximum) throw refuse(`\`${name}\` is ${limit}; a page has at most ${maximum} objects`);
  // A selection without rows decodes no cursor.
  for (const cursor of [after, before]) if (cursor !== null) decodeContent(cursor);
  if (backward) return { direction: 'backward', limit, before, ...(after === null ? {} : { after }) };
  const bound = before === null ? {} : { before, isSized: first !== null };
  const forward = { direction: 'forward', limit, after, ...bound } as const;
  return offset === null || offset === 0 ? forward : { ...forward, offset };
}

function checkOffset(offset: number, others: Readonly<Record<'after' | 'last' | 'before', unknown>>): void {
  const other = Object.entries(others).find(([, value]) => value !== null)?.[0];
  if (other !== undefined)
    throw refuse(`\`offset\` and \`${other}\` cannot be combined; \`offset\` goes with \`first\``);
  if (offset < 0) throw refuse(`\`offset\` is ${offset}; it must be 0 or more`);
  if (offset > mostSkipped) {
    throw refuse(
      `\`offset\` is ${offset}; at most ${mostSkipped} rows can be skipped, and \`after\` goes on from any row`,
    );
  }
}

function refuse(why: string): PortolanError {
  return new PortolanError('BAD_USER_INPUT', `${why}.`);
}
