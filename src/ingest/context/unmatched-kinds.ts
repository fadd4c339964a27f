/** Finds the names of --kinds that no cluster serves. */
import type { ClusterProgress, UnmatchedName } from './progress.ts';

/** The names that none of the clusters serves; null until every cluster has been discovered. */
export function unmatchedEverywhere(clusters: readonly ClusterProgress[]): readonly UnmatchedName[] | null {
  const [first, ...others] = clusters.map(({ unmatched }) => unmatched);
  if (first == null || others.includes(null)) return null;
  return first.filter(({ name }) => others.every((names) => names?.some((each) => each.name === name)));
}

/**
 * True for a name that is probably a mistake. A pattern may match later, and so may the full name of a custom resource whose definition
 * is not installed yet.
 */
export function isMistake({ name }: UnmatchedName): boolean {
  return !/[.*]/.test(name);
}

/** What the mistakes are, as one sentence. */
export function mistakeMessage(mistakes: readonly UnmatchedName[]): string {
  const names = mistakes.map(({ name, similar }) =>
    similar === null ? JSON.stringify(name) : `${JSON.stringify(name)} (did you mean ${similar}?)`,
  );
  return `--kinds names ${names.join(', ')}, which no cluster serves; correct the name, or write plural.group for a definition that is installed later.`;
}
