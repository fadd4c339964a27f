/** Finds the names of --kinds that no cluster serves. */
import type { ClusterProgress, UnmatchedNames } from './progress.ts';
import type { UnmatchedName } from './selection.ts';

/**
 * The names that none of the discovered clusters serves. `certain` once every cluster has been discovered completely. Null while none has
 * been discovered.
 */
export function unmatchedEverywhere(clusters: readonly ClusterProgress[]): UnmatchedNames | null {
  const known = clusters.flatMap(({ unmatched }) => unmatched ?? []);
  const [first, ...others] = known;
  if (first === undefined) return null;
  const names = first.names.filter(({ name }) =>
    others.every((other) => other.names.some((each) => each.name === name)),
  );
  return { names, certain: known.length === clusters.length && known.every(({ certain }) => certain) };
}

/**
 * True for a name that is probably a mistake. A pattern may match later, and so may the full name of a custom resource whose definition
 * is not installed yet.
 */
export function isMistake({ name }: UnmatchedName): boolean {
  return !/[.*]/.test(name);
}

/** The mistakes as one sentence. */
export function mistakeMessage(mistakes: readonly UnmatchedName[]): string {
  const names = mistakes.map(({ name, similar }) =>
    similar === null ? JSON.stringify(name) : `${JSON.stringify(name)} (did you mean ${similar}?)`,
  );
  return `--kinds names ${names.join(', ')}, which no cluster serves; correct the name, or write plural.group for a definition that is installed later.`;
}
