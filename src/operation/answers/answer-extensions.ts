/** `extensions.portolan` of answers. */
import type { Stale } from './staleness.ts';

/** Values that an operation asks for, may ask for and has read; `asked` is null before the question was weighed. */
interface Cost {
  readonly asked: number | null;
  readonly allowed: number;
  readonly spent: number;
}

/** A resource that is missing from an answer, because it is not synced yet. */
export interface Missing {
  readonly cluster: string;
  readonly key: string;
}

/** The missing parts of an answer. */
export interface Lacks {
  readonly missing: readonly Missing[];
  /** The resources that ingest cannot bring up to date now. */
  readonly stale: readonly Stale[];
}

/** The extensions of every answer. `revision` is null when nothing was read, and a list where several cells were. */
export function answerExtensions(
  generation: { readonly id: string },
  { asked, allowed, spent }: Cost,
  revision: number | readonly (number | null)[] | null,
  { missing, stale }: Lacks,
): Record<string, unknown> {
  return {
    generation: generation.id,
    ...(asked === null ? {} : { cost: { asked, allowed, spent } }),
    ...(revision === null ? {} : typeof revision === 'number' ? { revision } : { revisions: revision }),
    ...(missing.length === 0 ? {} : { notReady: missing }),
    ...(stale.length === 0
      ? {}
      : { stale: stale.map(({ cluster, key, since }) => ({ cluster, key, since: new Date(since).toISOString() })) }),
  };
}

/** The revision of an answer from one cell, in a list with a place for each; the revision itself of a gateway with one cell. */
export function shownRevision(
  cell: { readonly index: number; readonly count: number } | undefined,
  revision: number,
): number | readonly (number | null)[] {
  if (cell === undefined) return revision;
  return Array.from({ length: cell.count }, (_, index) => (index === cell.index ? revision : null));
}
