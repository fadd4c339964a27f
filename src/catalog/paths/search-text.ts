/**
 * What search looks at: an object's name, its labels as key=value, its images, and what stands at configured paths. A text of lines,
 * folded as ignoreCase folds; a search is terms that all occur in it. The same for SQL, for the evaluator and for the index.
 */
import { type Path, parsePath } from '../tree/path.ts';
import { foldCase } from '../values/values.ts';
import { scalarText, valueAt, valuesAt } from './value-at.ts';

const containers = ['spec', 'spec.template.spec', 'spec.jobTemplate.spec.template.spec'].flatMap((spec) => [
  `${spec}.containers[].image`,
  `${spec}.initContainers[].image`,
]);

/** The paths that are searched beside names and labels. @param configured paths in their written form, already checked. */
export function searchPaths(configured: readonly string[]): readonly Path[] {
  return [...new Set([...containers, ...configured])].map((text) => parsePath(text));
}

const name = parsePath('metadata.name');
const labels = parsePath('metadata.labels');

/** Searched paths as they are written down and compared: a JSON list. */
export function writtenPaths(paths: readonly Path[]): string {
  return JSON.stringify(paths.map(({ text }) => text));
}

/** The search text of an object: one line for its name, then one for each label and value. Lone surrogates count as U+FFFD. */
export function searchText(body: unknown, paths: readonly Path[]): string {
  const lines = [scalarText(valueAt(body, name)) ?? ''];
  const found = valueAt(body, labels);
  if (typeof found === 'object' && found !== null && !Array.isArray(found)) {
    for (const [key, value] of Object.entries(found)) if (typeof value === 'string') lines.push(`${key}=${value}`);
  }
  for (const path of paths) {
    for (const value of valuesAt(body, path)) {
      const text = scalarText(value);
      if (text !== null) lines.push(text);
    }
  }
  return foldCase(lines.join('\n')).toWellFormed();
}

/** More terms than anybody types. */
export const mostTerms = 10;

/** The terms of a search, folded, without repetitions. */
export function searchTerms(text: string): readonly string[] {
  return [
    ...new Set(
      foldCase(text)
        .toWellFormed()
        .split(/\s+/)
        .filter((term) => term !== ''),
    ),
  ];
}

/**
 * How well a name answers the terms, the lower the better: for each 0 when the name is the term, 1 when it begins with it, 2 when it
 * has it, 3 when the term is somewhere else. Follows from the object alone, so that a place in a ranked list stays where it is.
 */
export function searchRank(objectName: string, terms: readonly string[]): number {
  const folded = foldCase(objectName).toWellFormed();
  let rank = 0;
  for (const term of terms) rank += folded === term ? 0 : folded.startsWith(term) ? 1 : folded.includes(term) ? 2 : 3;
  return rank;
}

/** Runs of three characters by which the index finds a term; none for a shorter one. What has them all may still lack the term. */
export function trigrams(term: string): readonly string[] {
  const points = [...term];
  const found = new Set<string>();
  for (let at = 0; at + 3 <= points.length; at++) found.add(points.slice(at, at + 3).join(''));
  return [...found];
}
