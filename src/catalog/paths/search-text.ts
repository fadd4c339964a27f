/**
 * The text that `search` matches. It has an object's name, namespace and images, its labels as key=value, and the values at configured
 * paths. The text has one value per line, folded as ignoreCase folds. A search matches if all its terms occur in the text. SQL, the
 * evaluator and the index use the same text.
 */
import { recordOr } from '../../base/json.ts';
import { type Path, parsePath } from '../tree/path.ts';
import { foldCase, scalarText } from '../values/values.ts';
import { valueAt, valuesAt } from './value-at.ts';

const containers = ['spec', 'spec.template.spec', 'spec.jobTemplate.spec.template.spec'].flatMap((spec) => [
  `${spec}.containers[].image`,
  `${spec}.initContainers[].image`,
]);

/** The searched paths besides names and labels. The first is the namespace. @param configured path texts, already checked. */
export function searchPaths(configured: readonly string[]): readonly Path[] {
  return [...new Set(['metadata.namespace', ...containers, ...configured])].map((text) => parsePath(text));
}

const name = parsePath('metadata.name');
const labels = parsePath('metadata.labels');

/** Searched paths as they are stored and compared: a JSON list. */
export function writtenPaths(paths: readonly Path[]): string {
  return JSON.stringify(paths.map(({ text }) => text));
}

/** The search text of an object: one line for its name, then one for each label and value. Lone surrogates count as U+FFFD. */
export function searchText(body: unknown, paths: readonly Path[]): string {
  const lines = [scalarText(valueAt(body, name)) ?? ''];
  for (const [key, value] of Object.entries(recordOr(valueAt(body, labels)))) {
    if (typeof value === 'string') lines.push(`${key}=${value}`);
  }
  for (const path of paths) {
    for (const value of valuesAt(body, path)) {
      const text = scalarText(value);
      if (text !== null) lines.push(text);
    }
  }
  return foldCase(lines.join('\n')).toWellFormed();
}

/** Maximum number of terms; callers' searches are untrusted input. */
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
 * The trigrams by which the index finds a term; none for a term under three characters. A text with all trigrams may still lack
 * the term.
 */
export function trigrams(term: string): readonly string[] {
  const points = [...term];
  const found = new Set<string>();
  for (let at = 0; at + 3 <= points.length; at++) found.add(points.slice(at, at + 3).join(''));
  return [...found];
}
